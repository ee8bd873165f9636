"""Which rule serves a persistent collective: its own, or where it has none that of the nonblocking form."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.profile.interception import Toolchain, compiled, run, toolchain

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
SOURCE = Path(__file__).parent / "programs" / "persistent_chosen.c"
STARTS = 2 * 3
"""Of each of four message sizes: 4 B, 256 B, 16 KiB and 1 MiB; in place and not, on MPI_COMM_WORLD and a copy of it."""
_ROW = re.compile(r"^unisono: +(\w+) +(?:any|[\d.]+) +(\S+) +(\d+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def tools() -> Toolchain:
    return toolchain("openmpi5")


@pytest.fixture(scope="module")
def program(tools: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tools, tmp_path_factory.mktemp("rules"), str(SOURCE))


def served(tools: Toolchain, program: Path, folder: Path, *rules: str, **more: str) -> dict[str, dict[str, int]]:
    """Collective -> implementation -> calls of rank 0, as the library lists them."""
    file = folder / "rules"
    file.write_text("\n".join(("unisono-rules 1", *rules, "")))
    env = {"UNISONO_RULES": str(file), "UNISONO_VERBOSE": "1", **more}
    ran = run(tools, folder, program, ranks=2, env=env, record=False)
    assert (ran.status, ran.out.splitlines()[-1:]) == (0, ["right"]), ran.out + ran.error
    found: dict[str, Counter[str]] = {}
    for collective, word, calls in _ROW.findall(ran.error):
        found.setdefault(collective, Counter())[word] += int(calls)
    return {collective: dict(words) for collective, words in found.items()}


def test_its_own_rule_goes_before_that_of_the_nonblocking_form(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    rules = (
        "bcast_init * * 0 max mpi",
        "ibcast 1 2 0 max unisono/posted",
        "allgather_init * * 0 100 unisono/posted",
        "iallgather * * 0 max mpi",
        "allreduce_init * * 101 max mpi",
        "iallreduce * * 0 max unisono/posted",
        "scan_init * * 0 max unisono/posted",
    )
    found = served(tools, program, tmp_path, *rules)
    assert found["bcast_init"] == {"mpi": 4 * STARTS}, "however exactly the other names the place"
    assert found["allgather_init"] == {"unisono/posted": STARTS, "mpi": 3 * STARTS}, "by message size"
    ours = found["allreduce_init"]
    assert ours["unisono/posted"] == STARTS, "sizes of which no rule of its own speaks"
    assert found["scan_init"] == {"unisono/posted": 3 * STARTS, "mpi": STARTS}, "without the other"
    assert found["iallreduce"] == {"unisono/posted": 1} or found["iallreduce"] == {"mpi": 1}
    assert not {"ibcast", "iallgather", "iscan"} & set(found), "starts are listed by the name of what was made"


def test_what_is_forced_goes_before_rules_of_either_form(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    rules = ("bcast_init * * 0 max unisono/posted", "iallgather * * 0 max unisono/posted")
    force = "ibcast=mpi,iallgather=unisono/posted,allgather_init=mpi"
    found = served(tools, program, tmp_path, *rules, UNISONO_FORCE=force)
    assert found["bcast_init"] == {"mpi": 4 * STARTS}
    assert found["allgather_init"] == {"mpi": 4 * STARTS}


def test_the_mpis_own_algorithms_over_several_nodes(tools: Toolchain, program: Path, tmp_path: Path) -> None:
    """Of bcast each form has another one; ireduce's rule serves the persistent form, too."""
    rules = (
        "bcast_init * * 0 1000 libnbc/chain",
        "ibcast * * 0 max libnbc/linear",
        "ireduce * * 0 max libnbc/chain",
        "scan_init * * 0 max libnbc/recursive_doubling",
        "allgather_init * * 0 max mpi",
        "iallgather * * 0 max libnbc/recursive_doubling",
    )
    found = served(tools, program, tmp_path, *rules, UNISONO_FAKE_NODES="2")
    assert found["bcast_init"] == {"libnbc/chain": 2 * STARTS, "libnbc/linear": 2 * STARTS}
    assert found["reduce_init"] == {"libnbc/chain": 4 * STARTS, "mpi": 3}, "one whose order matters"
    assert found["scan_init"] == {"libnbc/recursive_doubling": 4 * STARTS}
    assert found["allgather_init"] == {"mpi": 4 * STARTS}
