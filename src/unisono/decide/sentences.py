"""The words of findings, from the numbers they state. Pure functions: a test reads the numbers back."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from unisono.core.errors import UserError
from unisono.core.language import N_
from unisono.core.sizes import format_size, parse_size
from unisono.core.vocabulary import DEFAULT, INTEL, LIBNBC, MPICH, OF_THE_MPI, UNISONO, Case, Setting


def order(value: str) -> tuple[int, int, str]:
    """Sort key: what is not a size first, then sizes by what they count, so that 4kb comes before 16kb."""
    try:
        return (1, parse_size(value), value)
    except UserError:
        return (0, 0, value)


def times(gain: float) -> str:
    """How many times as fast or as long: "1.07x", "1.3x", "2.1x", "14x"; 0.5 and 2 both say "2x"."""
    value = max(gain, 1 / gain)
    digits = 2 if value < 1.995 else 1 if value < 9.95 else 0
    text = f"{value:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "x"


def by(low: float, high: float) -> str:
    """ "1.3x to 2.1x as fast", or "taking 1.3x as long" when both ends read the same. Never "1.3x faster": for some
    that is 2.3 times as fast."""
    weak, strong = sorted((times(low), times(high)), key=lambda text: float(text[:-1]))
    if weak == strong:
        return (N_("{factor} as fast") if low > 1 else N_("taking {factor} as long")).format(factor=weak)
    span = N_("{factor} to {most} as fast") if low > 1 else N_("taking {factor} to {most} as long")
    return span.format(factor=weak, most=strong)


def where(first: int, last: int, sizes: Sequence[int]) -> str:
    """ "up to 4 KiB", "from 8 KiB up", "from 64 B to 4 KiB", "at 8 KiB", "at all measured sizes (8 B to 1 MiB)"."""
    if first == last:
        return N_("at {size}").format(size=format_size(first))
    if first == sizes[0] and last == sizes[-1]:
        return N_("at all measured sizes ({first} to {last})").format(first=format_size(first), last=format_size(last))
    if first == sizes[0]:
        return N_("up to {size}").format(size=format_size(last))
    if last == sizes[-1]:
        return N_("from {size} up").format(size=format_size(first))
    return N_("from {first} to {last}").format(first=format_size(first), last=format_size(last))


def subject(parameter: str, value: str) -> str:
    """A value as people say it: "hcoll", "tuned's ring", "our pull", "cyclic placement", "UCX_RNDV_THRESH=16kb"."""
    if parameter in ("coll", "setting"):
        return value
    if parameter == "algorithm":
        return N_("tuned's {value}").format(value=value)
    if parameter == UNISONO:
        return N_("our {value}").format(value=value)
    if parameter == MPICH:
        return N_("MPICH's {value}").format(value=value)
    if parameter == LIBNBC:
        return N_("libnbc's {value}").format(value=value)
    if parameter == INTEL:
        return N_("Intel MPI's preset {value}").format(value=value)
    if parameter == "placement":
        return N_("{value} placement").format(value=value)
    return f"{parameter}={value}"


def about(parameter: str, rest: Setting) -> str:
    """A parameter as the subject of a sentence about its values: "coll", "algorithm under pml=ucx"."""
    each = {
        UNISONO: N_("each of our algorithms"),
        LIBNBC: N_("each of libnbc's algorithms"),
        MPICH: N_("each of MPICH's algorithms"),
        INTEL: N_("each of Intel MPI's presets"),
    }
    what = each.get(parameter, parameter)
    return N_("{what} under {rest}").format(what=what, rest=rest) if rest else what


def under(rest: Setting) -> str:
    """ " under coll=ucc", or nothing."""
    return N_(" under {rest}").format(rest=rest) if rest else ""


def reference(parameter: str, value: str | None, rest: Setting) -> str:
    """What a value was compared with; `value` None: the parameter not set."""
    if value is not None:
        return subject(parameter, value)
    return N_("the default") if rest == DEFAULT else N_("{rest} alone").format(rest=rest)


def differs(
    case: Case, what: str, than: str, first: int, last: int, low: float, high: float, sizes: Sequence[int]
) -> str:
    """ "allreduce, 1 x 24 ranks: hcoll is faster than the default from 64 B to 4 KiB, 1.3x to 2.1x as fast." """
    sentence = (
        N_("{case}: {what} is faster than {than} {where}, {by}.")
        if low > 1
        else N_("{case}: {what} is slower than {than} {where}, {by}.")
    )
    return sentence.format(case=case, what=what, than=than, where=where(first, last, sizes), by=by(low, high))


def mixed(
    case: Case, what: str, than: str, first: int, last: int, low: float, high: float, sizes: Sequence[int]
) -> str:
    """Both ways, in turns."""
    return N_(
        "{case}: {what} is mixed against {than} {where}: up to {high} as fast at some sizes, taking up to {low} as "
        "long at others."
    ).format(case=case, what=what, than=than, where=where(first, last, sizes), high=times(high), low=times(low))


_LISTED = 3
"""So many cases are named in a sentence that counts."""
TOO_VAGUE = 2.0
"""A study that would have missed a difference of this factor has nothing to say about there being none."""


def same(case: Case, what: str, values: Sequence[str], place: str, limit: float) -> str:
    """No significant difference, and how large one would have shown; beyond TOO_VAGUE nothing is claimed."""
    if len(values) > 6:
        what = N_("{what} ({count} values)").format(what=what, count=len(values))
    elif values:
        what += f" ({', '.join(values)})"
    if limit > TOO_VAGUE:
        return N_("{case}: {what} had too few launches to tell a difference from noise.").format(case=case, what=what)
    sentence = (
        N_(
            "{case}: {what} makes no significant difference {where}; a difference of {limit} would have shown at "
            "most sizes."
        )
        if place
        else N_(
            "{case}: {what} makes no significant difference; a difference of {limit} would have shown at most sizes."
        )
    )
    return sentence.format(case=case, what=what, where=place, limit=times(limit))


def untold(parameters: Mapping[Case, Sequence[str]]) -> str:
    """What could not be told, in one sentence with its number. `parameters`: of each case, at least one in all."""
    whole = {
        UNISONO: N_("our algorithms"),
        LIBNBC: N_("libnbc's algorithms"),
        MPICH: N_("MPICH's algorithms"),
        INTEL: N_("Intel MPI's presets"),
        OF_THE_MPI: N_("tuned's algorithms"),
    }
    cases = [(case, ", ".join(whole.get(name, name) for name in names)) for case, names in parameters.items()]
    listed = [f"{case}: {names}" for case, names in cases[:_LISTED]] + ["..."] * (len(cases) > _LISTED)
    count = sum(map(len, parameters.values()))
    if count == 1:
        return N_(
            "One of the effects that the study looked for is too small to be told from noise ({cases}): measure "
            "longer, or on a quieter machine."
        ).format(cases=listed[0])
    return N_(
        "{count} of the effects that the study looked for are too small to be told from noise ({cases}): measure "
        "longer, or on a quieter machine."
    ).format(count=count, cases="; ".join(listed))


def never(settings: Sequence[str]) -> str:
    """That nothing is known of launch settings, at least one, because there was no time to launch them."""
    if len(settings) == 1:
        return N_(
            "The budget ended before one launch setting, {setting}, was launched at all, so nothing is known "
            "about it. Continue with --resume and a larger --budget."
        ).format(setting=settings[0])
    return N_(
        "The budget ended before {count} launch settings, the first of them {setting}, were launched at all, so "
        "nothing is known about them. Continue with --resume and a larger --budget."
    ).format(count=len(settings), setting=settings[0])


def compared(
    case: Case,
    what: str,
    than: str,
    stretches: Sequence[tuple[int, int, float, float]],
    sizes: Sequence[int],
    whole: bool,
) -> str:
    """ "alltoall, 1 x 32 ranks: NPS4 is faster than NPS1 from 16 MiB up, 1.1x to 1.2x as fast; no significant
    difference elsewhere." `stretches`: (first, last, lowest gain, highest gain), one way each; `whole`: they cover
    every size."""
    rest = "" if whole else N_("; no significant difference elsewhere")
    for (*_ends, before, _high), (first, last, low, high) in reversed(list(itertools.pairwise(stretches))):
        if (low > 1) == (before > 1):
            part = N_(", and also {where}, {by}{rest}")
        else:
            part = N_(", and faster {where}, {by}{rest}") if low > 1 else N_(", and slower {where}, {by}{rest}")
        rest = part.format(where=where(first, last, sizes), by=by(low, high), rest=rest)
    first, last, low, high = stretches[0]
    sentence = (
        N_("{case}: {what} is faster than {than} {where}, {by}{rest}.")
        if low > 1
        else N_("{case}: {what} is slower than {than} {where}, {by}{rest}.")
    )
    return sentence.format(
        case=case, what=what, than=than, where=where(first, last, sizes), by=by(low, high), rest=rest
    )


def alike(case: Case, what: str, than: str, limit: float) -> str:
    """No significant difference between two studies, and how large one would have shown."""
    if limit > TOO_VAGUE:
        return N_("{case}: {what} and {than} had too few launches to tell a difference from noise.").format(
            case=case, what=what, than=than
        )
    return N_(
        "{case}: no significant difference between {what} and {than}; a difference of {limit} "
        "would have shown at most sizes."
    ).format(case=case, what=what, than=than, limit=times(limit))


def one_size(case: Case, what: str, than: str, size: int) -> str:
    """What two studies have in common is too little to speak of the collective."""
    return N_(
        "{case}: {what} and {than} were both measured only at {size}: their ratio holds there and says nothing "
        "about other message sizes."
    ).format(case=case, what=what, than=than, size=format_size(size))


def singular(case: Case, what: str, size: int, excess: float) -> str:
    """ "basic shows a singular point at 8 KiB: it takes 3.1x as long as its neighbours suggest." """
    sentence = (
        N_("{case}: {what} shows a singular point at {size}: it takes {excess} as long as its neighbours suggest.")
        if excess > 1
        else N_("{case}: {what} shows a singular point at {size}: it is {excess} as fast as its neighbours suggest.")
    )
    return sentence.format(case=case, what=what, size=format_size(size), excess=times(excess))


def wrong(case: Case, setting: Setting, sizes: Sequence[int], under: Sequence[Setting] = ()) -> str:
    """Wrong results. `under`: launch settings, where there are several."""
    if under:
        return N_(
            "{case}: {setting} gives wrong results under {count} launch settings ({settings}) at {listed}; it is left "
            "out there."
        ).format(case=case, setting=setting, count=len(under), settings=_some(under), listed=_sizes(sizes))
    sentence = (
        N_("{case}: {setting} gives wrong results at {listed}; the default is kept as it is, but do not trust it.")
        if setting.is_default
        else N_("{case}: {setting} gives wrong results at {listed}; it is left out.")
    )
    return sentence.format(case=case, setting=setting, listed=_sizes(sizes))


def failed(
    case: Case, setting: Setting, sizes: Sequence[int], reasons: Sequence[str], under: Sequence[Setting] = ()
) -> str:
    """What could not be measured in launches that could measure others. `under`: as above."""
    sentence = (
        N_(
            "{case}: {setting} failed under {count} launch settings ({settings}) at {listed} ({reason}); it is left "
            "out there."
        )
        if under
        else N_("{case}: {setting} failed at {listed} ({reason}); it is left out.")
    )
    return sentence.format(
        case=case,
        setting=setting,
        count=len(under),
        settings=_some(under),
        listed=_sizes(sizes),
        reason=_some([shorten(reason) for reason in reasons]),
    )


def _sizes(sizes: Sequence[int]) -> str:
    listed = ", ".join(format_size(size) for size in sizes[:_LISTED])
    if len(sizes) > _LISTED:
        listed = N_("{listed} and {count} more sizes").format(listed=listed, count=len(sizes) - _LISTED)
    return listed


def _some(found: Sequence[object]) -> str:
    """The first of them; by semicolons, since a setting of several parameters has commas."""
    return "; ".join([*map(str, found[:_LISTED]), *["..."] * (len(found) > _LISTED)])


def launches_failed(
    nodes: int,
    ppn: int,
    setting: Setting,
    bad: int,
    total: int,
    statuses: Sequence[str],
    reason: str,
    dropped: bool,
    under: Sequence[Setting] = (),
) -> str:
    """Launches that did not come to their end. `under`: as above."""
    if under and dropped:
        sentence = N_(
            "{nodes} x {ppn} ranks: {bad} of {total} launches with {setting} under {count} launch settings "
            "({settings}) {statuses} ({reason}); it is left out there."
        )
    elif under:
        sentence = N_(
            "{nodes} x {ppn} ranks: {bad} of {total} launches with {setting} under {count} launch settings "
            "({settings}) {statuses} ({reason}); what the others measured is used."
        )
    else:
        sentence = (
            N_("{nodes} x {ppn} ranks: {bad} of {total} launches with {setting} {statuses} ({reason}); it is left out.")
            if dropped
            else N_(
                "{nodes} x {ppn} ranks: {bad} of {total} launches with {setting} {statuses} ({reason}); what the "
                "others measured is used."
            )
        )
    return sentence.format(
        nodes=nodes,
        ppn=ppn,
        bad=bad,
        total=total,
        setting=setting,
        count=len(under),
        settings=_some(under),
        statuses=" or ".join(statuses),
        reason=shorten(reason),
    )


def shorten(reason: str, most: int = 120) -> str:
    """The first line, cut where it gets long."""
    line = reason.strip().splitlines()[0].strip() if reason.strip() else N_("no reason given")
    return line if len(line) <= most else line[: most - 3].rstrip() + "..."
