"""A study that is continued elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.study.machines import machine
from tests.study.test_merge import measured
from unisono.machine.description import Node
from unisono.study.begin import resume


@pytest.mark.parametrize(
    ("hosts", "said"),
    [(["n1", "n0"], []), (["n0", "n1", "n9"], []), (["n0", "n7"], ["n0, n7; begun on n0, n1"])],
    ids=["the same", "one more", "another"],
)
def test_other_nodes_are_never_pooled_in_silence(tmp_path: Path, hosts: list[str], said: list[str]) -> None:
    path = measured(tmp_path / "two", 2)
    here = machine().model_copy(update={"nodes": [Node(host=host, slots=2) for host in hosts]})
    with resume(path, here, asked=None, force=False) as store:
        notes = [note for note in store.notes() if note.startswith("The study was continued on other nodes")]
    assert len(notes) == len(said)
    assert all(words in note for words, note in zip(said, notes, strict=True))
