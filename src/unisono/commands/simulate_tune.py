"""`unisono simulate tune`: a study on a machine that is not here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unisono.commands.console import err, out, print_json
from unisono.commands.interrupted import terminated_like_interrupted
from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.numbers import whole_number
from unisono.core.sizes import format_size, parse_size
from unisono.core.vocabulary import Case, Setting
from unisono.core.writing import write as write_file
from unisono.simulate.files import platform, text
from unisono.simulate.fit import fit
from unisono.simulate.platforms import Platform
from unisono.simulate.programs import unavailable
from unisono.simulate.study import COLLECTIVES, RANKS_MOST, SELECTORS, Wanted, begin, fill, resume
from unisono.study.config import parse_duration
from unisono.study.files import Outputs

_COLLECTIVES = ("allgather", "allreduce", "alltoall", "bcast")
_SIZES = ("8", "256", "8K", "256K")


@dataclass(frozen=True, slots=True)
class Wishes:
    """The command line, as given; None and [] where nothing was said."""

    platform: str | None
    study: Path | None
    """To which a platform is fitted."""
    nodes: str | None
    ppn: int | None
    output: Path
    collectives: list[str]
    sizes: list[str]
    algorithms: list[str]
    selector: str
    deadline: str
    resume: bool
    json: bool


def simulate_tune(wishes: Wishes) -> int:
    """Simulates, decides, writes study.db, tuning.toml and report.html. Exit status 0."""
    from unisono.decide.document import from_decision
    from unisono.report.report import write_report
    from unisono.search.verdict import decide_study
    from unisono.tuning import write
    from unisono.tuning.show import show

    if (wishes.platform is None) == (wishes.study is None):
        raise UserError(_("name the machine with --platform NAME or with --from STUDY.db, but not with both"))
    if wishes.study is None:
        assert wishes.platform is not None
        wanted = _wanted(wishes, platform(wishes.platform))
        if reason := unavailable():
            raise UserError(reason)
    else:
        if reason := unavailable():
            raise UserError(reason)
        wanted = _wanted(wishes, _fitted(wishes.study, wishes.output / "platform.toml", wishes.resume))
    outputs = Outputs(wishes.output)
    there = wishes.resume and outputs.study.exists()
    total = sum(len(wanted.settings(case.collective)) for case in wanted.cases)
    number = 0

    def progress(case: Case, setting: Setting, seconds: float | None) -> None:
        nonlocal number
        number += 1
        took = _("{seconds:.1f} s").format(seconds=seconds) if seconds is not None else _("not all sizes")
        words = setting.get("algorithm", _("default"))
        err().print(f"  {number}/{total}: {case.collective} {case.nodes} x {case.ppn}, {words}: {took}", markup=False)

    opened = (resume if there else begin)(outputs.study, wanted)
    with terminated_like_interrupted(), opened as store:
        fill(store, wanted, progress)
        data = store.data()
    decision = decide_study(data)
    tuning = from_decision(decision, data)
    write(tuning, outputs.tuning)
    write_report(data, decision, outputs.report, tuning=tuning, verification=None)
    if wishes.json:
        print_json({"study": str(outputs.study), "tuning": str(outputs.tuning), "report": str(outputs.report)})
        return 0
    out().print(show(tuning))
    err().print(_("Decided: {tuning}, {report}").format(tuning=outputs.tuning, report=outputs.report), markup=False)
    return 0


def _fitted(study: Path, path: Path, again: bool) -> Platform:
    """The platform of a study, kept in a file that is taken up `again`."""
    if again and path.exists():
        return platform(str(path))
    with terminated_like_interrupted():
        found = fit(study, lambda sentence: err().print(f"  {sentence}", markup=False))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, text(found.platform))
    err().print(_("Platform: {path}").format(path=path), markup=False)
    for error in found.errors:
        err().print(f"  {error}", markup=False)
    return platform(str(path))


def _wanted(wishes: Wishes, found: Platform) -> Wanted:
    """What the command line asks for. Raises UserError."""
    for name in wishes.collectives:
        if name not in COLLECTIVES:
            raise UserError(
                _("--collective {name}: cannot be simulated; write one of {known}").format(
                    name=name, known=", ".join(COLLECTIVES)
                )
            )
    if wishes.selector not in SELECTORS:
        raise UserError(
            _("--selector {selector}: is unknown; write one of {known}").format(
                selector=wishes.selector, known=", ".join(SELECTORS)
            )
        )
    nodes = [found.nodes]
    if wishes.nodes is not None:
        nodes = [whole_number(word.strip(), "--nodes", most=RANKS_MOST) for word in wishes.nodes.split(",")]
    sizes = {parse_size(word, "--size") for word in wishes.sizes or _SIZES}
    if min(sizes) < 1:
        raise UserError(_("--size {size}: nothing is sent; write 1 or more").format(size=format_size(min(sizes))))
    return Wanted(
        found,
        tuple(dict.fromkeys(nodes)),
        wishes.ppn if wishes.ppn is not None else found.cores,
        tuple(dict.fromkeys(wishes.collectives or _COLLECTIVES)),
        tuple(sorted(sizes)),
        tuple(dict.fromkeys(wishes.algorithms)),
        wishes.selector,
        parse_duration(wishes.deadline, "--deadline"),
    )
