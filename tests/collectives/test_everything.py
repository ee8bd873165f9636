"""Ours are forced where tests say so, and what they served is counted from the library's own list."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.collectives.everything import FORCED, FORCED_ON_NODES, ours
from tests.profile.interception import compiled, run, toolchain
from unisono.core.vocabulary import DISPATCHED, PERSISTENT, WITH_REQUEST

PROGRAM = Path(__file__).parent / "programs" / "own_process.c"
SAID = """\
unisono: collectives of rank 0: which implementation served its calls of which message size (bytes)
unisono:   collective  size                      implementation                       calls
unisono:   allreduce   8                         unisono/cells                           12
unisono:   allreduce   64..4096                  mpi                                      7
unisono:   allreduce   9000                      unisono/cells                            3
unisono:   barrier     any                       unisono/flags                            4
unisono:   reduce_scatter_block  8..16                     unisono/leader                           5
unisono:   iscan       8                         libnbc/linear                            6
unisono:   scan        8                         tuned/linear                             6
"""


def test_calls_are_counted_over_all_rows() -> None:
    assert ours(SAID) == {"allreduce": 15, "barrier": 4, "reduce_scatter_block": 5}


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize(
    "name", ["openmpi4", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("openmpi5", "mpich", "mpich5"))]
)
@pytest.mark.parametrize(
    ("forced", "claimed"),
    [
        (FORCED, set(DISPATCHED)),
        (FORCED_ON_NODES | {"UNISONO_FAKE_NODES": "2,1"}, set(DISPATCHED) - set(WITH_REQUEST)),
    ],
    ids=["one node", "several"],
)
def test_all_are_ours(name: str, forced: dict[str, str], claimed: set[str], tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, str(PROGRAM))
    ran = run(tools, tmp_path, program, "children", ranks=4, env=forced | {"UNISONO_VERBOSE": "1"}, record=False)
    assert (ran.status, ran.out.split()[-1:]) == (0, ["right"]), ran.out + ran.error
    if name in ("openmpi4", "mpich"):
        claimed = claimed - set(PERSISTENT)  # which the program does not call with these
    assert set(ours(ran.error)) >= claimed, ran.error
