"""`unisono hybrid`: the best processes x threads layout, for the solver or a user's own program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from unisono.advise.runs import Metric
from unisono.commands.console import err, out, print_json
from unisono.commands.interrupted import terminated_like_interrupted
from unisono.commands.userline import words_of
from unisono.errors import UserError
from unisono.hybrid.decide import decide
from unisono.hybrid.lines import line, own_line
from unisono.hybrid.run import Result, measure, results
from unisono.hybrid.show import ranking
from unisono.hybrid.solver import solver_program, solver_words
from unisono.hybrid.variants import Variant, variants
from unisono.launch.command import Command
from unisono.launch.hosts import parse_hosts
from unisono.machine.describe import describe
from unisono.machine.fingerprint import differences
from unisono.machine.model import Machine
from unisono.report.hybrid import content
from unisono.report.page import render
from unisono.study.config import parse_duration
from unisono.study.store import Store
from unisono.writing import write

LineOf = Callable[[Variant], Command]

CONFIDENCE = 0.95


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


def hybrid(wishes: Wishes) -> int:
    """Exit status 0; 1 when the machine was too restless for a conclusion or nothing could be measured."""
    solver = not wishes.argv
    if solver and wishes.metric is not None:
        raise UserError("--metric is of a program of yours: write its command after --")
    if wishes.rounds < 1:
        raise UserError(f"--rounds {wishes.rounds}: at least one is needed")
    machine = describe(wishes.mpirun, wishes.mpicc, parse_hosts(wishes.hosts) if wishes.hosts else None)
    compared, notes = variants(
        machine,
        layouts=wishes.layouts,
        numa=wishes.numa,
        packing=wishes.packing,
        links=wishes.links.split(",") if wishes.links else [],
        nodes=_counts(wishes.nodes),
        solver=solver,
    )
    for note in notes:
        err().print(f"Note: {note}", markup=False)
    lines = _lines(wishes, machine)
    if wishes.dry_run:
        for variant in compared:
            print(lines(variant).shell)  # noqa: T201 - lines to paste, however long
        return 0
    with terminated_like_interrupted(), _opened(wishes, machine, compared) as store:
        finished = measure(
            store,
            compared,
            lines,
            None if solver else Metric(wishes.metric),
            rounds=wishes.rounds,
            deadline=parse_duration(wishes.timeout, "--timeout"),
            budget=parse_duration(wishes.budget, "--budget") if wishes.budget else None,
            progress=_told,
        )
        for note in notes:
            store.add_note(note)
        measured = results(store, compared)
        decision = decide(measured, compared, CONFIDENCE)
        study = store.data()
        failed = sorted(
            {f"{row.setting}: {row.status}: {row.reason}" for row in store.launches() if _has_failed(row.status)}
        )
    for sentence in failed:
        err().print(f"Failed: {sentence}", markup=False)
    if not finished:
        err().print("The budget ended it; continue with --resume.")
    if decision is None:
        raise UserError("no launch gave a result" + (f": {failed[0]}" if failed else ""))
    page = write(wishes.output / "hybrid.html", render("hybrid.html.j2", content(study, decision, measured)))
    err().print(f"Report: {page}", markup=False)
    if wishes.json:
        print_json({**decision.as_dict(), "machine": machine.name, "notes": notes, "failed": failed})
    else:
        out().print(ranking(decision))
    return 0 if decision.concluded else 1


def _has_failed(status: str) -> bool:
    return status not in ("done", "interrupted", "running")


def _counts(text: str) -> list[int]:
    words = text.split(",")
    if not all(word.strip().isdecimal() for word in words):
        raise UserError(f"--nodes {text}: write numbers of nodes, for example 1,2,4")
    return sorted({int(word) for word in words})


def _lines(wishes: Wishes, machine: Machine) -> LineOf:
    if wishes.argv:
        words = words_of(wishes.argv)
        return lambda variant: own_line(machine, variant, words)
    if machine.mpi is None or machine.mpi.mpicc is None:
        raise UserError("no mpicc beside this mpirun: give one with --mpicc, it builds the solver")
    program = solver_program(machine.mpi.mpicc, lambda sentence: err().print(sentence, markup=False))
    return lambda v: line(machine, v, solver_words(program, wishes.size, v.layout.threads, v.packing, []))


def _opened(wishes: Wishes, machine: Machine, compared: list[Variant]) -> Store:
    path = wishes.output / "hybrid.db"
    asked = " ".join(wishes.argv) if wishes.argv else f"solver {wishes.size}"
    if not (wishes.resume and path.exists()):
        meta = {"margin": 0.03, "confidence": CONFIDENCE, "weights": {}, "scope": []}
        return Store.create(path, name=f"hybrid: {asked}", config=asked, method="hybrid", machine=machine, meta=meta)
    store = Store.open(path, write=True)
    try:
        if store.meta("method") != "hybrid" or store.config != asked:
            raise UserError(f"{path}: holds another study ({store.meta('name')}); choose another -o DIR")
        changed = differences(store.machine, machine)
        if changed:
            raise UserError(f"{path}: was begun on a machine that differs: {'; '.join(changed)}. Choose another -o DIR")
        store.mark_interrupted()
    except BaseException:
        store.close()
        raise
    return store


def _told(result: Result, done: int, total: int) -> None:
    value = f"{result.seconds:.4g} s" if result.seconds is not None else f"failed: {result.reason}"
    err().print(f"  {done}/{total} round {result.round + 1}, {result.variant.name}: {value}", markup=False)
