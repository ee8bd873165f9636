"""What a person or a program could give us and should not: one line on stderr, exit status 2."""

from __future__ import annotations

import os
import shlex
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.conftest import Refuses
from tests.commands.program import PROGRAM
from tests.fire.originals import SAMPLES, hybrid_db, machine_json, study_db, tuning_toml
from tests.tuning.samples import machine
from unisono.cmdline.job import describe_job
from unisono.core.errors import UserError
from unisono.profile.importers.cube_anchor import parse_anchor
from unisono.study.store import Store
from unisono.tuning import read

Refused = Callable[[str], str]

FOUR = ("UCX_RNDV_THRESH", "UCX_ZCOPY_THRESH", "UCX_BCOPY_THRESH", "UCX_MAX_RNDV_RAILS")
STUDY = '[study]\nname = "x"\n[cases]\ncollectives = ["allreduce", "alltoall"]\nppn = [2]\n'


@pytest.fixture
def tuning(tmp_path: Path) -> Path:
    tuning_toml(tmp_path / "tuning.toml")
    machine_json(tmp_path / "machine.json")
    return tmp_path / "tuning.toml"


@pytest.fixture
def one_line(refuses: Refuses) -> Refused:
    """Runs a command line here, in a folder of its own, and gives the one line with which it is refused."""

    def refused(words: str) -> str:
        said = refuses(*shlex.split(words))
        assert said.count("\n") == 1, said
        return said

    return refused


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = " + "[" * 100_000, "line 1: more than 32 brackets"),
        ("a = 1\n" + "b." * 100_000 + "c = 1", "line 2: more than 32 parts of a key"),
        ("a = " + "9" * 5_000, "thousands of digits"),
    ],
    ids=["deep", "dots", "digits"],
)
def test_toml_made_to_break_its_parser(tmp_path: Path, one_line: Refused, text: str, says: str) -> None:
    (tmp_path / "hostile.toml").write_text(text)
    assert says in one_line("show hostile.toml")


def test_toml_with_a_byte_order_mark_is_read(tuning: Path) -> None:
    plain = read(tuning)
    tuning.write_bytes(b"\xef\xbb\xbf" + tuning.read_bytes())
    assert read(tuning) == plain


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("[sizes]\nto = inf", "sizes.to: inf is not a size"),
        ("[sizes]\nstep = inf", "sizes.step: Input should be a finite number"),
        ("[sizes]\nstep = 1.0000001\nto = '1T'", "more than 10,000 message sizes"),
        (f"[sizes]\nto = '{'9' * 400}'", "is not a size"),
        ("[[sizes.limit]]\nto = '0.0M'", "leaves no message size"),
        ("[method]\nname = ['race']", "method.name"),
        ("[parameters]\nUCX_RNDV_THRESH = [['8kb']]", "is not a value"),
        ("[measure]\nseconds = nan", "measure.seconds"),
        ("[parameters]\n" + "\n".join(f"{n} = {list(map(str, range(1, 99)))}" for n in FOUR), "combinations"),
    ],
)
def test_a_study_with_impossible_values(tmp_path: Path, tuning: Path, one_line: Refused, more: str, says: str) -> None:
    (tmp_path / "study.toml").write_text(STUDY + more)
    assert says in one_line("tune study.toml --dry-run --machine machine.json")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("lookup tuning.toml --collective alltoall --ppn 4 --size 99999999999G", "more than any message has"),
        ("lookup tuning.toml --collective alltoall --ppn 4 --size 0", "--size 0: only a barrier"),
        ("lookup tuning.toml --collective alltoall --size 0 --why", "--size 0: only a barrier"),
        ("tune quick --dry-run --machine machine.json --size 0", "--size 0: only a barrier"),
        ("tune quick --dry-run --machine machine.json --nodes 0", "--nodes: '0' is not a number of at least 1"),
        ("tune '' --dry-run --machine machine.json", "no such study file"),
        ("tune quick --dry-run --machine machine.json --hosts ''", "--hosts '': is not used with --machine"),
        ("doctor --hosts ''", "--hosts: '' is not HOST"),
        ("doctor --hosts a:99999999999999999999", "--hosts a: 99999999999999999999 is too many"),
        ("doctor --hosts a:²", "--hosts a: '²' is not a number"),
        ("doctor --hosts /proc/kmsg", "--hosts: '/proc/kmsg' is not HOST"),
        ("doctor --mpirun ''", "--mpirun: '' is not a program"),
        ("hybrid --cores 32 --dry-run", "--cores 32: can only be used with --simulate"),
        ("show /dev/zero", "/dev/zero: is a device"),
        ("profile show /dev/zero", "/dev/zero: is a device"),
        ("tune quick --dry-run --machine /dev/zero", "/dev/zero: is a device"),
    ],
)
def test_values_that_were_taken_in_silence(tuning: Path, one_line: Refused, words: str, says: str) -> None:
    assert says in one_line(words)


@pytest.mark.parametrize("line", ["mpirun -n 100000000 ./a", "mpirun --host a:99999999 ./a", "srun -n 100000000 ./a"])
def test_more_ranks_than_any_machine_has(line: str) -> None:
    with pytest.raises(UserError, match="is too many; the most is 16,777,216"):
        describe_job(line.split(), machine(), {})


def test_ranks_beyond_all_slots_are_shared_out_at_once() -> None:
    job = describe_job(["mpirun", "--host", "a:2,b:3", "-n", "16000001", "./a"], machine(), {})
    assert (job.ranks, job.nodes, job.ppn) == (16_000_001, 2, 8_000_001)


def test_a_launcher_named_by_a_relative_path_is_not_looked_for_on_path(tmp_path: Path, one_line: Refused) -> None:
    """`true` is on PATH; the one meant is here."""
    (tmp_path / "true").write_text("#!/bin/sh\necho the one that is meant\n")
    (tmp_path / "true").chmod(0o755)
    assert "the one that is meant" in one_line("doctor --mpirun ./true")


def test_closed_streams(tmp_path: Path, tuning: Path) -> None:
    for redirection, status, says in (
        (">&-", 2, "the output: cannot be written, because it is closed"),
        ("2>&-", 0, ""),
    ):
        done = subprocess.run(
            ["sh", "-c", f'"$0" lookup "$1" --collective alltoall --ppn 4 --size 8 {redirection}', PROGRAM, tuning],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
        assert (done.returncode, says in done.stderr) == (status, True), done.stderr
        assert "Traceback" not in done.stderr


def test_a_width_that_is_no_number(tuning: Path) -> None:
    words: list[str | Path] = [PROGRAM, "lookup", tuning, "--collective", "alltoall", "--ppn", "4", "--size", "8"]
    environment = {**os.environ, "COLUMNS": "²", "LINES": "9" * 30}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_tag_of_sixty_megabytes(tmp_path: Path, one_line: Refused) -> None:
    text = f'<?xml version="1.0"?><ipm_job_profile><task x="{"a" * (60 << 20)}"/></ipm_job_profile>'
    (tmp_path / "ipm.xml").write_text(text)
    assert "a tag or a text of more than" in one_line("profile show ipm.xml")


def test_more_elements_than_memory_holds() -> None:
    with pytest.raises(UserError, match="more than 10,000,000 elements"):
        parse_anchor(b"<cube>" + b"<a/>" * 10_000_001 + b"</cube>", "f")


def test_numbers_without_end_in_a_report(tmp_path: Path, one_line: Refused) -> None:
    (tmp_path / "report.mpiP").write_text((SAMPLES / "halo.3.5.mpiP").read_text().replace(" 1 ", f" {'9' * 5000} "))
    assert "report.mpiP" in one_line("profile show report.mpiP")


@pytest.mark.parametrize("kind", ["study", "hybrid"])
def test_a_damaged_study_is_left_as_it_is(tmp_path: Path, one_line: Refused, kind: str) -> None:
    """The first page of its samples is zeros: `report` says so, and going on with it writes nothing."""
    path = tmp_path / f"{kind}.db"
    (study_db if kind == "study" else hybrid_db)(path)
    with sqlite3.connect(path) as db:
        page = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'sample'").fetchone()[0]
        size = db.execute("PRAGMA page_size").fetchone()[0]
    db.close()
    data = bytearray(path.read_bytes())
    data[size * (page - 1) : size * page] = bytes(size)
    path.write_bytes(data)
    assert f"{kind}.db: is damaged" in one_line(f"report {kind}.db")
    with pytest.raises(UserError, match="is damaged"):
        Store.open(path, write=True)
    assert path.read_bytes() == data


def test_a_study_with_a_trigger_is_refused(tmp_path: Path, one_line: Refused) -> None:
    """It would run by itself whenever a sample is stored."""
    study_db(tmp_path / "study.db")
    with sqlite3.connect(tmp_path / "study.db") as db:
        db.execute("CREATE TRIGGER fire AFTER INSERT ON note BEGIN DELETE FROM sample; END")
    assert "it has a trigger 'fire'" in one_line("report study.db")
