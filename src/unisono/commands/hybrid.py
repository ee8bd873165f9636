"""`unisono hybrid`: the best layout of processes and threads, for the solver or a user's own program."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from unisono.advise.runs import Metric
from unisono.cmdline.command import Command
from unisono.cmdline.hosts import parse_hosts
from unisono.commands.as_it_is import described
from unisono.commands.console import err, out, print_json
from unisono.commands.interrupted import terminated_like_interrupted
from unisono.commands.leftovers import remove_leftovers
from unisono.commands.progress import StudyProgress
from unisono.commands.remembered import compiler, launcher, started
from unisono.commands.userline import words_of
from unisono.core.errors import UserError
from unisono.core.language import _, listed, ngettext, translated
from unisono.core.numbers import whole_number
from unisono.core.vocabulary import NODES_MOST
from unisono.hybrid.keep import beside, layouts, with_layouts
from unisono.hybrid.lines import line, own_line
from unisono.hybrid.run import Result, measure, results
from unisono.hybrid.show import ranking
from unisono.hybrid.solver import SOLVER, check_memory, check_size, solver_program, solver_words
from unisono.hybrid.steady import sort_rounds
from unisono.hybrid.study import METHOD, SOLVER_METRIC, failures, is_hybrid, metric_of, read
from unisono.hybrid.variants import Variant, variants
from unisono.library.native import built_before
from unisono.machine.description import Machine
from unisono.machine.fingerprint import differences
from unisono.mpi.launchers import step
from unisono.report.hybrid import write_hybrid_report
from unisono.study.config import parse_duration
from unisono.study.files import Outputs
from unisono.study.store import Store
from unisono.tuning import write

LineOf = Callable[[Variant], Command]

CONFIDENCE = 0.95
_BESIDE = ["--beside", "10"]
"""How often the solver measures the bandwidth beside its iterations: enough to know what a launch had."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """The command line of `unisono hybrid`, as given."""

    argv: list[str]
    """The user's command; [] for the solver."""
    size: str
    metric: str | None
    layouts: str
    numa: str
    packing: str
    links: str | None
    nodes: str
    rounds: int
    timeout: str
    budget: str | None
    output: Path
    resume: bool
    dry_run: bool
    json: bool
    mpirun: str | None
    mpicc: str | None
    hosts: str | None
    launcher: str | None
    """Words that start ranks in place of mpirun: srun --mpi=pmix."""


UNDECIDED = 3


def hybrid(wishes: Wishes) -> int:
    """Exit status 0; UNDECIDED where there were too few rounds, or the machine was too restless, for a conclusion."""
    if wishes.resume and _file(wishes).exists():
        wishes = _continued(wishes)
    metric = _metric(wishes)
    if wishes.rounds < 1:
        raise UserError(_("--rounds {rounds}: at least one is needed").format(rounds=wishes.rounds))
    if wishes.resume and not wishes.dry_run:
        remove_leftovers()
    hosts = parse_hosts(wishes.hosts) if wishes.hosts is not None else None
    machine = described(wishes.mpirun, wishes.mpicc, hosts)
    machine = started(machine, step.parse(wishes.launcher) if wishes.launcher is not None else [])
    compared, notes = variants(
        machine,
        layouts=wishes.layouts,
        numa=wishes.numa,
        packing=wishes.packing,
        links=wishes.links.split(",") if wishes.links is not None else [],
        nodes=_counts(wishes.nodes),
        solver=not wishes.argv,
    )
    if not wishes.argv:
        check_memory(wishes.size, machine, min(_counts(wishes.nodes)))
    for note in notes:
        err().print(_("Note: {note}").format(note=translated(note)), markup=False, soft_wrap=True)
    lines = _lines(wishes, machine)
    if wishes.dry_run:
        print(  # noqa: T201 - lines to paste, however long
            ngettext(
                "# {count} line, launched again in each of --rounds {rounds}",
                "# {count} lines, launched in turns in each of --rounds {rounds}",
                len(compared),
            ).format(count=len(compared), rounds=wishes.rounds)
        )
        for variant in compared:
            print(lines(variant).shell)  # noqa: T201
        return 0
    tuning = Outputs(wishes.output).tuning
    there = beside(tuning, machine)
    with terminated_like_interrupted(), _begun(wishes, machine) as store:
        finished = _measure(wishes, store, compared, lines, metric)
        for note in notes:
            store.add_note(note)
        failed = failures(store.launches())
        try:
            study = read(store)
        except UserError:
            if failed:
                raise UserError(_("no launch gave a result: {reason}").format(reason=translated(failed[0]))) from None
            raise UserError(_("no launch gave a result")) from None
    for sentence in failed:
        err().print(_("Failed: {reason}").format(reason=translated(sentence)), markup=False, soft_wrap=True)
    if not finished and study.decision.concluded:
        err().print(_("The time of --budget has passed; continue with the same command and --resume."))
    elif not finished:  # how to go on is said below
        err().print(_("The time of --budget has passed."))
    page = write_hybrid_report(study, wishes.output / "hybrid.html")
    err().print(_("Report: {page}").format(page=page), markup=False)
    found = layouts(study.decision, study.data, study.program, study.metric)
    if found:
        write(with_layouts(there, found, study.data), tuning)
        how = _("Tuning: {tuning}; unisono run --tuning {tuning} --layout -- mpirun ... uses it").format(tuning=tuning)
        err().print(how, markup=False, soft_wrap=True)
    if wishes.json:
        document = {**study.decision.as_dict(), "machine": machine.name, "notes": notes, "failed": failed}
        print_json({**document, "tuning": str(tuning) if found else None})
    else:
        out().print(ranking(study.decision))
    return 0 if study.decision.concluded else UNDECIDED


def _file(wishes: Wishes) -> Path:
    return wishes.output / "hybrid.db"


def _continued(wishes: Wishes) -> Wishes:
    """With the MPI and the metric of the study that is there, where none is named."""
    with Store.open(_file(wishes)) as store:
        kept, metric = store.machine.mpi, metric_of(store)
    if wishes.argv and wishes.metric is None and metric not in (Metric(None).name, SOLVER_METRIC):
        wishes = replace(wishes, metric=metric)
    mpirun = launcher(wishes.mpirun, kept)
    words = shlex.join(kept.launcher) if kept is not None and kept.launcher else None
    return replace(wishes, mpirun=mpirun, mpicc=compiler(wishes.mpicc, mpirun, kept), launcher=wishes.launcher or words)


def _metric(wishes: Wishes) -> Metric | None:
    """None: the solver's own time."""
    if wishes.argv:
        return Metric(wishes.metric)
    if wishes.metric is not None:
        raise UserError(_("--metric needs a program of your own: write its command after --"))
    check_size(wishes.size)
    return None


def _measure(wishes: Wishes, store: Store, compared: Sequence[Variant], lines: LineOf, metric: Metric | None) -> bool:
    """False when the budget ended it before all was measured."""
    budget = parse_duration(wishes.budget, "--budget") if wishes.budget is not None else None
    deadline = parse_duration(wishes.timeout, "--timeout")
    left = wishes.rounds * len(compared) - len(results(store, compared))
    with StudyProgress(err(), samples=left, budget=budget) as progress:

        def begins(round: int, variant: Variant) -> None:
            progress.show(
                _("round {round}: {name} on {cores} cores").format(
                    round=round + 1, name=translated(variant.name), cores=variant.cores
                )
            )

        def repeat(measured: Sequence[Result]) -> bool:
            rounds = sort_rounds(measured)
            few = len(rounds.steady) < wishes.rounds
            if few and measured and not err().is_terminal:
                said = ngettext(
                    "{count} round with the same memory bandwidth so far: one more",
                    "{count} rounds with the same memory bandwidth so far: one more",
                    len(rounds.steady),
                ).format(count=len(rounds.steady))
                err().print(f"  {said}", markup=False)
            return few

        def ended(result: Result, done: int, total: int) -> None:
            progress.add(1)
            if not err().is_terminal:
                value = (
                    f"{result.seconds:.4g} s"
                    if result.seconds is not None
                    else _("failed: {reason}").format(reason=translated(result.reason))
                )
                what = _("round {number}, {layout}: {value}").format(
                    number=result.round + 1, layout=translated(result.variant.name), value=value
                )
                err().print(f"  {done}/{total} {what}", markup=False, soft_wrap=True)

        return measure(
            store,
            compared,
            lines,
            metric,
            rounds=wishes.rounds,
            deadline=deadline,
            budget=budget,
            repeat=repeat,
            begins=begins,
            progress=ended,
        )


def _counts(text: str) -> list[int]:
    return sorted({whole_number(word, "--nodes", most=NODES_MOST) for word in text.split(",")})


def _lines(wishes: Wishes, machine: Machine) -> LineOf:
    if wishes.argv:
        words = words_of(wishes.argv)
        return lambda variant: own_line(machine, variant, words)
    if machine.mpi is None or machine.mpi.mpicc is None:
        raise UserError(
            _("there is no mpicc beside this mpirun; name one with --mpicc, so that the solver can be built")
        )
    if wishes.dry_run:  # runs nothing, and a build takes minutes
        program = built_before(SOLVER, machine.mpi.mpicc) or Path(SOLVER.name)
    else:
        program = solver_program(machine.mpi.mpicc, lambda sentence: err().print(sentence, markup=False))
    return lambda v: line(machine, v, solver_words(program, wishes.size, v.layout.threads, v.packing, _BESIDE))


@contextmanager
def _begun(wishes: Wishes, machine: Machine) -> Iterator[Store]:
    """The study, while it is measured. One that ends in an error without a single result is not kept: the same command,
    corrected, would be refused because of it."""
    store, kept = _opened(wishes, machine), True
    try:
        with store:
            try:
                yield store
            except UserError:
                kept = bool(store.samples())
                raise
    finally:
        if not kept:
            store.path.unlink()


def _opened(wishes: Wishes, machine: Machine) -> Store:
    path = _file(wishes)
    asked = " ".join(words_of(wishes.argv)) if wishes.argv else f"solver {wishes.size}"
    metric = Metric(wishes.metric).name if wishes.argv else SOLVER_METRIC
    if not (wishes.resume and path.exists()):
        meta = {"margin": 0.03, "confidence": CONFIDENCE, "weights": {}, "scope": [], "metric": metric}
        return Store.create(path, name=f"hybrid: {asked}", config=asked, method=METHOD, machine=machine, meta=meta)
    store = Store.open(path, write=True)
    try:
        if not is_hybrid(store) or store.config != asked:
            raise UserError(
                _("{path}: holds another study ({name}); choose another -o DIR").format(
                    path=path, name=store.meta("name")
                )
            )
        if metric_of(store) != metric:
            raise UserError(
                _("{path}: was measured by {own}, not by {metric}; choose another -o DIR").format(
                    path=path, own=metric_of(store), metric=metric
                )
            )
        changed = differences(store.machine, machine)
        if changed:
            raise UserError(
                _("{path}: was begun on a machine that differs: {changes}. Choose another -o DIR").format(
                    path=path, changes=listed([translated(one) for one in changed])
                )
            )
        store.mark_interrupted()
    except BaseException:
        store.close()
        raise
    return store
