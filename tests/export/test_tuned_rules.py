"""coll/tuned's rules file: written, read back, and refused with the line when it is broken."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unisono.core.errors import UserError
from unisono.export.tuned_rules import (
    COLLECTIVE_IDS,
    CollectiveRules,
    CommRules,
    MessageRule,
    RulesFile,
    entries,
    read,
    write,
)

GOOD = """\
# a comment with 3 numbers 4 5
2 # collectives
2 # allreduce
1
0
1
0 0 0 0
3
2
 0
 1
  0 0 0 0
 8
 2
  0 1 0 0
  4096 2 0 8192
"""

_numbers = st.integers(0, 1 << 40)


@st.composite
def message_rules(draw: st.DrawFn, version: int) -> tuple[MessageRule, ...]:
    starts = [0, *sorted(draw(st.sets(st.integers(1, 1 << 40), max_size=3)))]
    requests = draw(_numbers) if version > 1 and draw(st.booleans()) else None
    return tuple(MessageRule(start, draw(_numbers), draw(_numbers), draw(_numbers), requests) for start in starts)


@st.composite
def rules_files(draw: st.DrawFn) -> RulesFile:
    version = draw(st.sampled_from([1, 2]))
    names = draw(st.lists(st.sampled_from(sorted(COLLECTIVE_IDS)), unique=True, max_size=3))
    return RulesFile(
        tuple(
            CollectiveRules(
                name,
                tuple(
                    CommRules(size, draw(message_rules(version)))
                    for size in sorted(draw(st.sets(st.integers(0, 5000), max_size=3)))
                ),
            )
            for name in names
        ),
        version,
    )


@given(rules_files(), st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=("C", "Z")))))
def test_what_is_written_is_read_back_the_same(rules: RulesFile, comments: list[str]) -> None:
    assert read(write(rules, comments), "f") == rules


@given(rules_files())
def test_entries_point_at_the_algorithms(rules: RulesFile) -> None:
    text = write(rules, ["made of 7 numbers"])
    found = entries(text, "f")
    assert [e.rule for e in found] == [r for c in rules.collectives for comm in c.comms for r in comm.rules]
    assert [int(text[e.start : e.end]) for e in found] == [e.rule.algorithm for e in found]


@given(st.text())
def test_any_text_is_read_or_refused_with_a_line(text: str) -> None:
    try:
        read(text, "f")
    except UserError as error:
        assert re.match(r"f: (line \d+: |\w+ \(id \d+\) is there twice)", str(error))


def test_the_version_line_comes_before_all_comments() -> None:
    rules = RulesFile((CollectiveRules("alltoall", (CommRules(0, (MessageRule(0, 3, 0, 0, 7),)),)),), version=2)
    assert write(rules, ["made of"]).startswith("rule-file-version-2\n# made of\n")


def test_a_hand_written_file() -> None:
    rules = read(GOOD, "f")
    assert [c.collective for c in rules.collectives] == ["allreduce", "alltoall"]
    assert rules.collectives[1].comms[1].rules[1] == MessageRule(4096, 2, 0, 8192)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2 # collectives", "3 # collectives", "line 16: the file ends where a collective's id is expected"),
        ("2 # collectives", "1 # collectives", "line 8: '3' comes after the 1 collectives"),
        ("2 # allreduce", "99 # allreduce", "line 3: 99 is not the id of a collective"),
        ("2 # allreduce", "3 # allreduce", "alltoall (id 3) is there twice"),
        ("  0 1 0 0", "  1 1 0 0", "line 15: alltoall on 8 ranks: the first message size is 1"),
        ("  4096 2", "  4o96 2", "line 16: '4o96' is not a number; a message size of alltoall on 8 ranks"),
        ("  4096 2", "  010 2", "line 16: '010' would be read as an octal number"),
        ("  4096 2", "  -1 2", "line 16: '-1' is not a number"),
        (" 8\n", " 0\n", "line 13: alltoall: communicator size 0 comes after 0"),
        ("  4096 2", "  0 2", "line 16: alltoall on 8 ranks: message size 0 comes after 0"),
        ("  4096 2 0 8192\n", "  4096 2 0", "line 16: the file ends where the segment size"),
        ("# a comment with 3 numbers 4 5", "rule-file-version-3", "line 1: rules of version 3 are not known"),
        ("# a comment", "a comment", "line 1: 'a' is not a number"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(old: str, new: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(UserError) as caught:
        read(GOOD.replace(old, new, 1), "rules.conf")
    assert str(caught.value).startswith("rules.conf: ")
    assert words in str(caught.value)


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(UserError, match="line 1: the file ends where the number of collectives is expected"):
        read("", "f")


def test_the_lookup_is_open_mpis_own() -> None:
    rules = read(GOOD, "f")
    assert rules.select("alltoall", 8, 4095) == MessageRule(0, 1)
    assert rules.select("alltoall", 8, 4096) == MessageRule(4096, 2, 0, 8192)
    assert rules.select("alltoall", 100, 1 << 30) == MessageRule(4096, 2, 0, 8192)
    assert rules.select("alltoall", 7, 4096) == MessageRule(0, 0)
    assert rules.select("bcast", 8, 4096) is None
    # Below its first entry Open MPI still uses the first: without the guard an untested size would get rules.
    unguarded = RulesFile((CollectiveRules("alltoall", (CommRules(8, (MessageRule(0, 2),)),)),))
    assert unguarded.select("alltoall", 2, 64) == MessageRule(0, 2)
