"""`unisono compare`: studies case by case, or the MPIs of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from unisono.commands.console import err, out, print_json
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.study.data import StudyData
from unisono.study.store import Store

if TYPE_CHECKING:
    from unisono.decide.compare import Comparison


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options of `unisono compare`, as given; None and [] where nothing was said."""

    output: Path | None
    json: bool
    budget: str | None
    resume: bool
    collectives: list[str]
    ppn: int | None
    sizes: list[str]
    hosts: str | None
    study: str | None = None
    """What --mpis measures: a study file, or the name of a ready-made study; it is the argument of the command."""

    def only_with_mpis(self) -> list[str]:
        """The options given that only `--mpis` has."""
        given = {
            "--budget": self.budget is not None,
            "--resume": self.resume,
            "--collective": bool(self.collectives),
            "--ppn": self.ppn is not None,
            "--size": bool(self.sizes),
            "--hosts": self.hosts is not None,
        }
        return [option for option, said in given.items() if said]


def compare(paths: Sequence[Path], mpis: str | None, wishes: Wishes) -> int:
    """Exit status 0; raises UserError."""
    if mpis is None:
        if options := wishes.only_with_mpis():
            raise UserError(
                _(
                    "{options}: can only be used with --mpis, which measures; without --mpis, compare only reads "
                    "finished studies"
                ).format(options=", ".join(options))
            )
        _compare_files(paths, output=wishes.output, json=wishes.json)
        return 0
    named = [str(path) for path in paths]
    if len(named) > 1 or any(name.endswith(".db") for name in named):
        raise UserError(
            _(
                "{path}: --mpis makes its own studies; name one study file to measure, as in unisono compare "
                "quick --mpis all, or leave --mpis out to compare finished studies"
            ).format(path=named[0])
        )
    from unisono.commands.comparing_mpis import compare_mpis

    return compare_mpis(mpis, replace(wishes, study=named[0] if named else None))


def _compare_files(paths: Sequence[Path], *, output: Path | None, json: bool) -> None:
    """Studies that differ in boot settings, versions or machines."""
    from unisono.hybrid.study import is_hybrid

    if len(paths) < 2:
        raise UserError(
            _("compare needs two studies or more: unisono compare A.db B.db; --mpis all measures and compares MPIs")
        )
    studies: list[StudyData] = []
    hybrid: list[Path] = []
    held: dict[str, Path] = {}
    for path in paths:
        with Store.open(path) as store:
            if is_hybrid(store):
                hybrid.append(path)
            studies.append(store.data())
        # Two files of one id share launches, also where one was resumed later: they tell nothing of one another.
        if (same := held.setdefault(studies[-1].id, path)) is not path:
            sentence = _(
                "Note: {first} and {second} hold the same study, so a difference between them says nothing; name two "
                "studies to compare"
            )
            err().print(sentence.format(first=same, second=path), markup=False, soft_wrap=True)
    if hybrid:
        others = [path for path in paths if path not in hybrid]
        if others:
            raise UserError(
                _(
                    "{hybrid} holds layouts, but {others} holds collectives: such studies cannot be compared with "
                    "each other"
                ).format(hybrid=hybrid[0], others=others[0])
            )
        _compare_layouts(paths, output=output, json=json)
        return
    compare_studies(studies, output=output, json=json)


def compare_studies(studies: Sequence[StudyData], *, output: Path | None, json: bool) -> Comparison:
    """Compares, prints, and writes the page if there is to be one."""
    from unisono.decide.compare import compare as compared
    from unisono.report.report import write_comparison_report

    comparison = compared(*studies)
    if output is not None:
        write_comparison_report(comparison, studies, output)
        err().print(_("Comparison: {output}").format(output=output), markup=False)
    if json:
        print_json(comparison.as_dict())
    else:
        out().print(comparison.table())
    return comparison


def _compare_layouts(paths: Sequence[Path], *, output: Path | None, json: bool) -> None:
    from unisono.hybrid.compare import compare as compare_layouts
    from unisono.hybrid.show import comparison as shown
    from unisono.hybrid.study import HybridStudy, read
    from unisono.report.hybrid_comparison import write_hybrid_comparison

    studies: list[HybridStudy] = []
    for path in paths:
        with Store.open(path) as store:
            studies.append(read(store))
    comparison = compare_layouts(studies)
    if output is not None:
        write_hybrid_comparison(comparison, studies, output)
        err().print(_("Comparison: {output}").format(output=output), markup=False)
    if json:
        print_json(comparison.as_dict())
    else:
        out().print(shown(comparison))
