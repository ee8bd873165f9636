"""What a rank starts is no rank: it does not load the library, and nothing else changes for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.profile.interception import compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]


@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
@pytest.mark.parametrize("separator", [":", " "], ids=["colon", "space"])
def test_a_child_has_what_else_is_preloaded_and_not_the_library(name: str, separator: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, "children.c")
    others = [tmp_path / "first.so", tmp_path / "second.so"]
    for other in others:
        subprocess.run(["cc", "-shared", "-o", other, "-x", "c", "/dev/null"], check=True, timeout=60)
    elsewhere = tmp_path / "linked.so"
    elsewhere.symlink_to(tools.library)
    for ours in (tools.library, elsewhere):
        preloaded = separator.join(map(str, [others[0], ours, others[1]]))
        # By itself: a launcher may take a space for the end of a word.
        ran = run(tools, tmp_path, program, str(tools.library), *map(str, others), ranks=0, record=False,
                  env={"LD_PRELOAD": preloaded})  # fmt: skip
        assert ran.status == 0, ran.error
        assert ran.out.split() == ["10", "11", "11", f"{others[0]}:{others[1]}"]


def test_a_shell_that_starts_the_rank_hands_the_library_on(tmp_path: Path) -> None:
    tools = toolchain("openmpi4")
    program = compiled(tools, tmp_path, "children.c")
    script = tmp_path / "script"
    script.write_text(f'#!/bin/sh\n"{program}" "$@"\n')
    script.chmod(0o755)
    ran = run(tools, tmp_path, script, str(tools.library), ranks=1, record=False)
    assert (ran.status, ran.out.split()) == (0, ["10"]), ran.error
