"""Begins a study, or finds the one that is there and checks that it may be continued."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from unisono.core.errors import UserError
from unisono.core.language import N_, _, translated
from unisono.core.toml import explain_validation
from unisono.core.vocabulary import SIMULATED
from unisono.machine.description import Machine
from unisono.machine.fingerprint import differences
from unisono.study.config import Study
from unisono.study.matrix import Matrix
from unisono.study.ours import Ours, as_text
from unisono.study.rows import TEXT
from unisono.study.store import Store

_SHOWN = 80
"""Of a value that differs: more would hide the sentence."""


def begin(path: Path, study: Study, machine: Machine, matrix: Matrix, ours: Ours | None = None) -> Store:
    """A new study file for this matrix, made with what `ours` offers. Raises UserError as `Store.create` does."""
    store = Store.create(
        path,
        name=study.study.name,
        config=study.model_dump_json(by_alias=True),
        method=study.method.name,
        machine=machine,
        meta={
            "margin": study.method.margin,
            "confidence": study.method.confidence,
            "weights": study.weights,
            "scope": matrix.scope,
            **({"ours": as_text(ours.candidates)} if ours is not None else {}),
            **({"reproducible": study.method.reproducible} if study.method.reproducible else {}),
        },
    )
    for note in matrix.notes:
        store.add_note(note)
    return store


def stored_candidates(store: Store) -> str | None:
    """What our library offered when the study began, as text; None for a study without it."""
    return store.value_or_none("ours", TEXT)


def stored_study(store: Store) -> Study:
    """The study as it was asked for when it began. Raises UserError for one that `unisono hybrid` made."""
    if store.meta("method") == "hybrid":
        raise UserError(
            _("{path}: compares layouts; continue it with unisono hybrid --resume -o {folder}").format(
                path=store.path, folder=shlex.quote(str(store.path.parent))
            )
        )
    try:
        return Study.model_validate_json(store.config)
    except ValidationError as error:
        raise UserError(explain_validation(_("{path}: the study it holds").format(path=store.path), error)) from error


def _but_for_budget(asked: Study, held: Study) -> Study:
    """How long to measure is of a run of the driver, not of the study."""
    return asked.model_copy(update={"method": asked.method.model_copy(update={"budget": held.method.budget})})


def _apart(asked: Mapping[str, Any], held: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Where two documents differ: "cases.ppn: 2 there, 4 asked for"."""
    for name in held:
        mine, theirs = asked.get(name), held[name]
        if mine == theirs:
            continue
        if isinstance(mine, dict) and isinstance(theirs, dict) and mine.keys() == theirs.keys():
            yield from _apart(mine, theirs, f"{above}{name}.")
        else:
            yield _("{name}: the study has {there}, you ask for {asked}").format(
                name=f"{above}{name}", there=_shown(theirs), asked=_shown(mine)
            )


def _shown(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if text and len(text) <= _SHOWN else f"{text[:_SHOWN]}..." if text else _("none")


def refuse_unmeasured(path: Path, store: Store) -> None:
    """Raises UserError for a study that `unisono tune` did not begin."""
    if store.meta_or_none("imported") is not None:
        raise UserError(
            _("{path}: was imported from other benchmarks and cannot be continued; choose another -o DIR").format(
                path=path
            )
        )
    if store.meta_or_none(SIMULATED) is not None:
        raise UserError(
            _("{path}: was simulated; continue it with unisono simulate tune --resume -o {folder}").format(
                path=path, folder=shlex.quote(str(path.parent))
            )
        )


def _starts(machine: Machine) -> str:
    """The words that start ranks in place of the MPI's own launcher; "": that one does."""
    return shlex.join(machine.mpi.launcher) if machine.mpi is not None else ""


def _mpirun(machine: Machine) -> str:
    return machine.mpi.mpirun if machine.mpi is not None else ""


def resume(path: Path, machine: Machine, *, asked: Study | None, force: bool) -> Store:
    """An existing study, ready to be continued. Raises UserError as `refuse_another` does."""
    store = Store.open(path, write=True)
    try:
        changed = _refuse(path, store, machine, asked, force)
        held = stored_study(store)
        if changed:
            store.add_note(
                N_("Continued by force although the machine had changed: {changed}.").format(changed="; ".join(changed))
            )
        before, today = ([node.host for node in m.nodes[: max(held.cases.nodes)]] for m in (store.machine, machine))
        if sorted(before) != sorted(today):
            store.add_note(
                N_(
                    "The study was continued on other nodes ({now}; begun on {before}), so differences between "
                    "nodes add to those between launches."
                ).format(now=_shown(today), before=_shown(before))
            )
        store.mark_interrupted()
    except BaseException:
        store.close()
        raise
    return store


def refuse_another(path: Path, machine: Machine, *, asked: Study | None, force: bool) -> None:
    """Raises UserError when another study is asked for than the file holds, when other means started its launches, or
    when the machine is not the one it was begun on (a study never mixes machines) and `force` is not given."""
    with Store.open(path) as store:
        _refuse(path, store, machine, asked, force)


def _refuse(path: Path, store: Store, machine: Machine, asked: Study | None, force: bool) -> list[str]:
    """What differs of the machine and is put up with."""
    refuse_unmeasured(path, store)
    if store.meta_or_none("merged") is not None:
        raise UserError(
            _("{path}: was merged from jobs; continue it with unisono tune --submit slurm --resume -o {folder}").format(
                path=path, folder=shlex.quote(str(path.parent))
            )
        )
    held = stored_study(store)
    if asked is not None and _but_for_budget(asked, held) != held:
        raise UserError(
            _(
                "{path}: holds another study than the one you ask for ({what}). To continue the study that "
                "is there: unisono tune --resume -o {folder}, without a study name and without options other "
                "than --budget. To measure what you ask for: choose another -o DIR"
            ).format(
                path=path,
                what="; ".join(_apart(_but_for_budget(asked, held).model_dump(), held.model_dump())),
                folder=shlex.quote(str(path.parent)),
            )
        )
    began, now = (_starts(m) for m in (store.machine, machine))
    if began != now:
        raise UserError(
            _("{path}: its launches were started by {began}, not by {now}; choose another -o DIR").format(
                path=path, began=began or _mpirun(store.machine), now=now or _mpirun(machine)
            )
        )
    changed = differences(store.machine, machine)
    if changed and not force:
        raise UserError(
            _(
                "{path}: was begun on a machine that differs: {changed}. A study never mixes machines: "
                "choose another -o DIR, or --force if the difference is harmless"
            ).format(path=path, changed="; ".join(map(translated, changed)))
        )
    return changed
