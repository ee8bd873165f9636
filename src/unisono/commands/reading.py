"""Commands that only read: report, show."""

from __future__ import annotations

import json as json_module
from dataclasses import replace
from pathlib import Path
from typing import Any

from unisono.commands.console import err, out, print_json
from unisono.commands.remembered import launcher
from unisono.core.errors import UserError
from unisono.core.language import _, translated
from unisono.study.store import Store


def report(study: Path, output: Path) -> None:
    """Write the report of a study; a tuning and a verification are shown when the study has them."""
    from unisono.decide.document import from_decision
    from unisono.fabric.limit import beside
    from unisono.hybrid.study import is_hybrid
    from unisono.hybrid.study import read as read_hybrid
    from unisono.report.hybrid import write_hybrid_report
    from unisono.report.report import write_report
    from unisono.search.verdict import decide_study, stored_verification
    from unisono.study.rows import TEXT
    from unisono.tuning.proven import KEY, choices

    with Store.open(study) as store:
        if is_hybrid(store):
            written = write_hybrid_report(read_hybrid(store), output)
            err().print(_("Report: {written}").format(written=written), markup=False)
            return
        data = replace(store.data(), fabric=beside(study.parent))
        verification, proven = stored_verification(store), store.value_or_none(KEY, TEXT)
    decision = decide_study(data)
    tuning = from_decision(decision, data)
    if verification is not None and proven not in (None, choices(tuning)):
        verification = None
        err().print(
            _(
                "Note: the proof in {study} is left out, because the study was continued after it and may decide "
                "otherwise now; unisono tune --resume makes a new proof"
            ).format(study=study),
            markup=False,
        )
    written = write_report(data, decision, output, tuning=tuning, verification=verification)
    err().print(_("Report: {written}").format(written=written), markup=False)


def show(path: Path, *, json: bool) -> None:
    """A tuning as tables, and whether it still fits this machine."""
    from unisono.tuning import read
    from unisono.tuning.show import show as render

    tuning = read(path, layouts=True)
    changed = _stale(tuning)
    if json:
        document: dict[str, Any] = json_module.loads(tuning.model_dump_json(by_alias=True))
        print_json({**document, "stale": changed})
        return
    console = out()
    console.print(render(tuning))
    for sentence in changed or []:
        console.print(
            _("The tuning may not fit this machine: {difference}").format(difference=translated(sentence)),
            style="yellow",
            markup=False,
        )


def _stale(tuning: Any) -> list[str] | None:
    """How this machine differs from the one measured; None where there is no MPI to tell."""
    from unisono.inventory.describe import describe
    from unisono.tuning import stale

    try:
        return stale(tuning, describe(launcher(None, tuning.mpi)))
    except UserError:
        return None
