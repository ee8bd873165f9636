"""Plans as rules of our own library, and what the MPI's own files get instead."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.machine.trees import recorded
from tests.tuning.samples import machine, plan, rule, tuned, tuning
from unisono.core.errors import UserError
from unisono.core.vocabulary import Setting
from unisono.export import caveats, dispatch, export, exportable
from unisono.export import tuned_rules as rules
from unisono.export.served import Row, items
from unisono.export.serving import compile_serving
from unisono.export.words import plan_words
from unisono.machine.description import Mpi
from unisono.mpi.openmpi.ompi_info import parse_algorithms
from unisono.parameters.spelling import require_mpi
from unisono.tuning.contents import Costs, Tuning
from unisono.tuning.explain import explain
from unisono.tuning.plans import Plan, Rule

LIBRARY = {"preload": "unisono"}


def ours(algorithm: str, **more: str) -> dict[str, str]:
    return {"coll": "unisono", "algorithm": algorithm, **more}


def with_library(*given: Rule, launch: dict[str, str] | None = None, ppn: int = 4, gain: float = 1.6) -> Plan:
    gains = {"allreduce": gain, "alltoall": gain}
    return plan(ppn=ppn, launch={**(launch or {}), **LIBRARY}, gain=gains, rules=given)


COMPOSED = with_library(
    rule("allreduce", 0, 4095, ours("slices"), sizes=(8, 1024)),
    rule("allreduce", 4096, None, {"coll": "sm"}, sizes=(4096, 65536)),
    rule("alltoall", 0, 1023, ours("pull", segment="16384"), sizes=(8, 512)),
    rule("alltoall", 1024, 65535, tuned("pairwise"), sizes=(1024, 32768)),
)
WITHOUT = plan(gain={"allreduce": 1.1, "alltoall": 1.2}, rules=(rule("allreduce", 0, None, tuned("ring")),))


def composed() -> Tuning:
    return tuning(COMPOSED, WITHOUT).model_copy(update={"costs": Costs(node_latency=1.5e-7)})


def mpi(version: str = "5.0.11") -> Mpi:
    return require_mpi(machine(version))


def test_what_is_as_fast_is_named_beside_it_and_either_is_what_was_asked_for() -> None:
    near = replace(rule("allreduce", 0, None, ours("ring"), sizes=(8, 1024)), as_fast=(Setting(ours("chain")),))
    found, notes = compile_serving(tuning(with_library(near)), with_library(near), mpi())
    assert notes == [] and found.find("allreduce", 1, 4, 8) == ("unisono/ring|unisono/chain",)
    assert dispatch.read(dispatch.write(found), "x") == found
    why = explain(tuning(with_library(near)), "allreduce", 1, 4, 8)
    assert why.rule_line == "allreduce 1 4 0 max unisono/ring|unisono/chain"
    assert any(sentence.startswith("As fast in the study: our chain. In a job") for sentence in why.sentences())
    for served, taken in (("ring", True), ("chain", True), ("leader", False)):
        (item,) = items(
            {("allreduce", 8): "unisono/ring|unisono/chain"},
            [Row("allreduce", 8, 8, f"unisono/{served}", 1)],
            named=True,
        )
        assert item.taken == taken


def test_a_plan_may_compose_anything_by_size() -> None:
    found, notes = compile_serving(composed(), COMPOSED, mpi())
    assert notes == []
    assert found.costs["node_latency"] == 1.5e-7
    assert len(found.costs) == 4
    used = {(c, size): found.find(c, 1, 4, size)[0] for c in ("allreduce", "alltoall") for size in (8, 4096, 1 << 20)}
    assert used == {
        ("allreduce", 8): "unisono/slices",
        ("allreduce", 4096): "sm",
        ("allreduce", 1 << 20): "sm",
        ("alltoall", 8): "unisono/pull:16384",
        ("alltoall", 4096): "tuned/pairwise",
        ("alltoall", 1 << 20): "mpi",
    }
    assert found.find("allreduce", 1, 8, 8) == ("mpi",)


def test_nonblocking_calls_by_the_mpis_own_algorithms() -> None:
    """Size by size in our library's rules; in the MPI's files one for all sizes, as its parameter."""
    chain = {"coll": "libnbc", "algorithm": "chain"}
    here = machine("5.0.11")
    assert here.mpi is not None
    known = {**here.mpi.algorithms, **parse_algorithms(recorded("ompi_info-libnbc-5.0.11.txt"))}
    here = here.model_copy(update={"mpi": here.mpi.model_copy(update={"algorithms": known})})
    by_size = plan(launch=LIBRARY, gain={"ibcast": 2.0}, rules=(rule("ibcast", 65536, None, chain),))
    for_all = plan(gain={"ibcast": 1.3}, rules=(rule("ibcast", 0, None, chain),))
    served = plan_words(tuning(by_size, for_all), by_size, here)
    assert served.serving is not None
    assert served.serving.find("ibcast", 1, 4, 8) == ("mpi",)
    assert served.serving.find("ibcast", 1, 4, 65536) == ("libnbc/chain",)
    assert "coll_libnbc_ibcast_algorithm" not in served.mca
    plain = plan_words(tuning(for_all), for_all, here)
    assert (plain.serving, plain.rules, plain.notes) == (None, None, ())
    assert plain.mca == {"coll_libnbc_ibcast_algorithm": "chain"}
    unknown = plan(gain={"ibcast": 1.3}, rules=(rule("ibcast", 0, None, {**chain, "algorithm": "star"}),))
    with pytest.raises(UserError, match=r"coll/libnbc of Open MPI 5\.0\.11 has no algorithm 'star'; it has linear"):
        plan_words(tuning(unknown), unknown, here)


def test_one_file_serves_all_ranks_that_were_measured_under_the_same_launch_setting() -> None:
    other = with_library(rule("bcast", 0, None, ours("tree")), ppn=2)
    found, _ = compile_serving(tuning(COMPOSED, other, WITHOUT), COMPOSED, mpi())
    assert found.find("bcast", 1, 2, 8) == ("unisono/tree",)
    assert found.find("allreduce", 1, 4, 8) == ("unisono/slices",)


def test_collectives_without_a_common_size_have_one_rule_or_none() -> None:
    some = with_library(rule("alltoallv", 0, 99, ours("pull")), rule("barrier", 0, None, ours("flags"), sizes=(0,)))
    found, notes = compile_serving(tuning(some, plan()), some, mpi())
    assert [(one.collective, one.first, one.last) for one in found.rules] == [("barrier", 0, None)]
    assert len(notes) == 1
    assert notes[0].startswith("alltoallv on 1 x 4 ranks: rules by message size are left out")
    whole = with_library(rule("alltoallv", 8, 99, ours("pull")), rule("alltoallv", 100, None, ours("pull")))
    found, notes = compile_serving(tuning(whole, plan()), whole, mpi())
    assert [(one.collective, one.first, one.last) for one in found.rules] == [("alltoallv", 0, None)]
    assert notes == []


def test_what_this_mpi_cannot_do_is_said() -> None:
    found, notes = compile_serving(composed(), COMPOSED, mpi("4.1.4"))
    assert found.find("allreduce", 1, 4, 4096) == ("mpi",)
    assert "sm is left out" in notes[0]
    wrong = with_library(rule("alltoall", 0, None, tuned("unheard_of")))
    with pytest.raises(UserError, match="unheard_of"):
        compile_serving(tuning(wrong, plan()), wrong, mpi())


def test_an_older_open_mpi_is_told_to_look_at_forced_algorithms() -> None:
    assert plan_words(composed(), COMPOSED, machine("4.1.4")).mca == {"coll_tuned_use_dynamic_rules": "1"}
    assert plan_words(composed(), COMPOSED, machine("5.0.11")).mca == {}


def test_collectives_our_library_does_not_know_stay_with_tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unisono.export.serving.DISPATCHED", ("allreduce",))
    other = rule("reduce_scatter_block", 0, None, tuned("butterfly"))
    both = with_library(other, rule("allreduce", 0, None, ours("slices")))
    words = plan_words(tuning(both, plan()), both, machine())
    assert words.rules is not None
    assert [c.collective for c in words.rules.collectives] == ["reduce_scatter_block"]
    assert words.serving is not None
    assert [one.collective for one in words.serving.rules] == ["allreduce"]


def test_the_exported_file_says_how_to_use_it(tmp_path: Path) -> None:
    made = with_library(rule("allreduce", 0, None, ours("slices")), launch={"pml": "ucx"})
    (path,) = export(tuning(made, plan()), "rules", made, machine(), tmp_path)
    text = path.read_text()
    assert dispatch.read(text, str(path)).find("allreduce", 1, 4, 8) == ("unisono/slices",)
    assert f"UNISONO_RULES={path}" in text
    assert "--mca pml ucx" in text
    assert text.splitlines()[0] == dispatch.HEADER


@pytest.mark.parametrize("format", ["openmpi", "ucx", "shell", "mpirun"])
def test_the_mpis_own_forms_get_the_best_plan_without(format: str, tmp_path: Path) -> None:
    made = composed()
    with pytest.raises(UserError, match="--format rules"):
        export(made, format, COMPOSED, machine(), tmp_path)
    instead, (said,) = exportable(made, COMPOSED, format)
    assert instead == WITHOUT
    assert "the best without it: launch setting default" in said
    assert "alltoall 1.20x" in said
    for path in export(made, format, instead, machine(), tmp_path):
        assert "unisono/" not in path.read_text()
        if path.name == "openmpi-rules.conf":
            assert rules.read(path.read_text(), str(path)).collectives


def test_a_document_cut_to_a_plan_with_our_library_has_no_other_form() -> None:
    with pytest.raises(UserError, match="all plans of example need our library"):
        exportable(tuning(COMPOSED), COMPOSED, "openmpi")


def test_nothing_changes_for_plans_without() -> None:
    assert exportable(composed(), WITHOUT, "openmpi") == (WITHOUT, [])
    assert exportable(composed(), COMPOSED, "rules") == (COMPOSED, [])
    assert caveats(composed(), COMPOSED, machine()) == []
