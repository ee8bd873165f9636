"""coll/han's rules file: which component serves a call on several nodes, by number of ranks and message size.

On several nodes Open MPI 5 puts coll/han before coll/tuned. With this file it hands calls on to other components, so
that a tuning of "han up to 12 KiB, coll/tuned above" needs no library of ours. The grammar is that of
`coll_han_dynamic_file.c` of Open MPI 5: words between blanks, `#` to the end of a line. Of entries the last one counts
whose number is not above the call's; the first has to be for 1 rank, and for 0 bytes. Bytes are those of IMB here
(allgather: the block), unlike in coll/tuned's file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.tuning.plans import Plan, Rule

SINCE = "5"
"""The first Open MPI that reads it in this form."""
HAN, TUNED = "han", "tuned"
COMPONENTS = ("self", "basic", "libnbc", TUNED, "sm", "adapt", HAN, "xhc")
"""Those that the file may name."""
BY_SIZE = ("allgather", "allreduce", "bcast", "reduce")
"""Collectives for which han asks this file, and of which all ranks know the same message size."""
ONE_RULE = ("barrier", "gather", "scatter")
"""Those without a size, or whose ranks may see different ones: one rule has to serve all."""
LEVEL = "global_communicator"
"""The program's own communicator; the others are those that han makes of it."""
_LEVELS = ("intra_node", "inter_node", LEVEL)


@dataclass(frozen=True, slots=True)
class HanRules:
    """(collective, level) -> (ranks, ((bytes, component), ...)) in ascending order."""

    entries: dict[tuple[str, str], tuple[tuple[int, tuple[tuple[int, str], ...]], ...]]

    def select(self, collective: str, ranks: int, size: int) -> str | None:
        """The component that the program's call goes to; None: what han does by itself."""
        found = [rules for least, rules in self.entries.get((collective, LEVEL), ()) if least <= ranks]
        return next((name for least, name in reversed(found[-1]) if least <= size), None) if found else None


def compile_han(plans: Sequence[Plan]) -> tuple[HanRules, list[str]]:
    """What plans for several nodes say of components, and a sentence for what this file cannot say. Communicators of a
    size that was not measured stay with han."""
    notes: list[str] = []
    entries = {}
    for collective in (*BY_SIZE, *ONE_RULE):
        found: dict[int, tuple[tuple[int, str], ...]] = {1: ((0, HAN),)}
        for plan in plans:
            if plan.nodes > 1 and (rules := _rules(collective, plan, notes)):
                found[plan.ranks] = rules
                found.setdefault(plan.ranks + 1, ((0, HAN),))
        if len(found) > 1:
            entries[collective, LEVEL] = tuple(sorted(found.items()))
    return HanRules(entries), notes


def _rules(collective: str, plan: Plan, notes: list[str]) -> tuple[tuple[int, str], ...]:
    """() where han serves all sizes."""
    rules = sorted(plan.rules_for(collective), key=lambda rule: rule.first)
    if collective in ONE_RULE and (len({rule.call for rule in rules}) > 1 or (rules and rules[-1].last is not None)):
        notes.append(
            N_("{collective} on {nodes} x {ppn} ranks: rules by message size are left out, because {why}").format(
                collective=collective,
                nodes=plan.nodes,
                ppn=plan.ppn,
                why=N_("its ranks may see different sizes, pick different algorithms and hang"),
            )
        )
        return ()
    out, end = [(0, HAN)], 0
    for rule in rules:
        out += [(end, HAN), (rule.first, _component(rule, plan, notes))]
        if rule.last is None:
            break
        end = rule.last + 1
    else:
        out.append((end, HAN))
    kept: list[tuple[int, str]] = []
    for first, name in dict(out).items():  # of those for the same size the last counts
        if not kept or kept[-1][1] != name:
            kept.append((first, name))
    return tuple(kept) if kept != [(0, HAN)] else ()


def _component(rule: Rule, plan: Plan, notes: list[str]) -> str:
    """Empty calls are what Open MPI does by itself: han."""
    name = rule.call.get("coll", TUNED if rule.call else HAN)
    if name in COMPONENTS:
        return name
    notes.append(
        N_("{collective}, {rule} on {nodes} x {ppn} ranks: coll={coll} is left out, coll/han cannot call it").format(
            collective=rule.collective, rule=rule.range_text(), nodes=plan.nodes, ppn=plan.ppn, coll=name
        )
    )
    return HAN


def write(rules: HanRules, comments: Sequence[str] = ()) -> str:
    """The file's text."""
    lines = [*(f"# {line}".rstrip() for line in comments), f"{len(rules.entries)}  # collectives"]
    for (collective, level), entries in rules.entries.items():
        lines += [collective, "1  # level", level, f"{len(entries)}  # numbers of ranks"]
        for ranks, sizes in entries:
            lines += [f" {ranks}  # ranks and more", f" {len(sizes)}  # message sizes: bytes component"]
            lines += [f"  {first} {name}" for first, name in sizes]
    return "\n".join(lines) + "\n"


def read(text: str, where: str) -> HanRules:
    """The rules in a file's text. Raises UserError with `where`, the line, and what was expected there: Open MPI drops
    such a file after one line in a log that is off by default."""
    words = _Words(text, where)
    entries = {}
    for _collective in range(words.number("how many collectives")):
        collective = words.one_of((*BY_SIZE, *ONE_RULE), "a collective of coll/han")
        for _level in range(words.number("how many levels", least=1)):
            level = words.one_of(_LEVELS, "a level")
            found = [_entry(words, number) for number in range(words.number("how many numbers of ranks", least=1))]
            words.ascending([ranks for ranks, _sizes in found])
            entries[collective, level] = tuple(found)
    words.end()
    return HanRules(entries)


def _entry(words: _Words, number: int) -> tuple[int, tuple[tuple[int, str], ...]]:
    ranks = words.number("1, the first number of ranks", least=1, most=1) if not number else words.number("ranks")
    sizes = []
    for at in range(words.number("how many message sizes", least=1)):
        first = words.number("0 or 1, the first message size", most=1) if not at else words.number("bytes")
        sizes.append((first, words.one_of(COMPONENTS, "a component")))
        words.algorithm()
    words.ascending([first for first, _name in sizes])
    return ranks, tuple(sizes)


class _Words:
    """The words of a file, each with its line."""

    def __init__(self, text: str, where: str) -> None:
        self._where = where
        lines = enumerate(text.splitlines(), start=1)
        self._left = [(number, word) for number, line in lines for word in line.partition("#")[0].split()]
        self._left.reverse()

    def _next(self, wanted: str) -> tuple[int, str]:
        if not self._left:
            raise UserError(_("{where}: ends where {wanted} was expected").format(where=self._where, wanted=wanted))
        return self._left.pop()

    def _wrong(self, line: int, word: str, wanted: str) -> UserError:
        return UserError(
            _("{where}, line {line}: {word!r} where {wanted} was expected").format(
                where=self._where, line=line, word=word, wanted=wanted
            )
        )

    def number(self, wanted: str, *, least: int = 0, most: int = 2**63 - 1) -> int:
        line, word = self._next(wanted)
        if not (word.isascii() and word.isdigit() and len(word) < 20 and least <= int(word) <= most):
            raise self._wrong(line, word, wanted)
        return int(word)

    def one_of(self, known: Sequence[str], wanted: str) -> str:
        line, word = self._next(wanted)
        if word not in known:
            raise self._wrong(line, word, f"{wanted} ({', '.join(known)})")
        return word

    def algorithm(self) -> None:
        """@NAME behind han is one of han's own algorithms, which a tuning does not name."""
        if self._left and self._left[-1][1].startswith("@"):
            self._left.pop()

    def ascending(self, numbers: Sequence[int]) -> None:
        for before, after in pairwise(numbers):
            if after <= before:
                raise UserError(
                    _("{where}: {after} comes after {before}; numbers must ascend").format(
                        where=self._where, after=after, before=before
                    )
                )

    def end(self) -> None:
        if self._left:
            raise self._wrong(*self._left[-1], "the end")
