"""What every exported file says about where it comes from."""

from __future__ import annotations

from unisono.tuning.choice import foretold
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan, gain_words

MADE_BY = "# Made by unisono"
"""How the comments of an exported file begin."""


def provenance(tuning: Tuning, plan: Plan) -> list[str]:
    """Comment lines, without comment signs. Dates are the tuning's, so that exporting twice gives the same files."""
    study = tuning.study
    gains = ", ".join(f"{name} {gain_words(gain)}" for name, gain in plan.gain.items())
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
    return [_one_line(line) for line in lines]


def _one_line(text: str) -> str:
    """Names are free text; a line break in one would end the comment."""
    return " ".join(text.split())
