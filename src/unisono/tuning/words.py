"""What a tuning says, in words for people."""

from __future__ import annotations

from collections.abc import Mapping

from unisono.core.language import N_, _
from unisono.core.sizes import format_size
from unisono.core.vocabulary import INTEL, MPICH, PRELOAD, Setting, is_ours, of_libnbc

SIMULATED = N_("simulated with SimGrid: nothing of it was measured on any machine")
"""What everybody says of a tuning that unisono simulate tune made."""

_VERDICTS = (
    N_("faster"),
    N_("no difference"),
    N_("slower"),
    N_("mixed"),
    N_("not told"),
    N_("fails"),
    N_("wrong results"),
    N_("the default is kept"),
)
"""What comparisons come to; kept in English, in tuning.toml and in study.db."""


def verdict(kept: str) -> str:
    """For people."""
    return _(kept) if kept in _VERDICTS else kept


def by_itself() -> str:
    """ "what the MPI does by itself"."""
    return _("what the MPI does by itself")


def use(call: Mapping[str, str]) -> str:
    """A rule's call: "our pull, segments of 16 KiB", "tuned ring", "component sm", "what the MPI does by itself"."""
    if not call:
        return by_itself()
    if is_ours(call):
        words = _("our {value}").format(value=call["algorithm"])
    elif "algorithm" in call and call.get("coll") == MPICH:
        words = _("MPICH's {value}").format(value=call["algorithm"])
    elif "algorithm" in call and call.get("coll") == INTEL:
        words = _("Intel MPI's preset {value}").format(value=call["algorithm"])
    elif of_libnbc(call):
        words = _("libnbc's {value}").format(value=call["algorithm"])
    elif "algorithm" in call:
        words = _("tuned {value}").format(value=call["algorithm"])
    else:
        words = _("component {value}").format(value=call["coll"])
    if "segment" in call:
        return _("{name}, segments of {segment}").format(name=words, segment=format_size(int(call["segment"])))
    return words


def sizes(first: int, last: int | None) -> str:
    """A rule's message sizes: "up to 16 KiB", "below 128 KiB", "from 1 KiB", "1 KiB to 16 KiB", "all sizes"."""
    if last is None:
        return _("all sizes") if first == 0 else _("from {first}").format(first=format_size(first))
    if last % 2 == 1 and last > 4:  # just short of a rounder size: 131071 B says less at first reading
        said = _("below {end}") if first == 0 else _("{start} to below {end}")
        return said.format(start=format_size(first), end=format_size(last + 1))
    if first == 0:
        return _("up to {last}").format(last=format_size(last))
    return _("{first} to {last}").format(first=format_size(first), last=format_size(last))


def launch(setting: Setting) -> str:
    """A plan's launch setting: "default", "pml=ucx with our library", "our library"."""
    if PRELOAD not in setting:
        return _("default") if setting.is_default else str(setting)
    rest = setting.without(PRELOAD)
    return _("{rest} with our library").format(rest=rest) if rest else _("our library")
