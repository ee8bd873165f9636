"""The tables for a terminal."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from io import StringIO

from rich.console import Console

from tests.tuning.samples import plan, rule, tuned, tuning
from unisono.core.interval import Interval
from unisono.core.vocabulary import NONBLOCKING, Case
from unisono.report.text import format_range
from unisono.tuning import words
from unisono.tuning.contents import ProofModel, Tuning
from unisono.tuning.finding import Finding
from unisono.tuning.plans import Joint, gain_words
from unisono.tuning.show import show


def shown(made: Tuning) -> str:
    stream = StringIO()
    Console(file=stream, width=120).print(show(made))
    return stream.getvalue()


def test_settings_gains_rules_and_findings_are_shown() -> None:
    text = shown(tuning())
    assert "UCX_RNDV_THRESH=16kb, pml=ucx" in text
    assert "1.40x (1.33 to 1.47)" in text
    assert "tuned modified_bruck" in text
    assert "from 4 KiB" in text
    assert "block is cyclic here" in text
    assert '("medium" sizes)' in text


def test_findings_stand_below_their_case_what_matters_first() -> None:
    case = Case("alltoall", 1, 24)
    kinds = {"no difference": "x makes none.", "worse": "y is slower.", "better": "z is faster."}
    found = [Finding.of(case, kind, f"{case}: {text}") for kind, text in kinds.items()]
    note = Finding("folded", "block is cyclic here.")
    lines = [line.rstrip() for line in shown(tuning().model_copy(update={"finding": (note, *found)})).splitlines()]
    said = lines[lines.index("Findings") + 1 :]
    assert said == [
        "alltoall, 1 x 24 ranks",
        "- z is faster.",
        "- y is slower.",
        "- x makes none.",
        "The study as a whole",
        "- block is cyclic here.",
    ]


def test_words_below_a_narrow_table_are_as_wide_as_the_page() -> None:
    made = tuning(
        plan(
            launch={"preload": "unisono"},
            gain={"allreduce": 1.5, "alltoall": 1.5},
            rules=(rule("alltoall", 0, None, {"coll": "unisono", "algorithm": "cells"}),),
        ),
        plan(),
    )
    lines = shown(made).splitlines()
    assert any(
        "gain over the default (time of the default / time with this setting); > marks the setting to use" in one
        for one in lines
    )
    assert any(one.startswith("our ...: an algorithm of our library") for one in lines)
    assert "our ...:" not in shown(tuning())


def test_a_rule_whose_gain_is_not_proven_is_explained() -> None:
    said = "at these sizes the gain over the default is not proven"
    call = tuned("ring")
    assert said in re.sub(r"\s+", " ", shown(tuning(plan(rules=(rule("allreduce", 0, None, call, gain=1.05),)))))
    assert said not in re.sub(r"\s+", " ", shown(tuning(plan(rules=(rule("allreduce", 0, None, call, gain=1.5),)))))
    default = replace(rule("allreduce", 0, None, call), gain=Interval(1, 1, 1))
    assert said not in re.sub(r"\s+", " ", shown(tuning(plan(rules=(default,))))), "the default itself claims no gain"


def test_where_a_proof_can_be_made_is_said_of_as_many_nodes_as_it_takes() -> None:
    assert "where DIR is the directory of its study." in re.sub(r"\s+", " ", shown(tuning(plan())))
    several = re.sub(r"\s+", " ", shown(tuning(replace(plan(), nodes=4), replace(plan(), nodes=2))))
    assert (
        "makes one in a job of 4 nodes, where DIR is" in several
        and "If jobs measured the study (--submit), their own" in several
    )


def test_the_plan_to_use_is_marked() -> None:
    lines = shown(tuning()).splitlines()
    (marked,) = (line for line in lines if "> " in line and "│" in line)
    number = marked.split("│")[2].strip()
    (named,) = (line for line in lines if line.startswith(f"{number}: "))
    assert "pml=ucx" in named


def test_long_settings_are_named_whole_however_narrow_the_terminal() -> None:
    long = {"UCX_RNDV_THRESH": "128kb", "placement": "block", "pml": "ucx"}
    made = tuning(plan(launch=long), plan())
    stream = StringIO()
    Console(file=stream, width=70).print(show(made))
    assert "UCX_RNDV_THRESH=128kb, placement=block, pml=ucx\n" in re.sub(" +\n", "\n", stream.getvalue())
    short = shown(tuning(plan(launch={"pml": "ob1"}), plan()))
    assert any("│ pml=ob1" in line for line in short.splitlines()), "short ones stand in the table"


def test_the_gain_of_all_together_is_shown_where_it_is_known() -> None:
    assert "together" not in shown(tuning())
    joint = Joint(gain=Interval(mid=1.25, low=1.11, high=1.4), weights={"allreduce": 1.0, "alltoall": 1.0})
    lines = shown(tuning(replace(plan(launch={"pml": "ob1"}), joint=joint), plan())).splitlines()
    assert any("together" in line for line in lines)
    assert any("pml=ob1" in line and "1.25x (1.11 to 1.40)" in line for line in lines)


def test_gains_of_many_collectives_stand_below_one_another() -> None:
    gain = {name: Interval(1.5, 1.4, 1.6) for name in NONBLOCKING}
    lines = shown(tuning(replace(plan(launch={"pml": "ob1"}), gain=gain), replace(plan(), gain=gain))).splitlines()
    for name in gain:
        assert any(name in line.split() and "1.50x (1.40 to 1.60)" in line for line in lines), name


def test_values_that_look_like_markup_are_shown_as_they_are() -> None:
    made = tuning(
        plan(launch={"UCX_TLS": "[bold]"}, rules=(rule("allreduce", 0, None, tuned("ring", segment="8192")),))
    )
    text = shown(made)
    assert "UCX_TLS=[bold]" in text
    assert "segments of 8 KiB" in text


def test_a_plan_without_rules_says_so() -> None:
    assert "what the MPI does by itself" in shown(tuning(plan()))


def test_plans_of_our_library_are_named_in_words() -> None:
    pull = rule("allreduce", 0, None, {"coll": "unisono", "algorithm": "pull", "segment": "16384"})
    ours = plan(launch={"pml": "ucx", "preload": "unisono"}, gain={"allreduce": 2.0, "alltoall": 2.0}, rules=(pull,))
    text = shown(tuning(plan(), ours))
    assert "pml=ucx with our library" in text
    assert "our pull, segments of 16 KiB" in text
    assert "without it the best is default" in " ".join(text.split())
    assert "without it" not in shown(tuning(ours))


def test_a_proof_that_refutes_the_tuning_says_what_to_do() -> None:
    def proof(name: str, mid: float, verdict: str) -> ProofModel:
        gain = Interval(mid=mid, low=mid - 0.1, high=mid + 0.1)
        return ProofModel(collective=name, nodes=1, ppn=2, gain=gain, launches=15, verdict=verdict)

    made = tuning().model_copy(update={"proof": (proof("bcast", 1.3, "faster"), proof("alltoall", 0.8, "slower"))})
    said = " ".join(shown(made).split())
    assert "in these launches: alltoall (1 x 2). The result of the study did not hold there" in said
    assert "unisono tune --resume -o DIR --budget 20m" in said
    assert "did not hold there" not in shown(made.model_copy(update={"proof": made.proof[:1]}))


def test_sizes_of_rules_are_in_binary_units() -> None:
    assert words.sizes(0, (128 << 10) - 1) == "below 128 KiB"
    assert words.sizes(64, (1 << 20) - 1) == "64 B to below 1 MiB"
    for first, last in ((0, 63), (0, 1024), (0, 3000), (64, 4095), (0, None), (8, None)):
        assert words.sizes(first, last) == format_range(first, last), "pages and tables say the same"


def test_a_gain_of_too_few_launches_claims_no_interval() -> None:
    assert gain_words(Interval(1.12, 0.0, math.inf)) == "1.12x (interval unknown)"
    assert gain_words(Interval(2.09, 3e-5, 134407.0)) == "2.09x (interval unknown)"
    assert gain_words(Interval(2.0, 0.05, 80.0)) == "2.00x (0.05 to 80.00)"
    assert gain_words(Interval(1.12, 1.1, 1.2)) == "1.12x (1.10 to 1.20)"


def test_the_level_of_reproducible_sums_and_its_price_are_shown() -> None:
    names = ("reduce_scatter", "scan")
    proof = tuple(
        ProofModel(collective=name, nodes=1, ppn=4, gain=Interval(0.5, 0.4, 0.8), launches=15, verdict="slower")
        for name in names
    )
    made = tuning(plan(gain=dict.fromkeys(names, 1.0)))
    made = made.model_copy(
        update={"proof": proof, "study": made.study.model_copy(update={"reproducible": "placement"})}
    )
    text = " ".join(shown(made).split())
    assert "sums Reproducible sums (placement): allreduce" in text
    assert "our library, by an alltoallv and a loop" in text
    assert "what the MPI does by itself" in text  # the scan's
    assert "reduce_scatter on 1 x 4 ranks: reproducible (placement) costs 100 % (25 to 150)" in text
    assert "slower than the default in these launches: scan (1 x 4)." in text
