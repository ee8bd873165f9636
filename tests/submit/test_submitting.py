"""Jobs are kept, found again and submitted anew, whenever whoever follows them goes."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.study.test_merge import measured
from unisono.commands.submitting import UNDECIDED, submit
from unisono.core.errors import UserError
from unisono.search.planned import within_job
from unisono.study.data import ENDED
from unisono.study.store import Store
from unisono.study.wishes import Wishes
from unisono.submit import asked, kept
from unisono.submit.scheduler import Request, Seen
from unisono.submit.slurm import Slurm


class Recorded:
    """A batch system whose jobs end at once; `killed`: so does whoever submits the second one."""

    name = "slurm"

    def __init__(self, studies: Path) -> None:
        self.studies = studies
        self.jobs: list[str] = []
        self.options: list[list[str]] = []
        self.killed = False
        self.ended: dict[str, bool] = {}

    def script(self, request: Request) -> str:
        return Slurm().script(request)

    def submit(self, script: Path, options: Sequence[str]) -> str:
        self.options.append(list(options))
        name = next(line for line in script.read_text().splitlines() if "--job-name=" in line).partition("=")[2]
        self.jobs.append(name)
        folder = script.parent.name
        shutil.copytree(self.studies / folder, script.parent, dirs_exist_ok=True)
        with Store.open(script.parent / "study.db", write=True) as store:
            store.set_meta(ENDED, self.ended.get(folder, True))
        if self.killed and len(self.jobs) == 2:
            raise KeyboardInterrupt
        return str(len(self.jobs))

    def find(self, name: str) -> str | None:
        return str(self.jobs.index(name) + 1) if name in self.jobs else None

    def look(self, ids: Sequence[str]) -> Mapping[str, Seen]:
        return {id: Seen("ended", "COMPLETED") for id in ids}


@pytest.fixture
def batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    (tmp_path / "studies").mkdir()
    for nodes in (2, 4):
        measured(tmp_path / "studies" / f"nodes-{nodes}", nodes)
    batch = Recorded(tmp_path / "studies")
    monkeypatch.setitem(asked.SCHEDULERS, "slurm", batch)
    return batch


def wishes(output: Path, **more: Any) -> Wishes:
    plain = Wishes(
        study=None, output=output, budget=None, method=None, resume=False, force=False, dry_run=False, machine=None,
        collectives=["allreduce"], nodes="2,4", ppn=2, sizes=[], oversubscribe=False, verify=False, json=False,
        mpirun=None, mpicc=None, hosts=None, submit="slurm", time="1h",
    )  # fmt: skip
    return replace(plain, **more)


AGAIN: dict[str, Any] = {"resume": True, "collectives": [], "nodes": None, "ppn": None, "verify": True, "time": None}


def test_all_jobs_become_one_tuning(batch: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    batch.ended["nodes-4"] = False
    assert submit(wishes(out)) == UNDECIDED
    assert "4 nodes: the measurement is not complete yet" in capsys.readouterr().err
    assert [name.split("-", 2)[2] for name in batch.jobs] == ["2-1", "4-1"]
    assert (out / "tuning.toml").exists()

    with pytest.raises(UserError, match="exists; continue its jobs with --resume"):
        submit(wishes(out))
    with pytest.raises(UserError, match="with other options; continue them without --collective"):
        submit(wishes(out, **{**AGAIN, "collectives": ["bcast"]}))
    batch.ended.clear()
    assert submit(wishes(out, **AGAIN)) == 0  # only what was left is submitted again
    assert [name.split("-", 2)[2] for name in batch.jobs] == ["2-1", "4-1", "4-2"]
    assert submit(wishes(out, **AGAIN)) == 0
    assert len(batch.jobs) == 3


def test_a_job_whose_number_was_never_kept_is_found_by_its_name(batch: Recorded, tmp_path: Path) -> None:
    batch.killed = True
    with pytest.raises(KeyboardInterrupt):
        submit(wishes(tmp_path / "out"))
    assert [job.id for job in kept.read(tmp_path / "out").jobs] == ["1", ""]
    assert submit(wishes(tmp_path / "out", **AGAIN)) == 0
    assert len(batch.jobs) == 2
    assert [job.id for job in kept.read(tmp_path / "out").jobs] == ["1", "2"]


def test_a_dry_run_shows_scripts_and_leaves_nothing(
    batch: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit(wishes(tmp_path / "out it's", dry_run=True)) == 0
    said = capsys.readouterr().out
    assert "#SBATCH --nodes=4" in said
    assert "tune quick --ppn 2 --collective allreduce --no-verify --budget 3600s --nodes 2 --resume -o '" in said
    assert not (tmp_path / "out it's").exists()
    assert batch.jobs == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"submit": "lsf"}, "known are slurm, pbs, flux"),
        ({"submit_options": "-q 'open"}, "--submit-options .*No closing quotation"),
        ({"time": None}, "for example --time 1h"),
        ({"time": "1s"}, "at least 2m"),
        ({"nodes": "2,x"}, "--nodes"),
        ({"hosts": "n0:2"}, "--hosts: is not used with --submit"),
        ({"study": "nosuch"}, "no such study file"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_submitted(
    batch: Recorded, tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        submit(wishes(tmp_path / "out", **given))
    assert batch.jobs == []


def test_the_users_own_options_are_kept_for_later_jobs(batch: Recorded, tmp_path: Path) -> None:
    out = tmp_path / "out"
    batch.ended["nodes-4"] = False
    assert submit(wishes(out, submit_options="-A 'my project'")) == UNDECIDED
    with pytest.raises(UserError, match="continue them with --submit slurm"):
        submit(wishes(out, **{**AGAIN, "submit": "pbs"}))
    submit(wishes(out, **AGAIN))
    assert batch.options == [["-A", "my project"]] * 3


def test_two_do_not_submit_from_one_directory(batch: Recorded, tmp_path: Path) -> None:
    with kept.alone(tmp_path / "out"), pytest.raises(UserError, match="follows its jobs already"):
        submit(wishes(tmp_path / "out"))
    assert batch.jobs == []


def test_a_budget_ends_before_the_job() -> None:
    assert within_job(60, None, proof=True) == 60
    assert within_job(60, 3600, proof=True) == 60
    assert within_job(3600, 3600, proof=False) == 3510
    assert within_job(None, 3600, proof=True) == 2430
    assert within_job(60, 30, proof=True) == 1
