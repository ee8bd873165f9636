"""The values of a hybrid study's page: which layout is fastest, how sure that is, where the time goes, the drift."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unisono.core.language import _, listed, translated
from unisono.core.writing import write
from unisono.hybrid.decide import Decision, discarded
from unisono.hybrid.effects import Effect, of_links, of_packing
from unisono.hybrid.run import Result
from unisono.hybrid.steady import DRIFT
from unisono.hybrid.study import HybridStudy, failures
from unisono.report import conditions, figures_hybrid
from unisono.report.marks import RatioScale, interval_mark, ratio_axis
from unisono.report.page import render
from unisono.report.text import count, format_duration, format_time
from unisono.study.data import StudyData

_MARGIN = 0.03


def write_hybrid_report(study: HybridStudy, path: Path) -> Path:
    """Write the page to `path` and return it. Raises UserError when the file cannot be written."""
    return write(path, render("hybrid.html.j2", content(study.data, study.decision, study.results)))


def content(study: StudyData, decision: Decision, results: Sequence[Result]) -> dict[str, Any]:
    """Every value of the template."""
    scale = RatioScale.over([rank.gain for rank in decision.ranks], width=420)
    most = decision.node_counts[-1]
    # Of several numbers of nodes the most is what the question is about.
    answer = len(decision.sentences) - 1 if decision.concluded else 0
    references = {decision.reference_on(nodes).variant for nodes in decision.node_counts}
    has_parts = bool(decision.ranks[0].parts)
    curves, curve_keys = figures_hybrid.scaling(decision)
    moved, moved_keys = figures_hybrid.drift(decision, results) if decision.rounds.unrest is not None else (None, [])
    return {
        "title": translated(decision.sentences[answer]),
        "conclusion": " ".join(translated(s) for number, s in enumerate(decision.sentences) if number != answer),
        "study": study,
        "reference": listed(
            list(dict.fromkeys(translated(decision.reference_on(nodes).name) for nodes in decision.node_counts))
        ),
        "base": translated(decision.called(decision.base))
        if " on " in decision.called(decision.base)
        else _("{name} on {cores}").format(
            name=translated(decision.called(decision.base)), cores=count(decision.base.cores, "core")
        ),
        "axis": ratio_axis(scale),
        "counted": any(rank.gflops for rank in decision.ranks),  # a program of one's own counts no operations
        "rows": [
            {
                "name": figures_hybrid.row_name(decision, rank),
                "seconds": format_time(rank.seconds),
                "gflops": f"{rank.gflops:.2f}" if rank.gflops else "-",
                "speedup": f"{rank.speedup:.2f}" if rank.speedup else "-",
                "mark": interval_mark(scale, rank.gain, _MARGIN),
                "gain": rank.gain,
                "launches": rank.launches,
                "is_reference": rank.variant in references,
                "is_chosen": rank == decision.proven(rank.variant.nodes),
            }
            for rank in decision.ranks
        ],
        "reasons": [
            {
                "nodes": count(nodes, "node"),
                "sentences": [translated(s) for s in decision.reasons(nodes)],
                "open": nodes == most,
            }
            for nodes in decision.node_counts
        ],
        "several": len(decision.node_counts) > 1,
        "most": count(most, "node"),
        "scaling": curves,
        "scaling_keys": curve_keys,
        "parts": figures_hybrid.parts(decision) if has_parts else None,
        "keys": figures_hybrid.part_keys(),
        "packing": _forest(of_packing(decision, decision.used(results), study.confidence), decision),
        "links": _forest(of_links(decision, decision.used(results), study.confidence), decision),
        "drift": moved,
        "drift_keys": moved_keys,
        "drift_sentence": _drift_sentence(decision),
        "notes": [translated(note) for note in study.notes],
        "failures": [translated(sentence) for sentence in failures(study.launches)],
        "machine": conditions.machine_facts(study.machine),
        "provenance": [
            (_("study"), f"{study.name}, {study.id}"),
            (_("begun"), study.created[:16].replace("T", " ") + " UTC"),
            (_("launches"), count(len(study.launches), "launch")),
            (_("measured in"), format_duration(sum(row.seconds for row in study.launches))),
        ],
        "commands": list(dict.fromkeys(row.command for row in study.launches)),
    }


def _forest(effects: Sequence[Effect], decision: Decision) -> dict[str, Any] | None:
    if not effects:
        return None
    scale = RatioScale.over([effect.gain for effect in effects], width=420)
    several = len(decision.node_counts) > 1
    return {
        "axis": ratio_axis(scale),
        "rows": [
            {
                "name": figures_hybrid.on_nodes(translated(effect.name), effect.variant.nodes)
                if several
                else translated(effect.name),
                "mark": interval_mark(scale, effect.gain, _MARGIN),
                "gain": effect.gain,
            }
            for effect in effects
        ],
    }


def _drift_sentence(decision: Decision) -> str:
    rounds = decision.rounds
    if rounds.unrest is None:
        return _("The program does not measure the memory bandwidth, so it is not known whether it drifted.")
    said = [
        _(
            "Over all launches the memory bandwidth changed by a factor of {unrest:.2f} against the usual value of "
            "each layout."
        ).format(unrest=rounds.unrest)
    ]
    if rounds.drift is not None:
        used = count(len(rounds.steady), "round")
        said.append(
            _("The {rounds} that the conclusion uses differ by {drift:.2f} (the limit is {limit}).").format(
                rounds=used, drift=rounds.drift, limit=DRIFT
            )
        )
    if rounds.restless:
        said.append(translated(discarded(rounds)))
    return " ".join(said)
