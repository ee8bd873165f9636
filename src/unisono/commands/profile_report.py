"""unisono profile report: a profile as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unisono.commands.console import err
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.vocabulary import SIMULATED

if TYPE_CHECKING:
    from unisono.core.vocabulary import Case
    from unisono.report.view import CaseView
    from unisono.tuning.contents import Tuning


def profile_report(profile: Path, output: Path, *, tuning: Path | None = None, study: Path | None = None) -> int:
    """Write the explorer of a profile, Unisono's own or another tool's.

    With `tuning` its gains stand beside the program's message sizes, with `study` the measured times too (and the
    study's own decision where there is no `tuning`). Raises UserError.
    """
    from unisono.profile.importers import import_profile
    from unisono.report.explorer.page import write_explorer
    from unisono.tuning import read

    loaded = import_profile(profile)
    chosen = read(tuning) if tuning is not None else None
    views = None
    if study is not None:
        decided, views = _study(study)
        chosen = chosen or decided
    written = write_explorer(loaded, output, name=profile.stem, tuning=chosen, views=views)
    err().print(_("Explorer: {written}").format(written=written), markup=False)
    return 0


def _study(path: Path) -> tuple[Tuning, dict[Case, CaseView]]:
    """What a study decided, and its cases."""
    from unisono.decide.document import from_decision
    from unisono.report.view import case_views
    from unisono.search.verdict import decide_study
    from unisono.study.store import Store

    with Store.open(path) as store:
        data = store.data()
    if data.method == SIMULATED:
        raise UserError(
            _("{path}: is a simulated study; a profile can only be shown with a study that was measured").format(
                path=path
            )
        )
    decision = decide_study(data)
    return from_decision(decision, data), {view.case: view for view in case_views(data, decision)}
