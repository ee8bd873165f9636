"""--for, --weights, --size and --reproducible: which plan of a tuning is meant, which call, which sums."""

from __future__ import annotations

from unisono.core.errors import UserError
from unisono.core.fields import collective_given
from unisono.core.language import _
from unisono.core.sizes import parse_size
from unisono.core.vocabulary import REPRODUCIBLE, Level
from unisono.tuning.choice import choose
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan


def weights(for_: str | None, text: str | None) -> dict[str, float] | None:
    """Of `--for allreduce` or `--weights alltoall=0.8,allreduce=0.2`; None for the tuning's own.

    Raises UserError when both are given, for a name that is no collective's, and for a weight that is no number.
    """
    if for_ is not None and text is not None:
        raise UserError(
            _(
                "--for and --weights cannot be used together, because both set the weights of collectives; use one of "
                "them"
            )
        )
    if for_ is not None:
        return {collective_given(for_, "--for"): 1.0}
    if text is None:
        return None
    found: dict[str, float] = {}
    for word in text.split(","):
        name, _is, value = word.strip().partition("=")
        try:
            weight = float(value)
        except ValueError:
            raise UserError(
                _("--weights: {word!r} is not COLLECTIVE=NUMBER; write alltoall=0.8,allreduce=0.2").format(word=word)
            ) from None
        found[collective_given(name, "--weights")] = weight
    return found


def level_of(text: str) -> Level:
    """The word of --reproducible. Raises UserError for another."""
    for level in REPRODUCIBLE:
        if text == level:
            return level
    raise UserError(
        _("--reproducible {text!r}: write one of {levels}").format(text=text[:80], levels=", ".join(REPRODUCIBLE))
    )


def size_of(collective: str, text: str) -> int:
    """The bytes of --size. Raises UserError for 0 where something is sent."""
    size = parse_size(text, "--size")
    if size == 0 and collective != "barrier":
        raise UserError(
            _("--size {text}: only a barrier sends nothing; write for example 8, 16K or 1M").format(text=text)
        )
    return size


def case_of(tuning: Tuning, nodes: int | None, ppn: int | None) -> tuple[int, int]:
    """The (nodes, ranks a node) asked for; what of it is not said is that of the only measured ones that fit, or, where
    none do, of all measured ones, if it is the same. Raises UserError where that leaves a choice."""
    if nodes is not None and ppn is not None:
        return nodes, ppn
    fitting = [case for case in tuning.cases() if nodes in (None, case[0]) and ppn in (None, case[1])]
    if len(fitting) == 1:
        return fitting[0]
    own = [{case[at] for case in tuning.cases()} for at in (0, 1)]
    if not fitting and len(own[0] if nodes is None else own[1]) == 1:
        return nodes or own[0].pop(), ppn or own[1].pop()
    known = ", ".join(f"{n} x {p}" for n, p in tuning.cases())
    raise UserError(
        _(
            "{name}: has plans for several cases (nodes x ranks a node: {known}); choose one with --nodes and --ppn"
        ).format(name=tuning.name, known=known)
    )


def plan(tuning: Tuning, nodes: int | None, ppn: int | None, chosen: dict[str, float] | None) -> Plan:
    """The plan for a case; the only one there is when none is named. Raises UserError when several fit."""
    fitting = [c for c in tuning.cases() if nodes in (None, c[0]) and ppn in (None, c[1])]
    known = ", ".join(f"{n} x {p}" for n, p in tuning.cases())
    if not fitting:
        raise UserError(
            _("{name}: has no plan for these ranks; it has (nodes x ppn) {known}").format(name=tuning.name, known=known)
        )
    if len(fitting) > 1:
        raise UserError(
            _("{name}: has plans for several cases (nodes x ppn: {known}); choose one with --nodes and --ppn").format(
                name=tuning.name, known=known
            )
        )
    return choose(tuning, *fitting[0], chosen)
