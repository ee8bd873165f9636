"""Reports, one HTML file each: of one study (the answer, its proof, everything it rests on), of studies compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unisono.core.language import translated
from unisono.core.vocabulary import SIMULATED
from unisono.core.writing import write
from unisono.decide.compare import Comparison
from unisono.decide.decision import Decision
from unisono.extrapolate.plans import Predicted
from unisono.report import comparison as comparing
from unisono.report import conditions, headline, page, proof, sections
from unisono.report.finding_list import finding_groups, measured_sizes
from unisono.report.predictions import assumed, predictions
from unisono.report.topology import draw
from unisono.report.view import case_views
from unisono.study.data import StudyData
from unisono.tuning import Tuning, render


def write_report(
    study: StudyData,
    decision: Decision,
    path: Path,
    *,
    tuning: Tuning | None = None,
    verification: Mapping[str, Any] | None = None,
    predicted: Predicted | None = None,
) -> Path:
    """Write the report to `path` and return it.

    `tuning` is shown as the document it is written as; `verification` is what proving the decision on fresh launches
    found (its form: proof.py); `predicted`: for numbers of nodes that were not measured. Raises UserError when the file
    cannot be written.
    """
    values = {
        **content(study, decision, tuning, verification),
        "predictions": predictions(predicted),
        "assumed": assumed(predicted),
    }
    return write(path, page.render("report.html.j2", values))


def write_comparison_report(comparison: Comparison, studies: Sequence[StudyData], path: Path) -> Path:
    """Write what comparing studies found to `path` and return it; `studies` in the order they were compared.

    Raises UserError when the file cannot be written.
    """
    return write(path, page.render("comparison.html.j2", comparing.content(comparison, studies)))


def content(
    study: StudyData, decision: Decision, tuning: Tuning | None, verification: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Every value of the template."""
    views = case_views(study, decision)
    proven = proof.proven(verification)
    answers = headline.answers(decision, proven, study.reproducible)
    forest = proof.table(views, decision, proven, verification, study.reproducible)
    failed, left = conditions.failures(study)
    return {
        "study": study,
        "title": headline.title(answers, study.machine.name if study.method == SIMULATED else ""),
        "created": study.created[:16].replace("T", " ") + " UTC",
        "answers": answers,
        "facts": conditions.at_a_glance(study),
        "warnings": conditions.warnings(study, decision),
        "proof": forest,
        "sums": [one for one in conditions.reproducible(study) if one not in forest["remarks"]],
        "confidence": f"{decision.confidence:.0%}",
        "margin": f"{decision.margin:.0%}",
        **sections.page_sections(study, views, decision),
        "findings": finding_groups(decision.findings, measured_sizes(study), study.notes),
        "cases": sections.case_sections(views, decision, proven),
        "topology": draw(study.machine) if study.machine.is_described else "",
        "threads": study.machine.smt > 1,
        "machine_facts": conditions.machine_facts(study.machine),
        "conditions": conditions.conditions(study, decision),
        "notes": [translated(note) for note in study.notes],
        "failures": failed,
        "failures_left": left,
        "refusals": conditions.refusals(study),
        "tuning": render(tuning) if tuning is not None else "",
        "commands": conditions.commands(study, decision),
        "provenance": conditions.provenance(study, decision),
    }
