"""What will be used for a call and why: words and figures are those of the tuning."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.export.test_serving import COMPOSED, WITHOUT, composed, mpi
from tests.tuning.samples import plan, rule, tuning
from unisono.commands.looking_up import lookup as command
from unisono.core.errors import UserError
from unisono.core.vocabulary import Level, Setting
from unisono.export import dispatch
from unisono.export.serving import compile_serving
from unisono.tuning import Tuning, write
from unisono.tuning.contents import Conditions, MpiPart
from unisono.tuning.explain import explain


def test_one_of_ours() -> None:
    found = explain(composed(), "allreduce", 1, 4, 512)
    assert found.found.plan == COMPOSED
    assert found.use == "our slices, under our library"
    why = " ".join(found.sentences())
    assert "below 4 KiB" in why
    assert "1.50x as fast, 1.35x to 1.65x" in why
    assert "8 B, 1 KiB in 4 launches" in why
    run = " ".join(found.run_sentences())
    assert "puts libunisono.so into the ranks" in run
    assert "Without our library: tuned ring" in run


def test_the_rule_it_names_is_the_one_that_is_exported() -> None:
    rules, _ = compile_serving(composed(), COMPOSED, mpi())
    text = dispatch.write(rules)
    for collective, size in (("allreduce", 8), ("allreduce", 4096), ("alltoall", 1000)):
        line = explain(composed(), collective, 1, 4, size).rule_line
        assert line is not None
        assert f"\n{line}\n" in text


def test_a_component_and_a_size_without_a_rule() -> None:
    assert explain(composed(), "allreduce", 1, 4, 1 << 20).use == "component sm, under our library"
    left = explain(composed(), "alltoall", 1, 4, 1 << 20)
    assert "No rule covers 1 MiB" in left.sentences()[0]
    assert left.rule_line is None


def test_an_algorithm_of_tuned_is_not_for_programs_of_many_threads() -> None:
    assert "MPI_THREAD_MULTIPLE" in " ".join(explain(composed(), "alltoall", 1, 4, 4096).run_sentences())
    for collective, size in (("allreduce", 512), ("allreduce", 1 << 20), ("alltoall", 1 << 20)):
        assert "MPI_THREAD_MULTIPLE" not in " ".join(explain(composed(), collective, 1, 4, size).run_sentences())


def test_a_plan_without_our_library() -> None:
    made = tuning(WITHOUT)
    found = explain(made, "allreduce", 1, 4, 512)
    assert found.without is None
    assert found.use == "tuned ring"
    assert found.run_sentences() == ["unisono run sets no parameter of a launch and names a rules file for coll/tuned."]


def test_nothing_to_gain() -> None:
    found = explain(tuning(plan()), "alltoall", 1, 4, 512)
    assert found.run_sentences() == ["unisono run adds nothing."]
    assert "the MPI decides by itself, as without a tuning" in found.sentences()[0]
    assert [other.gain.mid for other in explain(composed(), "alltoall", 1, 4, 512).others] == [1.0]


def test_the_choice_for_this_collective_alone_is_said_where_it_differs() -> None:
    ucx = plan(launch={"pml": "ucx"}, gain={"allreduce": 2.0, "alltoall": 0.4})
    found = explain(tuning(plan(), ucx), "allreduce", 1, 4, 512)
    assert found.found.plan.launch == Setting()
    assert "For allreduce alone it would be pml=ucx, with a gain of 2.00x" in " ".join(found.sentences())
    assert [other.launch for other in found.others] == [Setting({"pml": "ucx"})]


def test_the_choice_for_this_collective_alone_is_not_said_where_it_gains_no_more() -> None:
    rules = (rule("allreduce", 0, 1023, {}, gain=1.01), rule("allreduce", 1024, None, {}, gain=3))
    ucx = plan(launch={"pml": "ucx"}, gain={"allreduce": 2.0, "alltoall": 0.4}, rules=rules)
    short, long = (explain(tuning(plan(), ucx), "allreduce", 1, 4, size) for size in (512, 4096))
    assert short.alone is not None and short.alone_sentences() == []
    assert "a gain of 3.00x" in long.alone_sentences()[0]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tuning.toml"
    write(composed(), path)
    asked = {"collective": "alltoall", "size": "512", "nodes": None, "ppn": None, "for_": None, "weights": None}
    command(path, **asked, why=True, json=False)  # type: ignore[arg-type]
    text = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "alltoall of 512 B on 1 x 4 ranks: our pull, segments of 16 KiB, under our library" in text
    assert "Under other launch settings" in text
    command(path, **asked, why=True, json=True)  # type: ignore[arg-type]
    document = json.loads(capsys.readouterr().out)
    assert document["call"] == {"coll": "unisono", "algorithm": "pull", "segment": "16384"}
    assert document["rule"] == "alltoall 1 4 0 1023 unisono/pull:16384"
    assert document["without_library"]["launch"] == {}
    assert document["measured_on"] == dict(composed().machine) and document["oversubscribed"] is False
    with pytest.raises(UserError, match="gather was not measured"):
        command(path, **{**asked, "collective": "gather"}, why=True, json=False)  # type: ignore[arg-type]


@pytest.mark.parametrize("why", [False, True])
def test_ranks_that_shared_cpus_are_said(why: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, crowded = tmp_path / "tuning.toml", Conditions(oversubscribed=True, launches=12, ranks=(4,))
    asked = {"collective": "alltoall", "size": "512", "nodes": None, "ppn": None, "for_": None, "weights": None}
    write(tuning(), path)
    command(path, **asked, why=why, json=False)  # type: ignore[arg-type]
    own = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "measured on: Example CPU, Open MPI 5.0.11" in own and "more ranks than CPUs" not in own
    write(tuning().model_copy(update={"conditions": crowded}), path)
    command(path, **asked, why=why, json=False)  # type: ignore[arg-type]
    shared = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "measured on: Example CPU, Open MPI 5.0.11, with more ranks than CPUs" in shared
    command(path, **asked, why=why, json=True)  # type: ignore[arg-type]
    assert json.loads(capsys.readouterr().out)["oversubscribed"] is True


def test_an_algorithm_of_mpich_is_its_files_to_name() -> None:
    rules = (
        rule("allreduce", 0, 4095, {"coll": "mpich", "algorithm": "ring"}),
        rule("allreduce", 4096, None, {"coll": "unisono", "algorithm": "slices"}),
    )
    plain = plan(gain={"allreduce": 1.2}, rules=rules[:1])
    found = explain(tuning(plain), "allreduce", 1, 4, 512)
    assert found.use == "MPICH's ring"
    assert found.run_sentences() == ["unisono run sets no parameter of a launch and names selection files for MPICH."]
    carried = plan(launch={"preload": "unisono"}, gain={"allreduce": 1.5}, rules=rules)
    found = explain(tuning(carried, plain), "allreduce", 1, 4, 512)
    assert found.rule_line is None, "our library leaves the call to MPICH"
    said = " ".join(found.run_sentences())
    assert "leaves this call to MPICH, and names selection files by which MPICH serves it" in said
    assert "nothing else" not in said
    assert "Without our library: MPICH's ring" in said and "export --format mpich-json" in said
    compiled, notes = compile_serving(tuning(carried, plain), carried, mpi())
    assert [(one.first, one.use) for one in compiled.rules] == [(4096, ("unisono/slices",))] and not notes


def test_without_our_library_there_may_be_nothing_to_export() -> None:
    carried = plan(
        launch={"preload": "unisono"},
        gain={"allreduce": 1.5},
        rules=(rule("allreduce", 0, None, {"coll": "unisono", "algorithm": "slices"}),),
    )
    plain = plan(gain={"allreduce": 1.0})
    said = explain(tuning(carried, plain), "allreduce", 1, 4, 512).run_sentences()
    assert said[-1] == "Without our library: what the MPI does by itself."
    other = plan(launch={"I_MPI_FABRICS": "ofi"}, gain={"allreduce": 1.2})
    made = tuning(carried, plain, other).model_copy(
        update={"mpi": MpiPart(family="intel", version="2021.18.1", mpirun="/opt/bin/mpiexec")}
    )
    assert "(export --format shell or module)" in explain(made, "allreduce", 1, 4, 512).run_sentences()[-1]


def test_rules_by_size_that_no_rank_can_follow_are_not_claimed() -> None:
    """A document may have them: written by hand, or by a Unisono that cut such collectives into ranges."""
    rules = (rule("alltoallv", 0, 4095, {"coll": "unisono", "algorithm": "pull"}), rule("alltoallv", 4096, None, {}))
    one = plan(1, 4, {"preload": "unisono"}, {"alltoallv": 1.5}, rules)
    found = explain(tuning(one), "alltoallv", 1, 4, 64)
    assert found.rule_line is None and "what the MPI does by itself" in found.use
    assert any("know no size that all of them agree on" in note for note in found.found.notes)
    assert compile_serving(tuning(one), one, mpi())[0].rules == ()


def test_two_rules_of_coll_tuned_for_a_gather_are_not_claimed() -> None:
    """Its ranks may see different sizes, so that its file has none of them."""
    calls = ({"coll": "tuned", "algorithm": "binomial"}, {"coll": "tuned", "algorithm": "basic_linear"})
    one = plan(1, 4, {}, {"gather": 1.5}, (rule("gather", 0, 4095, calls[0]), rule("gather", 4096, None, calls[1])))
    found = explain(tuning(one), "gather", 1, 4, 64)
    assert found.use == "what the MPI does by itself"
    assert any("know no size that all of them agree on" in note for note in found.found.notes)


def _reproducible(level: Level) -> Tuning:
    names = ("allreduce", "reduce_scatter", "scan", "bcast")
    made = tuning(plan(gain=dict.fromkeys(names, 1.0)))
    return made.model_copy(update={"study": made.study.model_copy(update={"reproducible": level})})


def test_what_serves_because_sums_are_to_be_reproducible() -> None:
    found = explain(_reproducible("placement"), "reduce_scatter", 1, 4, 4096)
    assert found.use == "our library, by an alltoallv and a loop"
    why = " ".join(found.sentences())
    assert "so our library decides by itself" in why
    assert "Reproducible sums (placement): allreduce" in why
    assert "serves this call with an alltoallv of the MPI" in why
    assert "not with the MPI; the proof compares with the MPI" in why
    run = " ".join(found.run_sentences())
    assert "adds nothing" not in run
    assert "puts libunisono.so into the ranks, with a rules file that asks for reproducible sums (placement)" in run
    assert found.as_dict()["needs_library"] is True
    assert found.as_dict()["reproducible"] == "placement"


def test_a_level_says_what_it_does_not_cover() -> None:
    scan = explain(_reproducible("ranks"), "scan", 1, 4, 4096)
    assert scan.use == "what the MPI does by itself"
    assert "do not cover these reductions" in " ".join(scan.sentences())
    bcast = explain(_reproducible("ranks"), "bcast", 1, 4, 4096)
    assert "eproducible" not in " ".join(bcast.sentences())
    assert "reproducible sums (ranks)" in " ".join(bcast.run_sentences())
    runs = explain(_reproducible("runs"), "allreduce", 1, 4, 4096)
    assert runs.use == "what the MPI does by itself"  # which our library leaves it to


def test_the_short_answer_names_the_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(_reproducible("placement"), tmp_path / "tuning.toml")
    asked = {"nodes": 1, "ppn": 4, "size": "4K", "for_": None, "weights": None, "why": False, "json": False}
    command(tmp_path / "tuning.toml", collective="allreduce", **asked)  # type: ignore[arg-type]
    assert "Reproducible sums (placement)" in capsys.readouterr().out
