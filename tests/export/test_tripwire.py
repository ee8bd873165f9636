"""The tripwires spell which rule applies, whatever the file: played through with the lookup of the reader."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.export.test_tuned_rules import GOOD, rules_files
from unisono.export.tripwire import NO_ALGORITHM, applied, variants
from unisono.export.tuned_rules import RulesFile, entries, read, write


@given(rules_files(), st.integers(1, 6000), st.integers(0, 1 << 41))
def test_which_rule_applies_is_found_out(rules: RulesFile, ranks: int, size: int) -> None:
    text = write(rules)
    found = entries(text, "f")
    # Such a file fails without tripwires too, which a check looks at first.
    assume(all(entry.rule.algorithm != NO_ALGORITHM for entry in found))
    files = [read(variant, "f") for variant in variants(text, found)]
    for collective in {entry.collective for entry in found}:
        selected = rules.select(collective, ranks, size)
        seen = [file.select(collective, ranks, size) for file in files]
        fails = [rule is not None and rule.algorithm == NO_ALGORITHM for rule in seen]
        entry = applied(found, collective, fails)
        assert (entry.rule if entry else None) == selected


def test_a_dropped_file_applies_no_rule() -> None:
    found = entries(GOOD, "f")
    assert applied(found, "alltoall", [False] * len(variants(GOOD, found))) is None


def test_only_algorithms_change() -> None:
    found = entries(GOOD, "f")
    first = variants(GOOD, found)[0]
    assert "  0 9999 0 0\n" in first
    assert len(first.splitlines()) == len(GOOD.splitlines())
    assert first.startswith("# a comment with 3 numbers 4 5\n")


def test_a_pattern_that_is_no_rule() -> None:
    with pytest.raises(ValueError, match="no rule number 3"):
        applied(entries(GOOD, "f"), "allreduce", [True, True])
