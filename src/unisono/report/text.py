"""How numbers and settings are written in a report. Everything here is plain text; escaping is the template's."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from unisono.core.interval import Interval
from unisono.core.language import _, joined, ngettext
from unisono.core.sizes import format_size

_TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def significant(value: float, digits: int = 4) -> float:
    """`value` rounded to `digits` significant digits: what is inlined in a report."""
    return float(f"{value:.{digits - 1}e}")


def format_time(seconds: float) -> str:
    """ "12.3 µs": three significant digits, or "-" for a time nobody knows."""
    if not math.isfinite(seconds):
        return "-"
    if seconds <= 0:
        return "0 s"
    for scale, unit in _TIME_UNITS:
        if seconds >= scale * 0.9995 or unit == "ns":
            return f"{_three_digits(seconds / scale)} {unit}"
    raise AssertionError("unreachable: ns takes all that is left")


def _three_digits(value: float) -> str:
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{decimals}f}"


def format_ratio(value: float) -> str:
    """ "1.21×": how many times as fast (below 1: slower)."""
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "∞"
    return (f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}") + "×"


def format_interval(gain: Interval) -> str:
    """ "1.15–1.28", or that nobody can know it from so few launches."""
    if not gain.known:
        return _("interval unknown")
    return f"{format_ratio(gain.low)[:-1]}–{format_ratio(gain.high)[:-1]}"


def format_gain(gain: Interval) -> str:
    """ "1.21× (1.15–1.28)"; "1.21×" where there is no interval."""
    if gain.low == gain.mid == gain.high:
        return format_ratio(gain.mid)
    return f"{format_ratio(gain.mid)} ({format_interval(gain)})"


def format_duration(seconds: float) -> str:
    """ "42 s", "5 min 20 s", "2 h 05 min"."""
    whole = round(seconds)
    if whole < 60:
        return _("{seconds} s").format(seconds=f"{seconds:.1f}" if seconds < 9.95 else whole)
    if whole < 3600:
        return _("{minutes} min {seconds:02d} s").format(minutes=whole // 60, seconds=whole % 60)
    return _("{hours} h {minutes:02d} min").format(hours=whole // 3600, minutes=whole % 3600 // 60)


def format_range(first: int, last: int | None) -> str:
    """Such as "1 KiB – 64 KiB", "from 1 MiB", "all sizes"; an odd end, just short of a rounder size: "below" that."""
    if last is None:
        return _("all sizes") if first == 0 else _("from {first}").format(first=format_size(first))
    if first == last:
        return format_size(first)
    below = last % 2 == 1 and last > 4
    start, end = format_size(first), format_size(last + 1 if below else last)
    if first == 0:
        return _("below {end}").format(end=end) if below else _("up to {last}").format(last=end)
    return _("{start} to below {end}").format(start=start, end=end) if below else f"{start} – {end}"


def count(number: int, noun: str) -> str:
    """ "1 launch", "5 launches". KeyError for a noun that is not here."""
    words = {
        "algorithm rule": ngettext("{count} algorithm rule", "{count} algorithm rules", number),
        "core": ngettext("{count} core", "{count} cores", number),
        "frame": ngettext("{count} frame", "{count} frames", number),
        "fresh launch": ngettext("{count} fresh launch", "{count} fresh launches", number),
        "launch": ngettext("{count} launch", "{count} launches", number),
        "launch setting": ngettext("{count} launch setting", "{count} launch settings", number),
        "more call": ngettext("{count} more call", "{count} more calls", number),
        "node": ngettext("{count} node", "{count} nodes", number),
        "rank": ngettext("{count} rank", "{count} ranks", number),
        "round": ngettext("{count} round", "{count} rounds", number),
        "run": ngettext("{count} run", "{count} runs", number),
        "slot": ngettext("{count} slot", "{count} slots", number),
        "timing": ngettext("{count} timing", "{count} timings", number),
    }[noun]
    return words.format(count=f"{number:,}")


def join(words: Iterable[str]) -> str:
    """ "a, b and c"."""
    return joined(list(words))


def short_setting(setting: Mapping[str, str]) -> str:
    """A setting as a label: the component and its algorithm in one word, then the rest as it is set.

    Still unambiguous: "tuned/ring/64K" is coll=tuned, algorithm=ring, segment=65536.
    """
    rest = dict(setting)
    words = []
    call = [rest.pop(name) for name in ("coll", "algorithm") if name in rest]
    if "segment" in rest:
        segment = rest.pop("segment")
        if re.fullmatch("[0-9]{1,18}", segment) and int(segment):
            call.append(format_size(int(segment)))
        elif segment != "0":
            call.append(segment)
    words += [f"{name}={value}" for name, value in rest.items()]
    if call:
        words.append("/".join(call))
    return ", ".join(words) or _("default")
