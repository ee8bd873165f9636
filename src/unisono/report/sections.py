"""The answer's parts as plain values for the template: decision, findings, cases, limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unisono.core.language import _, translated
from unisono.core.sizes import format_size
from unisono.core.vocabulary import DEFAULT, Case, as_measured
from unisono.decide.decision import Decision
from unisono.measure.protocol import Limits
from unisono.report.axes import zoom_groups
from unisono.report.drift import drift, sentence
from unisono.report.envelope import envelope, envelope_figure, rows
from unisono.report.figures_heatmap import gain_map
from unisono.report.figures_latency import latency_figure, rule_words
from unisono.report.figures_launches import launch_panels
from unisono.report.figures_limits import bandwidth, core_latency, distance
from unisono.report.figures_steps import step_figures
from unisono.report.figures_timeline import statuses, timeline
from unisono.report.headline import rule_count
from unisono.report.limit import limits_of, slowest_of
from unisono.report.marks import RatioScale, interval_mark, ratio_axis, sparkline
from unisono.report.proof import Proven
from unisono.report.text import count, format_range, format_ratio, format_time, short_setting
from unisono.report.view import CaseView, chosen_plans, geometric_mean, of_shape
from unisono.study.data import StudyData
from unisono.tuning.plans import Plan


def page_sections(study: StudyData, views: Sequence[CaseView], decision: Decision) -> dict[str, Any]:
    """Values of the template for what is drawn once a page; `case_sections` has what is drawn once a case."""
    return {
        "shapes": decision_shapes(views, decision),
        "timeline": timeline(study, decision.statistic),
        "drift": sentence(drift(study, decision.statistic, default_only=True)),
        "statuses": statuses(study),
        "limits": limits(study, views),
    }


def decision_shapes(views: Sequence[CaseView], decision: Decision) -> list[dict[str, Any]]:
    """Per (nodes, ppn): the launch setting, each case's rules, and the other plans."""
    plans = chosen_plans(decision)
    scale = RatioScale.over([rule.gain for plan in plans.values() for rule in plan.rules], width=340)
    shapes = []
    for (nodes, ppn), plan in plans.items():
        cases = [_case_rules(view, decision, scale) for view in of_shape(views, nodes, ppn)]
        collectives = sorted({c for p in decision.plans if (p.nodes, p.ppn) == (nodes, ppn) for c in p.gain})
        shapes.append(
            {
                "title": _("{nodes} × {ppn} ranks").format(nodes=count(nodes, "node"), ppn=ppn),
                "launch": str(plan.launch) if plan.launch else "",
                "axis": ratio_axis(scale) if any(r["mark"] for case in cases for r in case["rules"]) else "",
                "collectives": collectives,
                "cases": cases,
                **_envelopes(of_shape(views, nodes, ppn)),
                "plans": [_plan_row(p, collectives) for p in decision.plans if (p.nodes, p.ppn) == (nodes, ppn)],
            }
        )
    return shapes


def _envelopes(views: Sequence[CaseView]) -> dict[str, Any]:
    """How far the chosen curves are from the best of everything."""
    found = [one for view in views if (one := envelope(view)) is not None]
    drawn = envelope_figure(found)
    return {
        "envelope": rows(found),
        "envelope_figure": drawn[0] if drawn else None,
        "envelope_legend": drawn[1] if drawn else [],
    }


def _plan_row(plan: Plan, collectives: Sequence[str]) -> dict[str, Any]:
    return {
        "launch": short_setting(plan.launch),
        "gains": [plan.gain.get(c) for c in collectives],
        "rules": rule_count(plan) or "",
    }


def _case_rules(view: CaseView, decision: Decision, scale: RatioScale) -> dict[str, Any]:
    """Rows of the decision table; where nothing is set there is no gain to tell."""
    launch = as_measured(view.plan.launch)  # without what by itself changes nothing
    as_launched = _("default") if launch.is_default else _("as launched")
    rows: list[dict[str, Any]] = []
    for rule in view.rules:
        changes = bool(launch or rule.call)
        rows.append(
            {
                "range": format_range(rule.first, rule.last),
                "setting": short_setting(rule.call) if rule.call else as_launched,
                "quiet": not rule.call,
                "gain": rule.gain if changes else None,
                "mark": interval_mark(scale, rule.gain, decision.margin) if changes else "",
                "sizes": len(rule.sizes),
                "launches": rule.launches if changes else "",
            }
        )
    if not rows:
        changes = bool(launch and view.gain)
        rows.append(
            {
                "range": _("all sizes"),
                "setting": as_launched,
                "quiet": True,
                "gain": view.gain if changes else None,
                "mark": interval_mark(scale, view.gain, decision.margin) if changes and view.gain else "",
                "sizes": len(view.sizes),
                "launches": "",
            }
        )
    gain = None if view.keeps_default else view.gain
    return {"name": view.case.collective, "gain": gain, "rules": rows}


def case_sections(views: Sequence[CaseView], decision: Decision, proven: Mapping[Case, Proven]) -> list[dict[str, Any]]:
    """In order; the one that gains most is open when the page is."""
    best = max(views, key=lambda view: view.gain.mid if view.gain else 0.0, default=None)
    return [{**_case(view, decision, proven.get(view.case)), "open": view is best} for view in views]


def _case(view: CaseView, decision: Decision, proven: Proven | None) -> dict[str, Any]:
    figure, legend = latency_figure(view, decision.margin, proven)
    case = view.case
    used = [short_setting(view.plan.launch)] if view.plan.launch else []
    used.append(", ".join(f"{rule_words(r)} {format_range(r.first, r.last)}" for r in view.rules if r.call))
    return {
        "view": view,
        "name": translated(str(case)),
        "id": f"case-{case.collective}-{case.nodes}x{case.ppn}",
        "ranks": f"{case.nodes} × {case.ppn}",
        "spark": sparkline(view),
        "what": ": ".join(u for u in used if u) or _("the default is kept"),
        "zooms": zoom_groups(view.sizes),
        "latency": figure,
        "legend": legend,
        "latency_note": _latency_note(view, decision),
        "steps": step_figures(view, decision),
        "launches": launch_panels(view, decision),
        "map": gain_map(view),
        "numbers": _numbers(view),
    }


def _latency_note(view: CaseView, decision: Decision) -> str:
    words = [
        _("Bands: {confidence:.0%} interval over launches.").format(confidence=decision.confidence),
        _("Below: the gain over the default at the same sizes. Grey: the margin."),
    ]
    if any(rule.call for rule in view.rules):
        words.append(_("The strip at the bottom shows which rule serves which sizes."))
    distances = [e.time.mid / view.floors[e.size] for e in view.chosen if view.floors.get(e.size, 0) > 0]
    if distances:
        average, best = format_ratio(geometric_mean(distances)), format_ratio(min(distances))
        said = _("The chosen setting takes {average} the {bound} on average, at best {best}.")
        words.append(said.format(average=average, bound=_(view.bound), best=best))
    return " ".join(words)


def _numbers(view: CaseView) -> list[dict[str, Any]]:
    rows = []
    for size in view.sizes:
        setting = view.chosen_at(size)
        chosen = view.estimates.get(setting, {}).get(size)
        default = view.estimates.get(DEFAULT, {}).get(size)
        counts = view.repetitions.get((size, setting))
        floor = view.floors.get(size)
        rows.append(
            {
                "size": format_size(size),
                "default": format_time(default.time.mid) if default else "",
                "chosen": format_time(chosen.time.mid) if chosen else _("not measured"),
                "setting": short_setting(setting),
                "gain": chosen.gain if chosen and not setting.is_default else None,
                "launches": chosen.launches if chosen else "",
                "discarded": _("{count} of {total}").format(
                    count=counts.discarded, total=counts.kept + counts.discarded
                )
                if counts
                else "",
                "floor": format_time(floor) if floor else "",
                "distance": format_ratio(chosen.time.mid / floor) if floor and chosen else "",
            }
        )
    return rows


def limits(study: StudyData, views: Sequence[CaseView]) -> list[dict[str, Any]]:
    """Per (nodes, ppn) whose limits were measured."""
    found = []
    for nodes, ppn in sorted(study.limits):
        measured = limits_of(study, nodes, ppn)
        if measured is None:
            continue
        far = distance(of_shape(views, nodes, ppn))
        link = measured.link.bandwidth if measured.link else []
        figures = [
            (
                _("Copying what has just been written"),
                bandwidth(
                    measured.copy_rates,
                    _("one rank alone"),
                    _("all ranks"),
                    _("all ranks, each what it has written itself"),
                ),
            ),
            (_("Messages between two nodes"), bandwidth(link, _("one pair of ranks"), _("all pairs"))),
            (_("One-way latency between the ranks' cores"), core_latency(measured)),
        ]
        found.append(
            {
                "title": _("{nodes} × {ppn} ranks").format(nodes=count(nodes, "node"), ppn=ppn),
                "sentence": " ".join(filter(None, [limits_sentence(measured), _fabric_sentence(study, nodes)])),
                "beaten": beaten_sentence(of_shape(views, nodes, ppn)),
                "distance": far[0] if far else None,
                "legend": far[1] if far else [],
                "figures": [(name, figure) for name, figure in figures if figure is not None],
            }
        )
    return found


def _fabric_sentence(study: StudyData, nodes: int) -> str:
    slow = slowest_of(study, nodes)
    if slow is None:
        return ""
    return _(
        "In the measured fabric, {node} has the slowest link ({rate:.3g} GB/s), and the most distant node "
        "answers after {latency}; both limit every collective that passes all nodes."
    ).format(node=slow.node, rate=slow.rate / 1e9, latency=format_time(slow.latency))


def beaten_sentence(views: Sequence[CaseView]) -> str:
    """Whether anything was quicker than its limit, which no limit can be."""
    below = [(estimate, view) for view in views if (estimate := view.beaten)]
    if not below:
        return _("No measured collective is quicker than its limit.") if any(view.floors for view in views) else ""
    estimate, view = min(below, key=lambda pair: pair[0].time.mid / pair[1].floors[pair[0].size])
    share = format_ratio(estimate.time.mid / view.floors[estimate.size])
    return _(
        "{collective} of {size} takes only {share} of the computed limit ({setting}), so that value is a "
        "reference here and not a limit."
    ).format(
        collective=view.case.collective,
        size=format_size(estimate.size),
        share=share,
        setting=short_setting(estimate.setting),
    )


def limits_sentence(measured: Limits) -> str:
    """The limits in words, for those who want one number."""
    if measured.unavailable is not None:
        return _("Not measured: {reason}.").format(reason=translated(measured.unavailable))
    words = []
    if measured.latency_ns is not None:
        flag = format_time(measured.latency_ns * 1e-9)
        words.append(_("A flag travels between two cores in {time} at best.").format(time=flag))
    if measured.copy_rates:
        best = max(measured.copy_rates, key=lambda rate: rate.gbps_one)
        together = max(rate.gbps_all for rate in measured.copy_rates)
        words.append(
            _(
                "One rank copies at up to {one:.1f} GB/s ({size} at a time), all together at up to {together:.1f} GB/s."
            ).format(one=best.gbps_one, size=format_size(best.bytes), together=together)
        )
    if measured.link is not None:
        fastest = max((max(rate.gbps_one, rate.gbps_all) for rate in measured.link.bandwidth), default=0.0)
        said = (
            _("A message between two nodes takes {time} at best; their link carries up to {fastest:.3g} GB/s each way.")
            if fastest
            else _("A message between two nodes takes {time} at best.")
        )
        words.append(said.format(time=format_time(measured.link.latency_ns * 1e-9), fastest=fastest))
    return " ".join(words)
