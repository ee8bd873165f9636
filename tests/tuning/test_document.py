"""The document: what is written is read back the same, and what is wrong is named with its line."""

from __future__ import annotations

import re
from dataclasses import replace
from math import nan
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tuning.samples import plan, rule, tuned, tuning
from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.vocabulary import COLLECTIVES, DISPATCHED, REPRODUCIBLE, Setting, is_ours
from unisono.tuning import read, render, write
from unisono.tuning.contents import Conditions, Costs, MpiPart, ProofModel, StudyPart, Tuning
from unisono.tuning.document import parse
from unisono.tuning.finding import Finding
from unisono.tuning.plans import Joint, Plan, Rule

_words = st.text(min_size=1, max_size=20)
_values = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=12).filter(str.strip)
_names = st.sampled_from(["UCX_RNDV_THRESH", "UCX_TLS", "pml", "coll_hcoll_enable", "placement", "HCOLL_ENABLE_X"])
_ratio = st.floats(1e-3, 1e6)
_seconds = st.floats(1e-13, 1.0)
_sizes = st.lists(st.integers(0, 1 << 34), max_size=4).map(tuple)


@st.composite
def gains(draw: st.DrawFn) -> Interval:
    low, mid, high = sorted(draw(st.tuples(_ratio, _ratio, _ratio | st.just(float("inf")))))
    return Interval(mid=mid, low=low, high=high)


@st.composite
def rules(draw: st.DrawFn, collective: str, library: bool) -> list[Rule]:
    """Rules of one collective that do not overlap."""
    edges = sorted(draw(st.sets(st.integers(0, 1 << 30), min_size=2, max_size=6)))
    ours = [{"coll": "unisono", "algorithm": "pull", "segment": "64"}] if library and collective in DISPATCHED else []
    calls = st.sampled_from([{}, {"coll": "han"}, tuned("ring"), tuned("ring", segment="4096"), *ours])
    out = []
    for first, end in zip(edges, [*edges[1:], None], strict=True):
        out.append(
            Rule(
                collective,
                first,
                None if end is None else end - 1,
                Setting(draw(calls)),
                draw(gains()),
                draw(_sizes),
                draw(st.integers(0, 99)),
            )
        )
        if is_ours(out[-1].call) and draw(st.booleans()):
            others = tuple(Setting({"coll": "unisono", "algorithm": name}) for name in ("ring", "chain"))
            out[-1] = replace(out[-1], as_fast=others)
    return out


def joints(collectives: list[str]) -> st.SearchStrategy[Joint]:
    weights = st.dictionaries(st.sampled_from(collectives), st.floats(0.001, 100), min_size=1)
    return st.builds(Joint, gain=gains(), weights=weights)


@st.composite
def plans(draw: st.DrawFn, ppn: int) -> Plan:
    collectives = draw(st.sets(st.sampled_from(sorted(COLLECTIVES)), min_size=1, max_size=3))
    library = draw(st.booleans())
    return Plan(
        nodes=draw(st.integers(1, 16)),
        ppn=ppn,
        launch=Setting(
            draw(st.dictionaries(_names, _values, max_size=3)) | ({"preload": "unisono"} if library else {})
        ),
        gain={name: draw(gains()) for name in sorted(collectives)},
        joint=draw(st.none() | joints(sorted(collectives))),
        rules=tuple(one for name in sorted(collectives) for one in draw(rules(name, library))),
    )


@st.composite
def tunings(draw: st.DrawFn) -> Tuning:
    made = tuple(draw(plans(ppn)) for ppn in range(1, draw(st.integers(2, 4))))
    known = sorted({name for one in made for name in one.gain})
    return Tuning(
        format="unisono-tuning",
        version=1,
        name=draw(_words),
        created=draw(_words),
        made_by=draw(_words),
        study=StudyPart(
            id=draw(_words),
            name=draw(_words),
            method="race",
            margin=0.03,
            confidence=0.95,
            reproducible=draw(st.sampled_from([None, *REPRODUCIBLE])),
        ),
        conditions=Conditions(oversubscribed=draw(st.booleans()), ranks=(2, 8), notes=tuple(draw(st.lists(_words)))),
        machine=draw(st.dictionaries(_words, _words, max_size=4)),
        costs=draw(st.builds(Costs, node_latency=st.none() | _seconds, fabric_byte=st.none() | _seconds)),
        weights={name: draw(st.floats(0, 100)) for name in known},
        plan=made,
        finding=tuple(
            Finding(kind="better", text=text, nodes=2, parameter="coll") for text in draw(st.lists(_words, max_size=2))
        ),
    )


@given(tunings())
def test_what_is_written_is_read_back_the_same(made: Tuning) -> None:
    assert parse(render(made), "here") == made


def test_a_file_is_read_back_the_same_and_put_in_place_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "tuning.toml"
    write(tuning(), path)
    assert read(path) == tuning()
    assert [p.name for p in path.parent.iterdir()] == ["tuning.toml"]


def test_a_file_that_is_not_there_comes_with_the_command_that_writes_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.toml: there is no such file; unisono tune writes a tuning"):
        read(tmp_path / "none.toml")


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file/tuning\.toml: cannot be written"):
        write(tuning(), tmp_path / "file" / "tuning.toml")


def test_the_document_explains_itself_and_writes_sizes_for_people() -> None:
    text = render(tuning())
    assert text.startswith("# A Unisono tuning")
    assert 'from = "4 KiB"' in text
    assert 'launch = { UCX_RNDV_THRESH = "16kb", pml = "ucx" }' in text
    # A rule without an upper end has no `to`: the second rule of allreduce.
    assert text.count("  from =") == text.count("  to =") + 2


def test_sizes_and_numbers_may_be_written_by_hand() -> None:
    text = render(tuning()).replace('from = "4 KiB"', "from = 4096").replace('to = "1023 B"', 'to = "1023"')
    text = text.replace('UCX_RNDV_THRESH = "16kb"', "UCX_RNDV_THRESH = 16384")
    again = parse(text, "here")
    assert again.plan[0].rules == tuning().plan[0].rules
    assert again.plan[0].launch["UCX_RNDV_THRESH"] == "16384"


def line_with(text: str, words: str, nth: int = 1) -> int:
    lines = [number for number, line in enumerate(text.splitlines(), start=1) if words in line]
    return lines[nth - 1]


def refusal(text: str) -> str:
    with pytest.raises(UserError) as caught:
        parse(text, "t.toml")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_empty_and_half_written_documents() -> None:
    text = render(tuning())
    assert refusal("  \n") == "t.toml: is empty"
    assert "not a tuning" in refusal("x = 1\n")
    for cut in range(len(text) // 4, len(text), 97):
        try:
            parse(text[:cut], "t.toml")
        except UserError as error:
            assert str(error).startswith("t.toml: ")
    cut = text.index("launch = {") + 14
    assert re.search(r"not valid TOML: .*line \d+|end of document", refusal(text[:cut]))


@given(st.data())
def test_a_document_with_a_piece_missing_or_twice_is_read_or_refused(data: st.DataObject) -> None:
    """Never anything else than a tuning or one clear line."""
    text = render(tuning())
    first = data.draw(st.integers(0, len(text)))
    last = data.draw(st.integers(first, len(text)))
    for broken in (
        text[:first] + text[last:],
        text[:last] + text[first:],
        text[:first] + data.draw(_words) + text[first:],
    ):
        try:
            parse(broken, "t.toml")
        except UserError as error:
            assert str(error).startswith("t.toml: ")
            assert "\n" not in str(error)


def test_another_format_or_version() -> None:
    text = render(tuning())
    assert "'unisono-machine'" in refusal(text.replace('"unisono-tuning"', '"unisono-machine"'))
    assert "version 2" in refusal(text.replace("version = 1", "version = 2"))


@pytest.mark.parametrize(
    ("old", "new", "nth", "words"),
    [
        ("UCX_RNDV_THRESH", "UCX_rndv_thresh", 1, "unknown parameter 'UCX_rndv_thresh'"),
        ('pml = "ucx"', 'placment = "block"', 1, "did you mean placement"),
        ('pml = "ucx"', 'algorithm = "ring"', 1, "belongs in a rule's call"),
        ('pml = "ucx"', "pml = true", 1, "write it in quotes"),
        ('pml = "ucx"', 'pml = ""', 1, "has no value"),
        ('pml = "ucx"', 'pml = "a\\nb"', 1, "control character"),
        ('  from = "4 KiB"', '  from = "4 KiX"', 1, "not a size"),
        ('  from = "4 KiB"', "  from = 4095", 1, "overlap"),
        ('algorithm = "ring"', 'algoritm = "ring"', 1, "unknown parameter 'algoritm'"),
        ('{ algorithm = "ring", coll = "tuned" }', '{ algorithm = "ring" }', 1, "coll/tuned"),
        ('{ algorithm = "ring", coll = "tuned" }', '{ coll = "unisono" }', 1, "needs the algorithm"),
        ('algorithm = "ring", coll', 'algorithm = "../x", coll', 1, "not the name of an algorithm"),
        ('pml = "ucx"', 'preload = "other"', 1, "'other' is not known"),
        ('pml = "ucx"', 'coll = "unisono"', 2, 'write preload = "unisono"'),
        ("  launches = 4", "  launces = 4", 1, "not a known key"),
        ('  collective = "allreduce"', '  collective = "allredux"', 1, "unknown collective 'allredux'"),
        ("ppn = 4", "ppn = 0", 1, "greater than or equal to 1"),
        ("confidence = 0.95", "confidence = 95", 1, "less than 1"),
        ("margin = 0.03", "margin = 'x'", 1, "valid number"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_key(old: str, new: str, nth: int, words: str) -> None:
    good = render(tuning())
    assert old in good
    bad = good.replace(old, new, 1)
    message = refusal(bad)
    assert words in message
    line = int(re.search(r"line (\d+)", message)[1])  # type: ignore[index]
    changed = line_with(bad, new.strip(), nth)
    # An overlap belongs to the plan, everything else to the line itself.
    assert line == (changed if words != "overlap" else line_with(bad, "[[plan]]", 2))


def test_the_line_is_that_of_the_right_plan_and_rule() -> None:
    text = render(tuning())
    bad = text.replace('segment = "8192"', 'segment = "8k"')
    assert f"line {line_with(bad, 'segment')}: plan.1.rule.0.call: segment" in refusal(bad)


def test_what_is_as_fast_is_ours_beside_ours() -> None:
    ring, chain = ({"coll": "unisono", "algorithm": name} for name in ("ring", "chain"))
    good = replace(rule("bcast", 0, None, ring), as_fast=(Setting(chain),))
    text = render(tuning(plan(launch={"preload": "unisono"}, gain={"bcast": 1.5}, rules=(good,))))
    assert parse(text, "x").plan[0].rules == (good,)
    for name in ("ring", "chain"):
        wrong = text.replace(f'algorithm = "{name}", coll = "unisono"', f'algorithm = "{name}", coll = "tuned"')
        with pytest.raises(UserError, match='bcast: as_fast is for algorithms with coll = "unisono"'):
            parse(wrong, "x")


def test_ours_need_the_library_and_a_collective_it_serves() -> None:
    text = render(tuning())
    ours = text.replace('algorithm = "ring", coll = "tuned"', 'algorithm = "pull", coll = "unisono"')
    assert 'coll = "unisono" needs preload = "unisono"' in refusal(ours)
    served = ours.replace('pml = "ucx"', 'preload = "unisono"')
    assert parse(served, "here").plan[0].needs_library
    other = served.replace('collective = "allreduce"', 'collective = "halo26"')
    assert "halo26: our library serves allgather" in refusal(other)


def test_a_plan_twice_and_a_weight_for_nothing() -> None:
    text = render(tuning(plan(), plan(ppn=2)))
    assert "appears twice" in refusal(text.replace("ppn = 2", "ppn = 4"))
    assert "weights.bcast" in refusal(text.replace("\n[weights]\n", "\n[weights]\nbcast = 1.0\n"))


def test_rules_may_touch_but_not_overlap() -> None:
    tuning(plan(rules=(rule("bcast", 0, 7, {}), rule("bcast", 8, None, {}), rule("reduce", 0, None, {}))))
    with pytest.raises(ValueError, match="overlap"):
        tuning(plan(rules=(rule("bcast", 8, None, {}), rule("bcast", 0, 8, {}))))


def test_a_gain_lies_within_its_interval() -> None:
    for gain, words in (
        ((2.0, 1.0, 1.5), "low <= mid <= high"),
        ((0.0, 0.0, 1.5), "above 0"),
        ((nan, 0.0, 1.5), "above 0"),
    ):
        with pytest.raises(ValueError, match=words):
            tuning(replace(plan(), gain={"allreduce": Interval(*gain)}))


def test_what_deciding_made_is_checked_where_it_becomes_a_document() -> None:
    ours = rule("bcast", 0, None, {"coll": "unisono", "algorithm": "pull"})
    for wrong, words in (
        (replace(plan(), launch=Setting({"algorithm": "ring"})), "belongs in a rule's call"),
        (replace(plan(), nodes=0), "greater than or equal to 1"),
        (plan(rules=(ours,)), "needs preload"),
        (plan(rules=(replace(ours, call=Setting({"coll": "unisono"})),)), "needs the algorithm"),
        (plan(rules=(replace(ours, call=Setting(), first=8, last=7),)), "is above"),
        (replace(plan(), basis="predicted", rules=(rule("bcast", 0, None, {}),)), "basis"),
        (replace(plan(), joint=Joint({"reduce": 1.0}, Interval(1.0, 1.0, 1.0))), "weighs reduce"),
    ):
        with pytest.raises(ValueError, match=words):
            tuning(wrong)


def test_a_finding_in_a_file_has_no_numbers_beside_its_sentence() -> None:
    text = render(tuning())
    assert "first: is not a known key" in refusal(text.replace('kind = "better"', 'kind = "better"\nfirst = 8'))


def test_a_rule_may_leave_out_its_upper_end_and_what_to_use() -> None:
    short = """\
[[plan]]
nodes = 1
ppn = 4
[plan.gain]
bcast = { mid = 1.0, low = 1.0, high = 1.0 }
[[plan.rules]]
collective = "bcast"
from = "4K"
gain = { mid = 1.0, low = 1.0, high = 1.0 }
"""
    head = render(tuning())
    made = parse(head[: head.index("\n[weights]\n")] + "\n" + short, "here")
    gain = Interval(1.0, 1.0, 1.0)
    assert made.plan == (Plan(1, 4, Setting(), {"bcast": gain}, (Rule("bcast", 4096, None, Setting(), gain),)),)


def test_mpi_and_proof_are_kept_and_are_not_needed() -> None:
    mpi = MpiPart(family="mpich", version="4.0.2", mpirun="/my mpi/bin/mpirun")
    gain = Interval(mid=1.5, low=1.4, high=1.6)
    proof = ProofModel(collective="alltoall", nodes=1, ppn=4, gain=gain, launches=15, verdict="faster")
    made = tuning().model_copy(update={"mpi": mpi, "proof": (proof,)})
    assert parse(render(made), "here") == made
    earlier = parse(render(tuning()), "here")  # as documents were before these were kept
    assert (earlier.mpi, earlier.proof) == (None, ())
