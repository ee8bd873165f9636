"""A study that is continued elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.study.machines import machine
from tests.study.test_merge import measured
from unisono.cli import main
from unisono.commands import tune
from unisono.machine.description import Machine, Node
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


def test_another_machine_is_refused_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = measured(tmp_path / "two", 2).parent
    other = machine(version="4.1.6")

    def build(machine: Machine) -> Path:
        raise AssertionError(f"a benchmark was built for {machine.name}")

    monkeypatch.setattr(tune, "_machine", lambda wishes, continued: other)
    monkeypatch.setattr(tune, "_program", build)
    with pytest.raises(SystemExit) as ended:
        main(["tune", "--resume", "-o", str(folder)])
    said = " ".join(capsys.readouterr().err.split())
    assert ended.value.code == 2 and "differs: " in said and "4.1.6 here. A study never mixes machines" in said, said
