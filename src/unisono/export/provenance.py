"""What every exported file says about where it comes from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from unisono.tuning.choice import foretold
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan, gain_words

MADE_BY = "# Made by unisono"
"""How the comments of an exported file begin."""
_WIDTH = 110
_UNBROKEN = "\N{NO-BREAK SPACE}"


def provenance(tuning: Tuning, plan: Plan) -> list[str]:
    """Comment lines, without comment signs. Dates are the tuning's, so that exporting twice gives the same files."""
    study = tuning.study
    gains = ", ".join(f"{name} {gain_words(gain)}".replace(" ", _UNBROKEN) for name, gain in plan.gain.items())
    basis = "Predicted" if plan.predicted else "Simulated" if tuning.simulated else "Measured"
    lines = [
        f"Made by {tuning.made_by} from the tuning {tuning.name!r} of {tuning.made}",
        f"(study {study.name!r}, method {study.method}, id {study.id}).",
        f"Plan: {plan.nodes} x {plan.ppn} ranks, launch setting: {plan.launch}.",
        f"{basis} gain over the default: {gains}.",
    ]
    if plan.predicted:
        lines.append(f"{foretold(tuning, plan)}.")
    if tuning.simulated:
        lines.append("SIMULATED: nothing of this was measured on any machine.")
    if tuning.conditions.oversubscribed:
        lines.append("Measured with more ranks than CPUs: the gains hold for that.")
    return wrapped(lines)


def wrapped(lines: Iterable[str]) -> list[str]:
    """Comments as lines of a width that people can read, and that every reader of the files has room for: a plan has
    gains of 66 collectives. Names are free text, with line breaks, perhaps."""
    return [
        part.replace(_UNBROKEN, " ")
        for line in lines
        for part in textwrap.wrap(line, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    ]
