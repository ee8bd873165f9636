"""Every page is followed from its first command to its last, as it stands; what is printed is of the kind it shows.

Before a page's first command a reader has what `GIVEN` makes. What cannot be run here is in `NOT_RUN` with the reason;
a new command of a page is run unless it is put there.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.test_commands import shell
from tests.docs.text import PAGES, ROOT, Command, commands, files, missing
from unisono.inventory.describe import describe

pytestmark = [pytest.mark.nightly, pytest.mark.mpi, pytest.mark.timeout(3600)]

APP = f"mpicc -O1 {ROOT}/tests/foreign/programs/jacobi.c -o app -lm"
NONBLOCKING = f"mpicc -O1 {ROOT}/tests/docs/nonblocking.c -o app"
TUNING = "unisono tune --budget 60s --no-verify"
LAYOUT = "unisono hybrid --metric 'Time = *([0-9.]+)' --rounds 3 -o before -- ./app --threads '{threads}'; true"
STUDIES = "mkdir -p nps1 nps4 t2k xt4; for a in nps1 nps4; do cp unisono-out/study.db $a; done"
HYBRIDS = "for a in t2k xt4; do cp before/hybrid.db $a; done"

IMB_TEXT = f"sed 's/#processes = 2/#processes = 8/' {ROOT}/tests/results/samples/imb.txt"
OUTPUTS = f"{IMB_TEXT} > default.txt; cp default.txt ring.txt"

GIVEN = {
    "README.md": [APP, TUNING, STUDIES, OUTPUTS],
    "docs/collectives.md": [APP],
    "docs/exports.md": [f"mkdir -p unisono-out && cp {ROOT}/tests/docs/tuned.toml unisono-out/tuning.toml"],
    "docs/imported-results.md": [OUTPUTS],
    "docs/reproducible-sums.md": [APP],
    "docs/study-files.md": [f"echo {shlex.quote(files(ROOT / 'docs' / 'study-files.md', '[study]'))} > mine.toml"],
    "docs/nonblocking-collectives.md": [NONBLOCKING],
    "docs/tune-this-machine.md": [APP, f"cp {ROOT}/studies/quick.toml my-study.toml"],
    "docs/tune-under-slurm.md": ["unisono vcluster up --nodes 4 --ppn 2 --slurm"],
    "docs/try-a-cluster-on-a-laptop.md": [APP],
    "docs/which-layout.md": [APP, TUNING, LAYOUT, STUDIES, HYBRIDS],
}


IMB = Path(sys.prefix) / "intel" / "bin" / "IMB-MPI1"
MINUTES = 3
"""Longer budgets of pages are cut to this."""
ENOUGH, ANSWERS = 0.7, 0.3
"""Part of the page's lines of whose kind something must be printed: what is found out here (which setting, faster or
not) need not be what was found out on the page's machine, but its tables and sentences are."""


def _lacks(program: str) -> Callable[[], str]:
    return lambda: "" if shutil.which(program) else f"no {program}"


def _cores(number: int) -> Callable[[], str]:
    return lambda: "" if (os.cpu_count() or 1) >= number else f"needs {number} cores"


IN_JOBS = "needs a cluster's Slurm; tests/cluster runs such lines on virtual nodes"
NOT_RUN: dict[str, Callable[[], str]] = {
    "make tune": lambda: "installs from a package registry; the rest of it is unisono tune",
    "make test": lambda: "this is it",
    "make install": lambda: "installs from a package registry",
    "python3 tools/make_venv.py /opt": lambda: "writes into /opt",
    "/opt/unisono/bin/pip install": lambda: "installs from a package registry",
    "pip install": lambda: "installs from a package registry",
    "mpirun -x LD_PRELOAD=...": lambda: "shows what unisono run prints, with dots",
    "unisono profile import": lambda: "needs a file of Score-P",
    "unisono export unisono-out/tuning.toml --format openmpi -o /etc": lambda: "writes into /etc",
    "unisono tune quick --collective alltoall --ppn 16": _cores(16),
    "mpirun -n 4 python": lambda: "" if _has_mpi4py() else "no mpi4py of the MPI on PATH",
    "unisono hybrid --simulate": _lacks("smpirun"),
    "unisono simulate tune --platform fx10 --nodes 384": lambda: "6,144 simulated processes take minutes and gigabytes",
    "unisono simulate tune": _lacks("smpirun"),
    "unisono lookup fx10/tuning.toml": _lacks("smpirun"),
    "unisono extrapolate small/study.db": _lacks("smpirun"),
    "python benchmarks/layouts_simulated.py": lambda: "writes into docs; tests/simulate runs what it calls",
    "unisono run --tuning unisono-out/tuning.toml --layout --print -- srun": _lacks("srun"),
    "unisono export unisono-out/tuning.toml --format reframe": lambda: "its study is not kept; tests/export has one",
    "unisono tune --benchmark imb": lambda: "" if IMB.exists() else "no IMB; make .venv/.nightly-installed brings it",
    "salloc": lambda: IN_JOBS,
    "unisono tune --nodes 2": lambda: IN_JOBS,
    "unisono tune --submit slurm": lambda: IN_JOBS,
    "unisono vcluster run -- unisono tune --submit": _lacks("slurmctld"),
    "unisono vcluster": _lacks("ip"),
}


def _has_mpi4py() -> bool:
    found = subprocess.run(["python", "-c", "from mpi4py import MPI"], capture_output=True, check=False)
    return found.returncode == 0


def reason(command: Command) -> str:
    """Why it is not run; "" where it is."""
    text = " ".join(command.text.split())
    return next((why() for start, why in NOT_RUN.items() if text.startswith(start)), "")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if commands(page)], ids=lambda page: page.parent.name + page.stem
)
def test_a_page_followed_from_its_first_command_to_its_last(page: Path, tmp_path: Path) -> None:
    name = str(page.relative_to(ROOT))
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun on PATH")
    for folder in ("examples", "studies"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    _crowded(tmp_path)
    if all(map(reason, commands(page))):
        pytest.skip("; ".join(dict.fromkeys(map(reason, commands(page)))))
    given = GIVEN.get(name, [])
    try:
        for line in given:
            done = shell(f". ./crowded; {line}", tmp_path, 900)
            assert done.returncode == 0, (line, done.stdout, done.stderr)
        _follow(page, tmp_path)
    finally:
        if any("unisono vcluster up" in text for text in [*given, *(one.text for one in commands(page))]):
            shell("unisono vcluster down", tmp_path, 60)


def _follow(page: Path, tmp_path: Path) -> None:
    undecided = False
    for command in commands(page):
        if reason(command) or (undecided and "--layout" in command.words):
            continue
        if "--filter app.filter" in command.text:
            (tmp_path / "app.filter").write_text(files(page, "exclude MPI_Iprobe"))
        if command.words[:2] == ["unisono", "compare"] and "nps1" in command.text:
            assert shell(STUDIES, tmp_path, 60).returncode == 0
        done = shell(f". ./crowded; {_here(command)}", tmp_path, 1800)
        said = done.stdout + done.stderr
        # 1 is an answer: not faster; 3 is one, too: not told on this machine as busy as it is.
        assert done.returncode in (0, 1, 3), f"{command}\n{said}"
        # A machine too busy for a conclusion about layouts leaves none to run a program in.
        undecided = undecided or (command.words[1] == "hybrid" and done.returncode == 3)
        assert "Traceback" not in said, f"{command}\n{said}"
        if command.output and not command.output[0].startswith(("exclude", "unisono-rules")):
            enough = ANSWERS if command.words[1] in ("advise", "verify", "optimize", "hybrid") else ENOUGH
            lost = missing(command.output, said, enough)
            assert lost == [], f"{command}\n{said}"


def _here(command: Command) -> str:
    """As it is run here: Unisono is on PATH, nothing is written into /opt, and IMB is where the night has it, which is
    that of Intel MPI. Budgets are short, and are there where a page has none."""
    text = command.text.replace(".venv/bin/unisono", "unisono")
    text = re.sub(r"(?<=--budget )(\d+)m\b", lambda found: f"{min(int(found[1]), MINUTES)}m", text)
    if command.words[:2] == ["unisono", "hybrid"] and not {"--simulate", "--dry-run"} & {*command.words}:
        text = text.replace("unisono hybrid", f"unisono hybrid --budget {MINUTES}m", 1)
    text = text.replace("/opt/unisono-tuning", "everybody")
    if "/opt/imb/IMB-MPI1" in text:
        own = f"UNISONO_MPIRUN={IMB.parent}/mpirun LD_LIBRARY_PATH={IMB.parents[1]}/lib"
        text = f"{own} {text.replace('/opt/imb/IMB-MPI1', str(IMB))}"
    return text


def _crowded(folder: Path) -> None:
    """More ranks than this machine has cores are asked for on a page for a larger one."""
    family = describe(shutil.which("mpirun")).mpi
    words = "export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_rmaps_base_oversubscribe=1"
    (folder / "crowded").write_text(words + "\n" if family and family.family == "openmpi" else "")
