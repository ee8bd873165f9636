"""UNISONO_REPRODUCIBLE: the same bits wherever ranks are, whoever serves, and from however many ranks numbers come."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.profile.interception import Toolchain, compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAM = Path(__file__).parent / "programs" / "sums.c"
EXACT = ("double", "float", "complex")


@pytest.fixture(scope="module")
def tools() -> Toolchain:
    return toolchain("openmpi4")


@pytest.fixture(scope="module")
def program(tools: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tools, tmp_path_factory.mktemp("sums"), str(PROGRAM))


def _run(
    tools: Toolchain, program: Path, ranks: int, *words: str, level: str, **env: str
) -> tuple[dict[str, str], str]:
    """What each reduce and allreduce gave, by its type and number of elements; standard error. It ends with status 0:
    with "fold" all of them, and every rank's block of a reduce_scatter, are what the program works out by itself."""
    variables = {"UNISONO_REPRODUCIBLE": level, "UNISONO_PATIENCE": "0", **env}
    done = run(tools, program.parent, program, *words, ranks=ranks, env=variables, record=False)
    assert done.status == 0, done.error
    lines = [line.split() for line in done.out.splitlines()]
    return {f"{line[0]} {line[1]}": " ".join(line[2:6]) for line in lines}, done.error


@pytest.mark.parametrize("mpi", ["openmpi4", pytest.param("mpich", marks=pytest.mark.nightly)])
def test_elements_are_combined_in_order_of_the_ranks(mpi: str, tmp_path: Path) -> None:
    """One node, several nodes, ranks dealt to nodes in turn, the MPI's gathers: always ((a0 op a1) op a2) op ..."""
    tools = toolchain(mpi)
    program = compiled(tools, tmp_path, str(PROGRAM))
    elsewhere: list[dict[str, str]] = [{"UNISONO_FAKE_NODES": "%2"}, {"UNISONO_SHARED_MEMORY": "0"}]
    if mpi == "openmpi4":
        elsewhere += [{}, {"UNISONO_FAKE_NODES": "2,1"}]
        elsewhere += [{"UNISONO_FORCE": "allreduce=unisono/slices,reduce=unisono/slices"}]
        elsewhere += [{"UNISONO_FORCE": "allreduce=unisono/flat_doubling,reduce=mpi"}]  # neither keeps the order
    made = [_run(tools, program, 4, "fold", level="placement", **where)[0] for where in elsewhere]
    assert len(made[0]) == 24
    assert all(one == made[0] for one in made)


def test_sums_depend_on_the_numbers_alone(tools: Toolchain, program: Path) -> None:
    """Four numbers from four ranks, from these the other way round, and from six ranks, two of which have zeros."""
    four, _ = _run(tools, program, 4, level="ranks")
    turned, _ = _run(tools, program, 4, "reversed", level="ranks", UNISONO_FAKE_NODES="%2")
    six, _ = _run(tools, program, 6, "4", level="ranks", UNISONO_FAKE_NODES="4,2")
    sums = [name for name in four if name.split()[0] in EXACT]
    assert len(sums) == 9
    for name in sums:
        assert four[name] == turned[name] == six[name], name
    folded, _ = _run(tools, program, 4, "fold", level="placement")
    assert any(folded[name] != four[name] for name in sums)


def test_without_it_the_order_is_anyones(tools: Toolchain, program: Path) -> None:
    """Else the tests above would show nothing: by halving and doubling the same numbers have other sums."""
    variables = {"UNISONO_FORCE": "allreduce=unisono/flat_halving", "UNISONO_FAKE_NODES": "1"}
    folded, _ = _run(tools, program, 4, "fold", level="placement")
    other, _ = _run(tools, program, 4, level="runs", **variables)
    assert any(folded[name] != other[name] for name in folded if name.startswith("double"))


def test_what_serves_a_run_depends_on_no_measurement_at_its_start(tools: Toolchain, tmp_path: Path) -> None:
    """Neither on how long it takes to read another process's memory, nor on who else would run just then."""
    program = compiled(tools, tmp_path, str(PROGRAM.with_name("sizes.c")))
    source = str(PROGRAM.with_name("other_day.c"))
    other = compiled(tools, tmp_path, source, "-shared", "-fPIC", name="other_day.so", after=["-ldl"])
    env = {"UNISONO_COLLECTIVES": "on", "UNISONO_VERBOSE": "1", "LD_PRELOAD": f"{tools.library}:{other}"}

    def served(**day: str) -> list[str]:
        ran = run(tools, tmp_path, program, ranks=4, env=env | {"UNISONO_REPRODUCIBLE": "runs"} | day, record=False)
        assert (ran.status, ran.out.count("right")) == (0, 4), ran.out + ran.error
        return re.findall(r"unisono: +(allreduce +\S+ +unisono/\S+ +\d+)$", ran.error, re.MULTILINE)

    first = served(OTHER_DAY_RUNNING="999")
    assert first
    assert served(OTHER_DAY_RUNNING="999", OTHER_DAY_QUICK="1") == first
    assert served(OTHER_DAY_RUNNING="1") == first


def test_a_word_that_is_none(tools: Toolchain, program: Path) -> None:
    _, said = _run(tools, program, 2, level="always")
    assert said.count("UNISONO_REPRODUCIBLE: it is runs, placement or ranks") == 1
