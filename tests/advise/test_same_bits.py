"""A tuning whose sums are reproducible: measured, proven by other placements, priced, and applied to a program."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.profile.interception import compiled, toolchain
from tests.tuning.samples import plan, rule, tuning
from unisono.advise.apply import apply_plan
from unisono.advise.prove import verify_tuning
from unisono.advise.same_bits import SameBits, same_bits
from unisono.cmdline.command import command
from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT, REDUCTIONS, Level
from unisono.library.native import bench_program
from unisono.library.recorder import recorder
from unisono.machine.description import Machine
from unisono.measure.session import Session
from unisono.parameters.spelling import require_mpi
from unisono.study.ours import preloaded
from unisono.tuning import Tuning, write
from unisono.tuning.asked import level_of

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
PROGRAM = Path(__file__).parents[1] / "collectives" / "programs" / "sums.c"
TUNE = ["tune", "quick", "--mpirun", "mpirun.openmpi", "--mpicc", "mpicc.openmpi", "--collective", "allreduce"]
TUNE += ["--size", "8", "--size", "64K", "--budget", "4s", "--ppn", "2", "--reproducible", "placement", "-o", "out"]


def _unisono(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    root = {f"OMPI_{name}": "1" for name in ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM")}
    argv = [str(Path(sys.executable).with_name("unisono")), *words]
    env = {**os.environ, **root, "LANG": "C.UTF-8", "COLUMNS": "200"}
    return subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, timeout=280, check=False)


def _reproducible(level: Level) -> Tuning:
    made = tuning(plan(ppn=3, gain={"allreduce": 1.0, "reduce": 1.0}))
    return made.model_copy(update={"study": made.study.model_copy(update={"reproducible": level})})


@pytest.mark.nightly
def test_sums_of_launches_whose_ranks_are_elsewhere(system: Machine) -> None:
    """Two nodes are pretended, and one launch has a rank fewer, whose numbers are zeros in the others."""
    points = [("allreduce", 64), ("reduce", 100000), ("reduce_scatter", 100000), ("reduce_scatter_block", 520)]
    points += [("bcast", 8), ("reduce_scatter_block", 256 << 20)]  # the last is more than a digest is made of
    made = _reproducible("ranks")
    applied = apply_plan(made, made.plan[0], system)
    found = same_bits(applied, "ranks", system, bench_program(require_mpi(system).mpicc), points, crowded=True)
    assert found is not None
    assert (found.same, found.failed) == (True, ())
    assert found.collectives == REDUCTIONS
    assert {"default", "two pretended nodes, ranks dealt in turn", "2 of 3 ranks"} <= set(found.layouts)
    assert same_bits(applied, "ranks", system, Path("gone"), [("bcast", 8)], crowded=True) is None


def test_a_programs_sums(system: Machine, tmp_path: Path) -> None:
    write(_reproducible("placement"), tmp_path / "tuning.toml")
    program = compiled(toolchain("openmpi4"), tmp_path, str(PROGRAM))
    line = ["mpirun.openmpi", "--oversubscribe", "-n", "3", str(program), "fold"]
    run = _unisono(tmp_path, "run", "--tuning", "tuning.toml", "--", *line)
    assert (run.returncode, len(run.stdout.splitlines())) == (0, 24), run.stderr
    other = _unisono(tmp_path, "run", "--tuning", "tuning.toml", "--reproducible", "ranks", "--", *line)
    assert (other.returncode, len(other.stdout.splitlines())) == (1, 24)  # rounded once: not as in any order


def _launched(machine: Machine, ranks: int, level: Level) -> Session:
    mpi = require_mpi(machine)
    line = command(machine, DEFAULT, 1, ranks, [str(bench_program(mpi.mpicc))], oversubscribe=True)
    line = preloaded(line, recorder(mpi.mpicc), machine, level)
    return Session(line.argv, line.env)


def test_every_reduction_has_the_bits_of_the_ranks_order(system: Machine) -> None:
    """The same vector, whole or in blocks. Of fewer ranks with numbers the blocks are those that fewer ranks have."""
    with _launched(system, 3, "placement") as session:
        found = {name: session.digest(name, 2400) for name in ("allreduce", "reduce", "reduce_scatter")}
        found["reduce_scatter_block"] = session.digest("reduce_scatter_block", 800)
        assert len(set(found.values())) == 1, found
        assert session.digest("reduce_scatter", 8) == session.digest("allreduce", 8)  # some ranks have no block
        with pytest.raises(ValueError, match="reduce_scatter or reduce_scatter_block"):
            session.digest("scan", 8)
        with pytest.raises(ValueError, match="3 blocks are more than"):
            session.digest("reduce_scatter_block", 128 << 20)
    wanted = [("reduce_scatter", 2400), ("reduce_scatter_block", 800)]
    with _launched(system, 3, "ranks") as all_of_them, _launched(system, 2, "ranks") as fewer:
        for name, size in wanted:
            assert all_of_them.digest(name, size, numbers=2) == fewer.digest(name, size, numbers=2), name


def test_what_a_price_is_and_what_has_no_promise_is_said(system: Machine) -> None:
    """Proven with few launches: a reduce_scatter may be slower, a scan is named as not covered."""
    made = tuning(
        plan(
            ppn=2,
            gain={"reduce_scatter": 1.0, "scan": 1.0},
            rules=tuple(rule(name, 0, None, {}, gain=1.0, sizes=(4096,)) for name in ("reduce_scatter", "scan")),
        )
    )
    made = made.model_copy(update={"study": made.study.model_copy(update={"reproducible": "placement"})})
    program = bench_program(require_mpi(system).mpicc)
    proof = verify_tuning(made, system, program, pairs=3, seconds=0.002)
    assert [(one.collectives, one.same, one.failed) for one in proof.bits] == [(("reduce_scatter",), True, ())]
    said = " ".join(proof.notes)
    assert re.search(r"reduce_scatter on 1 x 2 ranks: reproducible \(placement\)( costs|: no cost is proven)", said)
    assert "bits of their results: scan." in said
    slow = {case.collective for case in proof.cases if case.verdict == "slower"}
    assert proof.exit_status == int("scan" in slow)


@pytest.mark.nightly
def test_from_the_study_to_the_price(tmp_path: Path) -> None:
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("needs Open MPI")
    done = _unisono(tmp_path, *TUNE)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    layouts = "default; two pretended nodes, ranks dealt in turn"
    assert (
        f"allreduce on 1 x 2 ranks: reproducible (placement): the same bits in all of these launches: {layouts}" in said
    )
    assert re.search(r"allreduce on 1 x 2 ranks: reproducible \(placement\)( costs|: no cost is proven)", said)
    assert "reproducible placement" in (tmp_path / "out" / "export" / "unisono-rules.conf").read_text()
    assert "the same bits in all" in " ".join(_unisono(tmp_path, "show", "out/tuning.toml").stdout.split())


def test_a_level_that_is_none() -> None:
    with pytest.raises(UserError, match="write one of runs, placement, ranks"):
        level_of("ever")


def test_other_bits_are_said_so() -> None:
    found = SameBits("placement", 1, 4, ("reduce",), ("default", "placement=cyclic"), same=False, as_is=2)
    assert found.sentence == (
        "reduce on 1 x 4 ranks: not reproducible: the bits of the results differ among these launches: "
        "default; placement=cyclic"
    )
