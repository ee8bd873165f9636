"""Random calls give what the MPI library underneath gives, whichever of our algorithms serves them.

UNISONO_CASES in the environment: how many (`make nightly`), instead of a few hundred for each MPI and shape. How many
of each kind were drawn is printed at the end.

Most runs force an algorithm before each call. The others (`unforced`) force nothing: rules, or costs, say what serves,
and what served the call before is remembered.

Whether they find what they are for was tried with faults planted by hand into a copy of the library, each of which an
ordinary run found: of several nonblocking or persistent collectives under way at once, that they share a number, a line
or a place of shared memory, a room for what is received, or how far they are, that one's end ends another, and that
a rank that is ahead overwrites what others have not read; of datatypes, that those with gaps or out of order are taken
for dense, when sent and when received, and those whose extent is their size although they have gaps; an
ialltoallv left by ranks that have nothing in it; memory seen from MPI_BOTTOM; communicators between groups taken for
others. Not found: that long blocks of two communicators go in messages of one tag, as all ranks begin calls in one
order here."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.collectives.drawn_rules import drawn_rules, takes_misaligned
from tests.launch.launched import launched
from tests.profile.interception import Toolchain, toolchain
from tests.tally import Tally
from unisono.library.native import native_source

pytestmark = pytest.mark.mpi

CASES = int(os.environ.get("UNISONO_CASES", "0"))
SEED = os.environ.get("UNISONO_SEED", "1")
TOOL = Path(__file__).parent / "programs" / "tool.c"
_FEW = 300
"""Cases among which there may be no MPI_Allreduce: a night may be made that short."""


_ALWAYS = ("layouts of several counts", "while another was under way", "in place on some ranks")
"""What so many cases with nothing forced have of every kind."""
_EVERYWHERE = ("sides seen from MPI_BOTTOM", "between two groups")
"""What so many cases of every run have."""


@dataclass(frozen=True)
class Run:
    """One kind of launch."""

    mpi: str
    ranks: int
    nodes: str
    """Pretended ones, UNISONO_FAKE_NODES."""
    usual: int
    """Cases in an ordinary run; 0: of a night alone."""
    share: int
    """Of a night's cases, in thousandths."""
    threads: int = 1
    tool: str = ""
    """A PMPI tool preloaded "before" or "after" ours."""
    cells: str = ""
    """How pieces go through shared memory, UNISONO_CELLS; measured unless given."""
    unforced: str = ""
    """What says who serves: "rules", drawn from the seed, "costs", or "both". Communicators are served from their third
    call on."""

    @property
    def name(self) -> str:
        words = [self.mpi, str(self.ranks), self.nodes.replace(",", "_")]
        words += [f"threads{self.threads}"] * (self.threads > 1) + [f"tool-{self.tool}"] * bool(self.tool)
        words += [f"cells-{self.cells}"] * bool(self.cells) + [f"by-{self.unforced}"] * bool(self.unforced)
        return "-".join(words)


RUNS = [
    Run("openmpi5", 2, "", 1100, 300),
    Run("openmpi5", 3, "", 1200, 150),
    Run("openmpi5", 4, "2", 800, 100),
    Run("openmpi5", 4, "2,1", 400, 50),
    Run("openmpi5", 4, "%2", 400, 50),
    Run("openmpi5", 2, "", 300, 60, cells="late"),
    Run("openmpi5", 4, "2", 200, 30, cells="past"),
    Run("openmpi5", 2, "", 300, 60, cells="traded"),
    Run("openmpi5", 2, "", 300, 60, cells="owned"),
    Run("openmpi5", 4, "2", 300, 30, cells="fetched"),
    Run("openmpi5", 2, "", 0, 30, threads=3, cells="traded"),
    Run("openmpi4", 3, "", 0, 30, cells="late"),
    Run("openmpi4", 2, "", 0, 30, cells="fetched"),
    Run("mpich", 3, "", 0, 30, cells="owned"),
    Run("mpich", 2, "", 100, 30, cells="traded"),
    Run("mpich", 3, "", 0, 20, cells="past"),
    Run("openmpi5", 8, "3", 0, 10),
    Run("openmpi5", 6, "%3", 0, 10),
    Run("openmpi5", 7, "1", 0, 10),
    Run("openmpi5", 2, "", 400, 50, tool="before"),
    Run("openmpi5", 3, "", 0, 30, tool="after"),
    Run("openmpi4", 2, "", 300, 60, threads=3),
    Run("openmpi5", 2, "", 0, 60, threads=4),
    Run("mpich", 2, "", 600, 60),
    Run("mpich", 4, "2", 60, 5),
    Run("mpich", 2, "", 0, 10, tool="after"),
    Run("mpich", 2, "", 0, 10, threads=2),
    Run("mpich5", 2, "", 0, 30),
    Run("openmpi4", 3, "", 600, 15),
    Run("openmpi5", 2, "", 600, 60, unforced="rules"),
    Run("openmpi5", 3, "", 300, 60, unforced="rules"),
    Run("openmpi5", 4, "2", 200, 30, unforced="both"),
    Run("openmpi5", 2, "", 0, 30, unforced="costs"),
    Run("openmpi5", 2, "", 0, 30, unforced="both", cells="traded"),
    Run("openmpi5", 8, "3", 0, 5, unforced="both"),
    Run("openmpi5", 4, "2,1", 0, 20, unforced="rules"),
    Run("openmpi4", 4, "2", 0, 10, unforced="both"),
    Run("mpich5", 3, "", 0, 10, unforced="both"),
    Run("openmpi5", 2, "", 200, 30, threads=3, unforced="rules"),
    Run("openmpi4", 2, "", 0, 30, threads=3, unforced="rules"),
    Run("openmpi4", 2, "", 300, 30, unforced="rules"),
    Run("openmpi4", 3, "", 0, 15, unforced="both"),
    Run("mpich", 2, "", 300, 30, unforced="rules"),
    Run("mpich", 2, "", 0, 30, threads=3, unforced="rules"),
    Run("mpich5", 2, "", 0, 30, unforced="rules"),
]
"""MPICH's ranks do not give a CPU away, so more of them than CPUs are slow, and beside others they use up a minute."""


def _marks(run: Run) -> list[pytest.MarkDecorator]:
    return [] if run.mpi.startswith("mpich") else [pytest.mark.beside]


GROUPS = "SwitchName=a Nodes=%[0,2,5]\nSwitchName=b Nodes=%[1,6]\nSwitchName=c Nodes=%[3-4]\n"
"""Which of the pretended nodes are near one another: not in order."""

DOMAINS = "3,1/2,1"
"""Pretended domains of every node (UNISONO_FAKE_NUMA): three ranks on a node have one level of them, four have two."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where programs are compiled to, once for each MPI."""
    return tmp_path_factory.mktemp("differential")


def _compiled(tools: Toolchain, to: Path, sources: list[str], *options: str) -> Path:
    if not to.exists():
        argv = [tools.mpicc, "-std=gnu11", "-O1", "-g", "-pthread", "-o", str(to), *options, *sources, "-ldl"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
    return to


def _preload(run: Run, tools: Toolchain, folder: Path) -> str:
    if not run.tool:
        return str(tools.library)
    tool = _compiled(tools, folder / f"libtool-{run.mpi}.so", [str(TOOL)], "-shared", "-fPIC")
    return ":".join([str(tool), str(tools.library)] if run.tool == "before" else [str(tools.library), str(tool)])


def _unforced(run: Run, folder: Path) -> dict[str, str]:
    """What says who serves, where the program does not."""
    if not run.unforced:
        return {}
    variables = {"UNISONO_PATIENCE": "0"}
    if run.unforced != "costs":
        rules = drawn_rules(int(SEED), run.mpi)
        (folder / "rules").write_text(rules)
        variables["UNISONO_RULES"] = str(folder / "rules")
        variables |= {"DIFFERENTIAL_MISALIGNED": "1"} if takes_misaligned(rules) else {}
    return variables | ({"UNISONO_COLLECTIVES": "on"} if run.unforced != "rules" else {})


@pytest.mark.timeout(300 + CASES)
@pytest.mark.parametrize(
    "run", [pytest.param(run, marks=_marks(run), id=run.name) for run in RUNS if CASES or run.usual]
)
def test_same_memory_as_the_library_underneath(run: Run, folder: Path, tmp_path: Path, tally: Tally) -> None:
    tools = toolchain(run.mpi)
    cases = -(-CASES * run.share // sum(run.share for run in RUNS)) if CASES else run.usual
    variables = {"LD_PRELOAD": _preload(run, tools, folder), "UNISONO_FAKE_NUMA": DOMAINS}
    variables |= {"UNISONO_FAKE_NODES": run.nodes} if run.nodes else {}
    variables |= {"UNISONO_CELLS": run.cells} if run.cells else {}
    variables |= _unforced(run, tmp_path)
    if run.nodes == "2":  # two nodes, which are a ring: so those for tori are tried too
        (tmp_path / "torus").write_text("grid 2 torus\n")
        variables["UNISONO_TOPOLOGY"] = str(tmp_path / "torus")
    if run.nodes in ("1", "2,1"):
        (tmp_path / "groups").write_text(GROUPS)
        variables["UNISONO_TOPOLOGY"] = str(tmp_path / "groups")
    sources = sorted(map(str, (native_source() / "tests" / "differential").glob("*.c")))
    program = _compiled(tools, folder / run.mpi, sources)
    argv = [*tools.launch(run.ranks, variables), str(program), SEED, "0", str(cases)]
    argv += ["unforced"] if run.unforced else []
    argv += [f"threads:{run.threads}"] if run.threads > 1 else []
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = launched(argv, cwd=tmp_path, env={**os.environ, **root}, timeout=90 + cases / 5)
    if done.returncode == 77:
        pytest.skip("this MPI was built without MPI_THREAD_MULTIPLE")
    said = done.stdout[-3000:] + done.stderr[-3000:]
    assert re.search(rf"^{cases} cases on {run.ranks} ranks, 0 wrong$", done.stdout, re.MULTILINE), said
    assert done.returncode == 0, said
    drawn = re.search(r"^drawn: (.+)$", done.stdout, re.MULTILINE)
    assert drawn is not None, said
    counts = {what: int(count) for count, what in re.findall(r"(\d+) ([^,]+)", drawn[1])}
    tally("random calls", **counts)
    tally("random calls", **{f"on {run.ranks} ranks": counts["calls"]})
    tally("random calls", **{"over several nodes": counts["calls"] if run.nodes else 0})
    assert cases < _FEW or all(counts[what] > 0 for what in _EVERYWHERE), said
    if not run.unforced and not run.nodes and run.threads == 1:
        assert cases < _FEW or counts["of ours started while another of ours was under way"] > cases / 10, said
    if run.unforced:
        tally("random calls", **{"with nothing forced": counts["calls"]})
        assert cases < _FEW or counts["like the one before"] > cases / 4, said
        assert cases < _FEW or all(counts[what] > 0 for what in _ALWAYS), said
        assert cases < _FEW or run.unforced == "costs" or run.threads > 1 or counts["by an algorithm of ours"] > 0, said
    if run.tool:
        saw = re.search(r"^tool: allreduce (\d+)$", done.stdout, re.MULTILINE)
        assert saw is not None, said
        assert int(saw[1]) > 0 or cases < _FEW, said
        tally("random calls", **{f"with a PMPI tool {run.tool}": counts["calls"]})
