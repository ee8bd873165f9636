"""What is predicted for numbers of nodes not measured: what to use, how sure that is, and what would decide it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from unisono.core.language import _, translated
from unisono.core.vocabulary import as_measured
from unisono.extrapolate.pick import Pick
from unisono.extrapolate.plans import Predicted, over, to_decide
from unisono.report.text import count, format_range, format_time, short_setting


def predictions(predicted: Predicted | None) -> list[dict[str, Any]]:
    """One entry for each (nodes, ppn); empty where nothing is predicted."""
    if predicted is None:
        return []
    return [
        {
            "title": _("{nodes} × {ppn} ranks").format(nodes=count(plan.nodes, "node"), ppn=plan.ppn),
            "launch": str(plan.launch) if plan.launch else "",
            "rows": _rows([one for one in predicted.picks if _shape(one) == (plan.nodes, plan.ppn)]),
            "commands": [
                to_decide(launch)
                for launch in predicted.launches
                if (launch.case.nodes, launch.case.ppn) == (plan.nodes, plan.ppn)
            ],
            "kept": as_measured(plan.launch),
        }
        for plan in predicted.plans
    ]


def assumed(predicted: Predicted | None) -> list[str]:
    """Sentences: what the predictions rest on besides what was measured."""
    return [translated(text) for text in predicted.assumed] if predicted is not None else []


def _shape(one: Pick) -> tuple[int, int]:
    return one.case.nodes, one.case.ppn


def _rows(picks: Sequence[Pick]) -> list[dict[str, Any]]:
    """Neighbouring sizes of one collective with the same pick are one row."""
    rows = []
    for (case, setting, sure), group in groupby(picks, key=lambda one: (one.case, one.setting, one.is_sure)):
        run = list(group)
        others = dict.fromkeys(other for one in run for other in one.contenders if other != setting)
        rows.append(
            {
                "collective": case.collective,
                "range": format_range(run[0].size, run[-1].size),
                "setting": setting,
                "words": short_setting(setting),
                "times": " – ".join(dict.fromkeys(format_time(one.seconds.seconds) for one in (run[0], run[-1]))),
                "gain": over(run),
                "is_sure": sure,
                "sure": f"{min(one.sure for one in run):.0%}",
                "others": ", ".join(short_setting(other) or _("default") for other in list(others)[:_OTHERS]),
            }
        )
    return rows


_OTHERS = 4
"""Named in a row; the launch that would decide has them all."""
