"""One study out of several that asked the same for different numbers of nodes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import _, translated
from unisono.machine.fingerprint import differences
from unisono.study import database
from unisono.study.begin import stored_study
from unisono.study.config import Study
from unisono.study.data import NEVER
from unisono.study.rows import words
from unisono.study.store import Store

_COLUMNS = {
    "launch": "setting, nodes, ppn, round, status, reason, started, seconds, command, oversubscribed, stderr, hello",
    "sample": "collective, size, setting, repetitions, discarded, sync, minimum, q1, median, q3, p95, mean, trimmed,"
    " correct, state, raw, condition, inside",
    "refusal": "collective, size, setting, reason",
}


def merge(paths: Sequence[Path], into: Path) -> Path:
    """Writes the study `into`, in place of one that was merged there before; `paths` stay as they are.

    Its identity follows from theirs, so that merging again gives the same study with what came since. Raises UserError
    where they were measured on machines that differ, or ask for different things, or `into` is a study of its own.
    """
    _check_replaceable(into)
    with contextlib.ExitStack() as opened:
        stores = sorted((opened.enter_context(Store.open(path)) for path in paths), key=_nodes)
        whole = stores[-1]
        for store in stores:
            _check_alike(store, whole)
        study = stored_study(whole)
        cases = study.cases.model_copy(
            update={"nodes": [count for s in stores for count in stored_study(s).cases.nodes]}
        )
        identity = hashlib.sha256(" ".join(store.meta("id") for store in stores).encode()).hexdigest()[:12]
        values = {key: whole.meta(key) for key in ("margin", "confidence", "weights", "scope")}
        meta = {**{key: json.loads(text) for key, text in values.items()}, "merged": [str(path) for path in paths]}
        meta[NEVER] = sorted(
            {setting for store in stores for setting in words(store.meta_or_none(NEVER), NEVER, store.path)}
        )
        config = study.model_copy(update={"cases": cases}).model_dump_json(by_alias=True)
        partial = into.with_name(f"{into.name}.merging")
        partial.unlink(missing_ok=True)
        made = Store.create(
            partial, name=study.study.name, config=config, method=study.method.name, machine=whole.machine, meta=meta
        )
        made.close()
        with database.disk_errors(into), contextlib.closing(database.connect(partial)) as db:
            db.execute("BEGIN")
            db.execute("UPDATE meta SET value=? WHERE key='id'", (identity,))
            db.execute("UPDATE meta SET value=? WHERE key='created'", (stores[0].meta("created"),))
            for store in stores:
                _add(db, store.path)
            db.execute("COMMIT")
        partial.replace(into)
    return into


def _nodes(store: Store) -> int:
    return len(store.machine.nodes)


def _check_replaceable(into: Path) -> None:
    if not into.exists():
        return
    with Store.open(into) as there:
        if there.meta_or_none("merged") is None:
            raise UserError(
                _("{path}: holds a study of its own, not one merged from jobs; choose another -o DIR").format(path=into)
            )


def _check_alike(store: Store, whole: Store) -> None:
    if changed := differences(whole.machine, store.machine):
        raise UserError(
            _("{path}: was measured on a machine that differs from that of {other}: {changed}").format(
                path=store.path, other=whole.path, changed="; ".join(map(translated, changed))
            )
        )

    def but_for_nodes(study: Study) -> Study:
        method = study.method.model_copy(update={"budget": None})
        return study.model_copy(update={"cases": study.cases.model_copy(update={"nodes": [1]}), "method": method})

    if but_for_nodes(stored_study(store)) != but_for_nodes(stored_study(whole)):
        raise UserError(
            _("{path}: asks for something else than {other}; they cannot be merged").format(
                path=store.path, other=whole.path
            )
        )


def _add(db: sqlite3.Connection, path: Path) -> None:
    """All of another study, its launches with numbers behind those that are there."""
    with contextlib.closing(database.connect_to_read(path)) as other:
        behind = int(db.execute("SELECT coalesce(max(id), 0) FROM launch").fetchone()[0])

        def copy(table: str, numbers: str) -> None:
            columns = f"{numbers}, {_COLUMNS[table]}"
            places = ", ".join("?" * (columns.count(",") + 1))
            for number, *rest in other.execute(f"SELECT {columns} FROM {table}"):
                db.execute(f"INSERT INTO {table} ({columns}) VALUES ({places})", (behind + number, *rest))

        copy("launch", "id")
        copy("sample", "launch")
        copy("refusal", "launch")
        for nodes, ppn, launch, value in other.execute("SELECT nodes, ppn, launch, value FROM limits"):
            db.execute("INSERT INTO limits VALUES (?,?,?,?)", (nodes, ppn, behind + launch, value))
        db.executemany("INSERT OR IGNORE INTO note VALUES (?)", other.execute("SELECT text FROM note").fetchall())
