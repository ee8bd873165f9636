"""The words of findings, from the numbers they state. Pure functions: a test reads the numbers back."""

from __future__ import annotations

from collections.abc import Sequence

from unisono.errors import UserError
from unisono.model import DEFAULT, UNISONO, Case, Setting
from unisono.sizes import format_size, parse_size


def order(value: str) -> tuple[int, int, str]:
    """Sort key: what is not a size first, then sizes by what they count, so that 4kb comes before 16kb."""
    try:
        return (1, parse_size(value), value)
    except UserError:
        return (0, 0, value)


def times(gain: float) -> str:
    """How many times faster or slower: "1.07x", "1.3x", "2.1x", "14x"; 0.5 and 2 both say "2x"."""
    value = max(gain, 1 / gain)
    digits = 2 if value < 1.995 else 1 if value < 9.95 else 0
    text = f"{value:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "x"


def by(low: float, high: float) -> str:
    """ "by 1.3x to 2.1x", or "by 1.3x" when both ends read the same; gains above or below 1 alike."""
    weak, strong = sorted((times(low), times(high)), key=lambda text: float(text[:-1]))
    return f"by {weak}" if weak == strong else f"by {weak} to {strong}"


def where(first: int, last: int, sizes: Sequence[int]) -> str:
    """ "up to 4 KiB", "from 8 KiB up", "from 64 B to 4 KiB", "at 8 KiB", "at all sizes (8 B to 1 MiB)"."""
    if first == last:
        return f"at {format_size(first)}"
    if first == sizes[0] and last == sizes[-1]:
        return f"at all sizes ({format_size(first)} to {format_size(last)})"
    if first == sizes[0]:
        return f"up to {format_size(last)}"
    if last == sizes[-1]:
        return f"from {format_size(first)} up"
    return f"from {format_size(first)} to {format_size(last)}"


def subject(parameter: str, value: str) -> str:
    """A value as people say it: "hcoll", "tuned's ring", "our pull", "cyclic placement", "UCX_RNDV_THRESH=16kb"."""
    if parameter in ("coll", "setting"):
        return value
    if parameter == "algorithm":
        return f"tuned's {value}"
    if parameter == UNISONO:
        return f"our {value}"
    if parameter == "placement":
        return f"{value} placement"
    return f"{parameter}={value}"


def about(parameter: str, rest: Setting) -> str:
    """A parameter as the subject of a sentence about its values: "coll", "algorithm under pml=ucx"."""
    return ("each of our algorithms" if parameter == UNISONO else parameter) + under(rest)


def under(rest: Setting) -> str:
    """ " under coll=ucc", or nothing."""
    return f" under {rest}" if rest else ""


def reference(parameter: str, value: str | None, rest: Setting) -> str:
    """What a value was compared with; `value` None: the parameter not set."""
    if value is not None:
        return subject(parameter, value)
    return "the default" if rest == DEFAULT else f"{rest} alone"


def differs(
    case: Case, what: str, than: str, first: int, last: int, low: float, high: float, sizes: Sequence[int]
) -> str:
    """ "allreduce, 1 x 24 ranks: hcoll is faster than the default from 64 B to 4 KiB, by 1.3x to 2.1x." """
    word = "faster" if low > 1 else "slower"
    return f"{case}: {what} is {word} than {than} {where(first, last, sizes)}, {by(low, high)}."


def mixed(
    case: Case, what: str, than: str, first: int, last: int, low: float, high: float, sizes: Sequence[int]
) -> str:
    """Both ways, in turns."""
    return (
        f"{case}: {what} is mixed against {than} {where(first, last, sizes)}: "
        f"up to {times(high)} faster at some sizes, up to {times(low)} slower at others."
    )


TOO_VAGUE = 10.0
"""A study that would have missed a difference of this factor has nothing to say about there being none."""


def same(case: Case, what: str, values: Sequence[str], place: str, limit: float) -> str:
    """No significant difference, and how large one would have shown; beyond TOO_VAGUE nothing is claimed."""
    listed = ", ".join(values) if len(values) <= 6 else f"{len(values)} values"
    inside = f" ({listed})" if listed else ""
    if limit > TOO_VAGUE:
        return f"{case}: {what}{inside} had too few launches to tell a difference from noise."
    return (
        f"{case}: {what}{inside} makes no significant difference{' ' + place if place else ''}; "
        f"a difference of {times(limit)} would have shown at most sizes."
    )


def compared(
    case: Case,
    what: str,
    than: str,
    stretches: Sequence[tuple[int, int, float, float]],
    sizes: Sequence[int],
    whole: bool,
) -> str:
    """ "alltoall, 1 x 32 ranks: NPS4 is faster than NPS1 from 16 MiB up, by 1.1x to 1.2x; no significant difference
    elsewhere." `stretches`: (first, last, lowest gain, highest gain), one way each; `whole`: they cover every size."""
    parts: list[str] = []
    said = ""
    for first, last, low, high in stretches:
        word = "faster" if low > 1 else "slower"
        verb = f"is {word} than {than}" if not parts else word if word != said else "also"
        parts.append(f"{verb} {where(first, last, sizes)}, {by(low, high)}")
        said = word
    rest = "" if whole else "; no significant difference elsewhere"
    return f"{case}: {what} {', and '.join(parts)}{rest}."


def alike(case: Case, what: str, than: str, limit: float) -> str:
    """No significant difference between two studies, and how large one would have shown."""
    if limit > TOO_VAGUE:
        return f"{case}: {what} and {than} had too few launches to tell a difference from noise."
    return (
        f"{case}: no significant difference between {what} and {than}; "
        f"a difference of {times(limit)} would have shown at most sizes."
    )


def one_size(case: Case, what: str, than: str, size: int) -> str:
    """What two studies have in common is too little to speak of the collective."""
    return (
        f"{case}: {what} and {than} have {format_size(size)} alone in common: their ratio holds there and says nothing "
        f"about other message sizes."
    )


def singular(case: Case, what: str, size: int, excess: float) -> str:
    """ "basic shows a singular point at 8 KiB: 3.1x slower than its neighbours suggest." """
    word = "slower" if excess > 1 else "faster"
    return (
        f"{case}: {what} shows a singular point at {format_size(size)}: "
        f"{times(excess)} {word} than its neighbours suggest."
    )


def wrong(case: Case, setting: Setting, sizes: Sequence[int]) -> str:
    """Wrong results."""
    listed = ", ".join(format_size(size) for size in sizes[:3])
    more = f" and {len(sizes) - 3} more sizes" if len(sizes) > 3 else ""
    outcome = "the default is kept as it is, but do not trust it" if setting.is_default else "it is left out"
    return f"{case}: {setting} gives wrong results at {listed}{more}; {outcome}."


def failed(case: Case, setting: Setting, size: int, reason: str) -> str:
    """One setting that could not be measured in a launch that could measure others."""
    return f"{case}: {setting} failed at {format_size(size)} ({shorten(reason)}); it is left out."


def launches_failed(
    nodes: int, ppn: int, setting: Setting, bad: int, total: int, statuses: Sequence[str], reason: str, dropped: bool
) -> str:
    """Launches that did not come to their end."""
    what = f"{nodes} x {ppn} ranks: {bad} of {total} launches with {setting} {' or '.join(statuses)}"
    return f"{what} ({shorten(reason)}); " + ("it is left out." if dropped else "what the others measured is used.")


def shorten(reason: str, most: int = 120) -> str:
    """The first line, cut where it gets long."""
    line = reason.strip().splitlines()[0].strip() if reason.strip() else "no reason given"
    return line if len(line) <= most else line[: most - 3].rstrip() + "..."
