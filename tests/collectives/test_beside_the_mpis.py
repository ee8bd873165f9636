"""Ours beside what the MPI library has under way, on communicators that overlap, with types it made by large counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.collectives.everything import FORCED
from tests.profile.interception import Toolchain, compiled, run, toolchain
from unisono.machine.host import read_memory

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
MPIS = ["openmpi5", "openmpi4", "mpich", pytest.param("mpich5", marks=pytest.mark.nightly)]
PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="module", params=MPIS)
def tools(request: pytest.FixtureRequest) -> Toolchain:
    return toolchain(request.param)


def test_what_was_made_for_some_ranks_serves_no_others(tools: Toolchain, tmp_path: Path) -> None:
    if tools.name == "openmpi4":
        pytest.skip("this MPI has no persistent collectives")
    program = compiled(tools, tmp_path, str(PROGRAMS / "groups.c"))
    done = run(tools, tmp_path, program, ranks=4, env=FORCED)
    assert done.status == 0 and "right" in done.out.split(), done.out + done.error


@pytest.mark.parametrize(("part", "ranks"), [("kept", 2), ("copied", 2), ("ahead", 3)])
def test_messages_under_way_go_on_while_a_rank_waits(tools: Toolchain, part: str, ranks: int, tmp_path: Path) -> None:
    if tools.name == "openmpi4":
        pytest.skip("this MPI has no persistent collectives")
    program = compiled(tools, tmp_path, str(PROGRAMS / "moves.c"))
    done = run(tools, tmp_path, program, part, ranks=ranks, env=FORCED)
    assert done.status == 0 and "ended" in done.out.split(), done.out + done.error


def test_a_part_made_with_large_counts_and_a_buffered_send_at_the_end(tools: Toolchain, tmp_path: Path) -> None:
    if tools.name.startswith("openmpi"):
        pytest.skip("this MPI has no large counts")
    program = compiled(tools, tmp_path, str(PROGRAMS / "large_part.c"))
    done = run(tools, tmp_path, program, ranks=2, env=FORCED)
    assert done.status == 0 and done.out.split() == ["right"], done.out + done.error


@pytest.mark.nightly
@pytest.mark.parametrize("collective", ["alltoallw", "gatherv", "scatterv"])
def test_an_element_longer_than_an_int_can_count(tools: Toolchain, collective: str, tmp_path: Path) -> None:
    if read_memory(Path("/"))[1] < 12 << 30:
        pytest.skip("12 GiB of memory are not free")
    program = compiled(tools, tmp_path, str(PROGRAMS / "long_element.c"))
    done = run(tools, tmp_path, program, collective, ranks=2, env=FORCED)
    assert done.status == 0 and done.out.split() == ["right"], done.out + done.error
