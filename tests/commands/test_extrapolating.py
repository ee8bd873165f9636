"""`unisono extrapolate`, and that every reader of its tuning says what is predicted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.console import Console

from tests.extrapolate.test_extrapolate import truth
from tests.study.test_store import RAW, STATISTICS
from tests.tuning.samples import machine
from unisono.advise.apply import apply
from unisono.commands.extrapolating import extrapolate
from unisono.commands.importing import import_results
from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT, EXACT
from unisono.export import caveats
from unisono.export.provenance import provenance
from unisono.extrapolate.terms import RING, TREE
from unisono.simulate.files import platform
from unisono.simulate.study import Wanted, begin
from unisono.tuning import read
from unisono.tuning.document import parse, render
from unisono.tuning.explain import explain
from unisono.tuning.show import show

PREDICTED = (
    "8 x 2 ranks were not measured: their plan is predicted from the measured cases (nodes x ranks a node: 2 x 2"
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a tuning for 8 nodes, predicted from 2 and 4; as PICO would have measured a made-up machine."""
    folder = tmp_path_factory.mktemp("extrapolated")
    head = "timestamp,test_id,nnodes,tasks_per_node,collective_type,mpi_lib,mpi_lib_version,gpu_awareness\n"
    lines = [f"S{nodes},0,{nodes},2,ALLREDUCE,OMPI,5.0.11,no\n" for nodes in (2, 4)]
    (folder / "mine_metadata.csv").write_text(head + "".join(lines))
    for nodes in (2, 4):
        job = folder / "mine" / f"S{nodes}" / "0"
        job.mkdir(parents=True)
        for name, growth, factor in (("default", TREE, 3.0), ("recursive_doubling", TREE, 1.0), ("ring", RING, 1.0)):
            for elements in (16, 1024, 65536, 1 << 20):
                nanoseconds = factor * truth(growth, 4 * elements, nodes) * 1e9
                rows = "".join(f"{round(nanoseconds) + n}\n" for n in range(10))
                (job / f"{elements}_{name}_ompi_int32.csv").write_text("highest\n" + rows)
    jobs = [str(folder / "mine" / f"S{nodes}") for nodes in (2, 4)]
    import_results(jobs, folder / "study", machine=None, nodes=None, ppn=None, name="mine")
    extrapolate([folder / "study" / "study.db"], folder / "out", nodes="4,8", ppn=None, json=False)
    return folder


def test_the_tuning_has_both_and_reads_back(made: Path) -> None:
    tuning = read(made / "out" / "tuning.toml")
    assert tuning.measured_cases() == [(2, 2), (4, 2)]
    assert tuning.cases() == [(2, 2), (4, 2), (8, 2)]
    (plan,) = tuning.plans_for(8, 2)
    assert plan.predicted
    assert {rule.basis for rule in plan.rules} == {"predicted"}
    assert all(rule.sure is not None for rule in plan.rules)
    assert parse(render(tuning), "again") == tuning
    assert 'basis = "predicted"' in (made / "out" / "report.html").read_text().replace("&#34;", '"')
    broken = render(tuning).replace('  basis = "predicted"\n', "", 1)
    with pytest.raises(UserError, match="a rule for allreduce is measured, its plan is predicted"):
        parse(broken, "broken")


def test_the_report_says_what_is_predicted_and_how_sure(made: Path) -> None:
    page = (made / "out" / "report.html").read_text()
    section = page[page.index('<section id="predictions">') : page.index('<section id="findings">')]
    assert "8 nodes × 2 ranks" in section
    assert "4 nodes" not in section, "what was measured is not predicted"
    assert section.count("<code>tuned/recursive_doubling</code>") == 1
    assert "All predictions are sure." in section
    assert 'id="predictions"' not in (made / "study" / "report.html").read_text()


def test_a_tuning_without_predictions_reads_as_before(made: Path) -> None:
    text = (made / "study" / "tuning.toml").read_text()
    assert "basis =" not in text
    assert "sure =" not in text
    assert not any(plan.predicted for plan in read(made / "study" / "tuning.toml").plan)


def test_everyone_says_what_is_predicted(made: Path) -> None:
    tuning = read(made / "out" / "tuning.toml")
    (plan,) = tuning.plans_for(8, 2)
    explained = explain(tuning, "allreduce", 8, 2, 65536)
    assert explained.found.as_dict()["basis"] == "predicted"
    assert explained.found.as_dict()["sure"] is not None
    assert any(PREDICTED in note for note in explained.found.notes)
    assert any("it is predicted to take" in sentence for sentence in explained.sentences())
    with (console := Console(width=120)).capture() as captured:
        console.print(show(tuning))
    assert "predicted for 8 x 2 ranks, which were not measured" in " ".join(captured.get().split())
    assert "predicted at" in captured.get()
    here = machine(cpus=2, nodes=8)
    assert any(PREDICTED in line for line in provenance(tuning, plan))
    assert any(PREDICTED in note for note in caveats(tuning, plan, here))
    hosts = ",".join(f"n{n}:2" for n in range(8))
    run = apply(tuning, ["mpirun", "--host", hosts, "-n", "16", "./app"], here, env={})
    assert len([note for note in run.notes if PREDICTED in note]) == 1
    assert not any("the launch setting of" in note for note in run.notes)
    measured = explain(tuning, "allreduce", 4, 2, 65536).found
    assert measured.as_dict()["basis"] == "measured"
    assert not measured.notes


def test_a_number_that_is_neither_goes_by_the_nearest_measured(made: Path) -> None:
    found = explain(read(made / "out" / "tuning.toml"), "allreduce", 9, 2, 65536).found
    assert (found.plan.nodes, found.plan.predicted) == (4, False)


@pytest.mark.parametrize(("nodes", "says"), [("many", "'many'"), ("0", "'0'"), ("8,,16", "''")])
def test_nonsense_is_refused_before_anything_is_written(made: Path, nodes: str, says: str) -> None:
    with pytest.raises(UserError, match="--nodes") as refused:
        extrapolate([made / "study" / "study.db"], made / "refused", nodes=nodes, ppn=None, json=False)
    assert says in str(refused.value)
    assert not (made / "refused").exists()


def test_what_is_assumed_is_said(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A network that was named, ranks a node that were not measured: on the screen, in the tuning and in the report."""
    study, out = made / "study" / "study.db", made / "assumed"
    extrapolate([study], out, nodes="64", ppn=8, platform="dragonfly", json=False)
    shown = " ".join(capsys.readouterr().out.split())
    tuning = read(out / "tuning.toml")
    said = [finding.text for finding in tuning.finding if finding.kind == "assumed"]
    assert len(said) == 2
    assert all(sentence in shown for sentence in said)
    page = (out / "report.html").read_text()
    section = page[page.index('<section id="predictions">') : page.index('<section id="findings">')]
    assert all(sentence in section for sentence in said)
    assert "8 ranks a node. The predictions use the measurements with 2" in said[0]
    assert "on the network dragonfly: they count the messages" in said[1]
    assert [(plan.nodes, plan.ppn) for plan in tuning.plan if plan.predicted] == [(64, 8)]
    with pytest.raises(UserError, match="nowhere: is no platform"):
        extrapolate([study], made / "refused", nodes="64", ppn=None, platform="nowhere", json=False)
    assert not (made / "refused").exists()


def test_a_simulated_study_knows_its_network(tmp_path: Path) -> None:
    wanted = Wanted(platform("dragonfly"), (16, 32), 1, ("allreduce",), (8, 1 << 10))
    path = tmp_path / "study.db"
    with begin(path, wanted) as store:
        for nodes in wanted.nodes:
            launch = store.begin_launch(DEFAULT, nodes, 1, EXACT, "smpirun", False)
            for size in wanted.sizes:
                store.add_sample(launch, "allreduce", size, DEFAULT, STATISTICS, RAW)
            store.end_launch(launch, "done", "", 1.0)
    extrapolate([path], tmp_path / "out", nodes="256", ppn=None, json=False)
    (text,) = [one.text for one in read(tmp_path / "out" / "tuning.toml").finding if one.kind == "assumed"]
    assert "on the network dragonfly: they count the messages" in text


@pytest.mark.parametrize(
    ("nodes", "ppn", "platform", "says"),
    [
        ("64", 1 << 20, None, "--ppn: 1048576 is too many"),
        ("8192", None, "dragonfly", "dragonfly: 8192 nodes; with one link between two groups it has at most 4224"),
        ("64,65536", 64, "fat-tree", "65536 x 64 ranks: on a network the messages of 1,048,576 ranks at most"),
        ("64", None, "wrong", "wrong: is not valid TOML"),
        ("64", None, ".", ".: is no platform"),
    ],
)
def test_what_cannot_be_is_one_line(
    made: Path, nodes: str, ppn: int | None, platform: str | None, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (made / "wrong").write_text("groups of 32")
    monkeypatch.chdir(made)
    with pytest.raises(UserError, match=re.escape(says)):
        extrapolate(
            [made / "study" / "study.db"], made / "refused", nodes=nodes, ppn=ppn, platform=platform, json=False
        )
    assert not (made / "refused").exists()


def test_what_nothing_tells_is_said(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An alltoall of a block to a million ranks sends more than any that was measured; alone, and beside others."""
    folder = made / "blocks"
    head = "timestamp,test_id,nnodes,tasks_per_node,collective_type,mpi_lib,mpi_lib_version,gpu_awareness\n"
    folder.mkdir()
    jobs = []
    for number, (collective, nodes) in enumerate(
        (("ALLGATHER", 2), ("ALLGATHER", 4), ("ALLREDUCE", 2), ("ALLREDUCE", 4))
    ):
        head += f"S{number},0,{nodes},2,{collective},OMPI,5.0.11,no\n"
        job = folder / "mine" / f"S{number}" / "0"
        job.mkdir(parents=True)
        jobs.append(str(job.parent))
        for name, factor in (("default", 3.0), ("recursive_doubling", 1.0)):
            for elements in (16, 1024):
                nanoseconds = factor * truth(TREE, 4 * elements, nodes) * 1e9
                rows = "".join(f"{round(nanoseconds) + n}\n" for n in range(10))
                (job / f"{elements}_{name}_ompi_int32.csv").write_text("highest\n" + rows)
    (folder / "mine_metadata.csv").write_text(head)
    import_results(jobs, folder / "study", machine=None, nodes=None, ppn=None, name="mine")
    extrapolate([folder / "study" / "study.db"], folder / "out", nodes="1048576", ppn=None, json=False)
    captured = capsys.readouterr()
    assert "allgather, 1048576 x 2 ranks: nothing is predicted" in " ".join(captured.out.split())
    assert "These numbers of nodes are not predicted" not in captured.err
    (plan,) = [plan for plan in read(folder / "out" / "tuning.toml").plan if plan.predicted]
    assert set(plan.gain) == {"allreduce"}
