"""Intel MPI's file of presets: written, read back as Intel MPI reads it, and read by the real one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tuning.samples import plan, rule, tuning
from unisono.core.by_size import SIZED
from unisono.core.errors import UserError
from unisono.core.vocabulary import INTEL
from unisono.export.check import check
from unisono.export.files import export
from unisono.export.preset_file import NAME, OWN, Presets, Tree, compile_presets, leaves, numbered, read
from unisono.inventory.describe import describe
from unisono.machine.description import Machine, Mpi
from unisono.mpi import intel
from unisono.tuning.plans import Plan

ALGORITHMS = {name: {str(n): n for n in range(most + 1)} for name, most in intel.PRESETS.items()}
MPI = Mpi(family="intel", version="2021.18.1", mpirun="mpiexec", algorithms=ALGORITHMS)
EDGES = [0, 8, 512, 4096, 1 << 20]


def preset(number: int | str) -> dict[str, str]:
    return {"coll": INTEL, "algorithm": str(number)}


def compiled(*plans: Plan) -> Presets:
    found = compile_presets(plans, MPI)
    assert not found.tree or read(found.text, "here") == found.tree
    return found


def preset_at(tree: Tree, collective: str, ppn: int, ranks: int, size: int) -> str | None:
    """Which preset serves a call, as Intel MPI reads the file; None: it says nothing of it. `size` as IMB counts."""
    node: Tree = tree.get(f"coll={collective.capitalize()}", {})
    for value in (ppn, ranks, -1, size):
        below = next((below for key, below in node.items() if holds(key, value)), None)
        if below is None:
            return None
        node = below
    return next(iter(node)).partition("=")[2]


def holds(key: str, value: int) -> bool:
    level, _equals, text = key.partition("=")
    wanted = int(text)
    return wanted == -1 or (value <= wanted if level == "msg_size" else value == wanted)


@given(st.sampled_from(sorted(SIZED[INTEL])), st.lists(st.integers(0, 5), min_size=5, max_size=5), st.integers(1, 4))
def test_a_size_gets_the_preset_that_its_rule_names(collective: str, numbers: list[int], ppn: int) -> None:
    ends = [edge - 1 for edge in EDGES[1:]] + [None]
    rules = [rule(collective, a, b, preset(n)) for a, b, n in zip(EDGES, ends, numbers, strict=True)]
    tree = compiled(plan(2, ppn, gain={collective: 1.5}, rules=tuple(rules))).tree
    for edge, number in zip(EDGES, numbers, strict=True):
        assert preset_at(tree, collective, ppn, 2 * ppn, edge) == str(number)
        assert preset_at(tree, collective, ppn, 2 * ppn, 2 * edge - 1 if edge else 7) == str(number)
    for other in ((ppn, 2 * ppn + 1), (ppn + 1, 2 * ppn)):
        assert preset_at(tree, collective, *other, 8) == OWN
    assert preset_at(tree, "alltoallv", ppn, 2 * ppn, 8) is None


def test_what_ours_serve_needs_no_preset_and_what_nothing_serves_gets_what_is_built_in() -> None:
    ours = {"coll": "unisono", "algorithm": "cells"}
    rules = (rule("bcast", 0, 511, ours), rule("bcast", 512, 4095, preset(3)), rule("bcast", 8192, None, preset(2)))
    found = compiled(plan(1, 4, {"preload": "unisono"}, {"bcast": 1.5}, rules))
    assert [preset_at(found.tree, "bcast", 4, 4, size) for size in (8, 4095, 4096, 8191, 8192)] == list("33002")
    assert any("sizes without a preset" in note for note in found.notes)


def test_a_collective_whose_ranks_may_see_different_sizes_has_one_preset() -> None:
    both = (rule("alltoallv", 0, 511, preset(1)), rule("alltoallv", 512, None, preset(2)))
    found = compiled(plan(1, 4, gain={"alltoallv": 1.5}, rules=both))
    assert not found.tree and "different sizes" in found.notes[0]
    whole = compiled(plan(1, 4, gain={"alltoallv": 1.5}, rules=(rule("alltoallv", 0, None, preset(2)),)))
    assert preset_at(whole.tree, "alltoallv", 4, 4, 12345) == "2"


def test_a_preset_that_this_version_does_not_have_is_left_out() -> None:
    found = compiled(plan(1, 4, gain={"bcast": 1.5}, rules=(rule("bcast", 0, None, preset(99)),)))
    assert preset_at(found.tree, "bcast", 4, 4, 8) == OWN
    assert any("has no such preset" in note for note in found.notes)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"coll=Bcast": {}}',
        '{"ppn=2": {}}',
        '{"coll=Bcast": {"ppn=x y": {}}}',
        '{"coll=Nothing": {"ppn=2": {}}}',
        "{" * 9000,
    ],
)
def test_what_is_no_such_file_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="here"):
        read(text, "here")


def test_a_copy_has_a_number_of_its_own_for_each_preset() -> None:
    tree = compiled(plan(1, 4, gain={"bcast": 1.5}, rules=(rule("bcast", 0, None, preset(2)),))).tree
    wrong, numbers = numbered(tree)
    assert len(set(numbers.values())) == len(numbers) == len(list(leaves(tree)))
    assert {path[-1] for path in leaves(wrong)} == {f"BCAST={number}" for number in numbers.values()}


@pytest.fixture(scope="module")
def real() -> Machine:
    launcher = Path(sys.prefix) / "intel" / "bin" / "mpirun"
    if not launcher.exists():
        pytest.skip("impi-rt is not in an environment beside this Python")
    here = describe(mpirun=str(launcher))
    if here.mpi is None or here.mpi.mpicc is None:
        pytest.skip("impi-devel is not in an environment beside this Python")
    return here


def by_size(ppn: int) -> Plan:
    """In functions of its library: up to 1 KiB nb_ring, above Rabenseifner's."""
    rules = (rule("allreduce", 0, 1024, preset(8)), rule("allreduce", 1025, None, preset(2)))
    return plan(1, ppn, gain={"allreduce": 1.5}, rules=rules)


@pytest.mark.mpi
@pytest.mark.beside
def test_the_real_one_reads_every_entry(real: Machine, tmp_path: Path) -> None:
    one = by_size(2)
    made = tuning(one)
    paths = export(made, "intel", one, real, tmp_path)
    assert {path.name for path in paths} == {NAME, "intel.sh"}
    found = check(made, "intel", one, real, tmp_path)
    assert [(item.found, item.taken) for item in found.items[1:]] == [("read", True)] * 4
    text = (tmp_path / NAME).read_text()
    (tmp_path / NAME).write_text(text.replace("ALLREDUCE=8", "ALLREDUCE=77"))
    edited = check(made, "intel", one, real, tmp_path)
    assert [item.taken for item in edited.items[1:]] == [False, True, True, True]
    (tmp_path / NAME).write_text(text[:-20])
    with pytest.raises(UserError, match="is not JSON"):
        check(made, "intel", one, real, tmp_path)


TRACE = """
import gdb
for word in ("set pagination off", "set print thread-events off", "break main", "run"):
    gdb.execute(word)
seen, size = {}, None
class Inside(gdb.Breakpoint):
    def stop(self):
        if size is not None:
            seen.setdefault(size, []).append(self.location)
        return False
class Mark(gdb.Breakpoint):
    def stop(self):
        global size
        size = int(gdb.parse_and_eval("n")) or None
        return False
for name in ("MPIR_Allreduce_intra_nb_ring", "MPIR_Allreduce_intra_rabenseifner"):
    Inside(name)
Mark("mark")
gdb.execute("continue")
print("SEEN", seen)
"""

PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
__attribute__((noinline)) void mark(int n) { __asm__ volatile("" : : "r"(n) : "memory"); }
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double *s = calloc(1024, 8), *r = calloc(1024, 8);
    for (int n = 512; n <= 4096; n *= 2) {
        mark(n);
        MPI_Allreduce(s, r, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        mark(0);
    }
    MPI_Finalize();
}
"""


@pytest.mark.mpi
@pytest.mark.nightly
def test_a_call_comes_through_the_functions_of_its_preset(real: Machine, tmp_path: Path) -> None:
    """Which preset serves a call nothing says but a debugger: sizes are bytes, and the end is included."""
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not here; on Debian: apt-get install gdb")
    assert real.mpi is not None and real.mpi.mpicc is not None
    (tmp_path / "a.c").write_text(PROGRAM)
    (tmp_path / "trace.py").write_text(TRACE)
    (tmp_path / NAME).write_text(compiled(by_size(4)).text)
    env = {**os.environ, **intel.compiler_environment(real.mpi.mpicc)}
    program = str(tmp_path / "a")
    subprocess.run([real.mpi.mpicc, "-g", str(tmp_path / "a.c"), "-o", program], check=True, env=env, timeout=120)
    gdb = ["gdb", "-batch", "-x", str(tmp_path / "trace.py"), "--args", program]
    argv = [real.mpi.mpirun, "-genv", "I_MPI_TUNING", str(tmp_path / NAME), "-n", "1", *gdb, ":", "-n", "3", program]
    said = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=120, env=env).stdout
    seen = re.search(r"SEEN (.*)", said)
    assert seen is not None, said
    ring, other = "MPIR_Allreduce_intra_nb_ring", "MPIR_Allreduce_intra_rabenseifner"
    assert seen[1] == str({512: [ring], 1024: [ring], 2048: [other], 4096: [other]})
