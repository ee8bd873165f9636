"""Which rule of a file Open MPI applies to a call, found out by making rules fail.

Release builds of Open MPI say nothing about their rules: not that a file was read, not that it was dropped, not which
rule a call got (tried on 4.1.4 and 5.0.11 with every verbosity). But a call that gets a rule with an algorithm that
does not exist returns MPI_ERR_ARG. So the rules of a collective are numbered from 1, and launch number b runs with a
copy of the file in which every rule whose number has bit b set names such an algorithm: which launches a call fails
in spells the number of its rule, and 0 says that none applied. Some launches settle all rules at once; timing, which
could only suggest an algorithm, is not involved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unisono.core.language import _
from unisono.export.tuned_rules import Entry

NO_ALGORITHM = 9999
"""More algorithms than any collective of any version has."""


def numbers(entries: Sequence[Entry]) -> list[int]:
    """The number of every rule, counted from 1 within its collective."""
    seen: dict[str, int] = {}
    out = []
    for entry in entries:
        seen[entry.collective] = seen.get(entry.collective, 0) + 1
        out.append(seen[entry.collective])
    return out


def variants(text: str, entries: Sequence[Entry]) -> list[str]:
    """The copies of a file's text, one a launch. Only the algorithms change: what Open MPI cannot parse in the text it
    cannot parse in its copies either."""
    codes = numbers(entries)
    return [
        _with_algorithms(text, [e for e, code in zip(entries, codes, strict=True) if code >> bit & 1])
        for bit in range(max(codes, default=0).bit_length())
    ]


def applied(entries: Sequence[Entry], collective: str, fails: Sequence[bool]) -> Entry | None:
    """The rule a call got: `fails` says for every variant, in order, whether the call failed. None: no rule.

    Raises ValueError for a pattern that is no rule's number.
    """
    code = sum(1 << bit for bit, failed in enumerate(fails) if failed)
    if code == 0:
        return None
    for entry, number in zip(entries, numbers(entries), strict=True):
        if entry.collective == collective and number == code:
            return entry
    raise ValueError(_("{collective}: the file has no rule number {code}").format(collective=collective, code=code))


def fails(variants_failed: Sequence[Mapping[tuple[str, int, int], bool]], call: tuple[str, int, int]) -> list[bool]:
    """Whether one call failed, for every variant in order."""
    return [failed[call] for failed in variants_failed]


def _with_algorithms(text: str, changed: Sequence[Entry]) -> str:
    for entry in sorted(changed, key=lambda entry: entry.start, reverse=True):
        text = f"{text[: entry.start]}{NO_ALGORITHM}{text[entry.end :]}"
    return text
