"""Studies of several numbers of nodes become one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.study.machines import machine
from tests.study.test_store import META, RAW, STATISTICS
from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT, Case
from unisono.study.begin import resume, stored_study
from unisono.study.config import Study
from unisono.study.data import NEVER
from unisono.study.merge import merge
from unisono.study.store import Store


def measured(folder: Path, nodes: int, collective: str = "allreduce", version: str = "5.0.11") -> Path:
    study = Study.model_validate(
        {"study": {"name": "t"}, "cases": {"collectives": [collective], "nodes": [nodes]}, "method": {"budget": nodes}}
    )
    config = study.model_dump_json(by_alias=True)
    folder.mkdir()
    here = machine(nodes=nodes, version=version)
    with Store.create(folder / "study.db", name="t", config=config, method="race", machine=here, meta=META) as store:
        for round in (1, 2):
            launch = store.begin_launch(DEFAULT, nodes, 2, round, "mpirun", False)
            store.add_sample(launch, collective, 8 * nodes, DEFAULT, STATISTICS, RAW)
            store.add_refusal(launch, collective, 4096, DEFAULT, "memory: too much")
            where = [{"rank": rank, "node": rank // 2, "cpus": [0, 1]} for rank in range(2 * nodes)]
            store.end_launch(launch, "done", "", 1.0, "", {"where": where, "oversubscribed": nodes == 4})
        store.add_limits(nodes, 2, launch, {"latency_ns": nodes})
        store.add_note("Of all.")
        store.set_meta(NEVER, [f"nodes={nodes}", "pml=ucx"])
    return folder / "study.db"


def test_all_that_was_measured_is_there_once(tmp_path: Path) -> None:
    paths = [measured(tmp_path / "four", 4), measured(tmp_path / "two", 2)]
    into = merge(paths, tmp_path / "study.db")
    with Store.open(into) as store:
        data, study = store.data(), stored_study(store)
        launch = next(s.launch for s in data.samples if s.case.nodes == 4)
        assert store.raw(launch, "allreduce", 32, DEFAULT) == RAW
    assert sorted((s.case, s.size, s.round) for s in data.samples) == [
        (Case("allreduce", nodes, 2), 8 * nodes, round) for nodes in (2, 4) for round in (1, 2)
    ]
    assert {launch.id for launch in data.launches} == {1, 2, 3, 4}
    assert sorted(refusal.launch for refusal in data.refusals) == [1, 2, 3, 4]
    assert data.limits == {(2, 2): {"latency_ns": 2}, (4, 2): {"latency_ns": 4}}
    assert data.notes == ("Of all.",)
    assert data.never == ("nodes=2", "nodes=4", "pml=ucx")
    assert sorted(study.cases.nodes) == [2, 4]
    assert data.nodes_share_cpus
    assert len(data.machine.nodes) == 4

    with pytest.raises(UserError, match="--submit slurm --resume"):
        resume(into, machine(nodes=4), asked=None, force=False)
    merge(paths, into)
    with Store.open(into) as store:
        assert (store.data().id, len(store.samples())) == (data.id, 4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["four", "study.db", "two"]


def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    two = measured(tmp_path / "two", 2)
    with pytest.raises(UserError, match=r"machine that differs.*5\.0\.10"):
        merge([two, measured(tmp_path / "other", 4, version="5.0.10")], tmp_path / "study.db")
    with pytest.raises(UserError, match="asks for something else"):
        merge([two, measured(tmp_path / "bcast", 4, "bcast")], tmp_path / "study.db")
    with pytest.raises(UserError, match="a study of its own"):
        merge([two], measured(tmp_path / "own", 4))
    assert not (tmp_path / "study.db").exists()
