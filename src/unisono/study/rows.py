"""What a study file may hold. SQLite keeps whatever it is given, wherever: every row, and every JSON value in one, is
checked here when it is read, so that whoever works on a study need not look."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.functional_validators import AfterValidator

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.sizes import MOST
from unisono.core.toml import key_words
from unisono.core.vocabulary import (
    CALL_SCOPE,
    COLD,
    COLLECTIVES,
    NODES_MOST,
    PARTNERS_MOST,
    PPN_MOST,
    RANKS_MOST,
    STEP_MOST,
    USUAL,
    Condition,
    Level,
)

PROGRAM = "program"
"""What a sample of a whole program is filed under (unisono hybrid); its message size is 0."""


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError(_("has characters that cannot be printed"))
    return text


def _collective(name: str) -> str:
    if name not in COLLECTIVES and name != PROGRAM:
        raise ValueError(_("{name!r} is no collective").format(name=name[:40]))
    return name


Word = Annotated[str, Field(max_length=1000), AfterValidator(_printable)]
_Id = Annotated[int, Field(ge=0, lt=1 << 62)]
_Count = Annotated[int, Field(ge=0, lt=1 << 40)]
_Nodes = Annotated[int, Field(ge=1, le=NODES_MOST)]
_Ppn = Annotated[int, Field(ge=1, le=PPN_MOST)]
_Size = Annotated[int, Field(ge=0, le=MOST)]
_Flag = Annotated[int, Field(ge=0, le=1)]
_Seconds = Annotated[float, Field(ge=0, le=1e100, allow_inf_nan=False)]
"""A metric of a user's program may be in another unit; ratios of two stay numbers."""
_Key = Annotated[str, Field(max_length=1 << 16)]
_Collective = Annotated[str, AfterValidator(_collective)]
_STRICT = ConfigDict(strict=True)

Row = TypeAdapter[tuple[Any, ...]]

COLUMNS: dict[str, dict[str, Any]] = {
    "launch": {
        "id": _Id,
        "setting": _Key,
        "nodes": _Nodes,
        "ppn": _Ppn,
        "round": _Count,
        "status": Word,
        "reason": str,
        "seconds": _Seconds,
        "command": str,
        "oversubscribed": _Flag,
    },
    "sample": {
        "launch": _Id,
        "round": _Count,
        "collective": _Collective,
        "nodes": _Nodes,
        "ppn": _Ppn,
        "size": _Size,
        "setting": _Key,
        "repetitions": _Count,
        "discarded": _Count,
        "sync": Literal["clock", "barrier", "program", "imported", "simulated"],
        **dict.fromkeys(("minimum", "q1", "median", "q3", "p95", "mean", "trimmed"), _Seconds),
        "correct": _Flag | None,
        "state": Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)] | None,
        "condition": _Key,
        "inside": _Seconds | None,
    },
    "refusal": {"launch": _Id, "collective": _Collective, "size": _Size, "setting": _Key, "reason": str},
    "limits": {"nodes": _Nodes, "ppn": _Ppn, "value": str},
    "note": {"text": str},
    "hello": {"id": _Id, "hello": str},
}
"""What is read from each table, in the order of the query; "hello" is of the table of launches."""

LATER = {"condition": "TEXT NOT NULL DEFAULT ''", "inside": "REAL"}
"""Columns of samples that studies of earlier versions lack, and what they then hold."""

_ROWS: dict[str, Row] = {
    table: TypeAdapter(tuple[tuple(columns.values())], config=_STRICT)  # type: ignore[misc, arg-type]
    for table, columns in COLUMNS.items()
}

_COLUMNS: dict[str, list[TypeAdapter[list[Any]]]] = {
    table: [TypeAdapter(list[kind], config=_STRICT) for kind in columns.values()]  # type: ignore[valid-type]
    for table, columns in COLUMNS.items()
}

_SETTING = TypeAdapter(dict[str, str], config=_STRICT)
_Part = Annotated[float, Field(ge=0, lt=1)]
_Late = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
SHARE: TypeAdapter[float] = TypeAdapter(_Part, config=_STRICT)
WEIGHTS = TypeAdapter(dict[str, Annotated[float, Field(ge=0, le=1e100)]], config=_STRICT)
SCOPE: TypeAdapter[list[str]] = TypeAdapter(list[Literal[CALL_SCOPE]], config=_STRICT)  # type: ignore[valid-type]
YES = TypeAdapter(bool, config=_STRICT)
TEXT = TypeAdapter(str, config=_STRICT)
LEVEL: TypeAdapter[Level] = TypeAdapter(Level, config=_STRICT)
OBJECT = TypeAdapter(dict[str, Any], config=_STRICT)
WORD: TypeAdapter[str] = TypeAdapter(Word, config=_STRICT)
WORDS: TypeAdapter[list[str]] = TypeAdapter(list[Word], config=_STRICT)


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


_Rank = Annotated[int, Field(ge=0, lt=RANKS_MOST)]


_Operation = Annotated[int, Field(ge=0, le=4)]
_Bytes = Annotated[int, Field(ge=0, lt=2**31 - 1)]


class _Condition(_Strict):
    """`model.Condition.key`."""

    model_config = ConfigDict(strict=True, extra="forbid")
    cold: Literal[COLD] = ""  # type: ignore[valid-type]
    late: Annotated[list[_Late], Field(max_length=256)] = []
    drawn: _Late = 0.0
    seed: _Id = 1
    partners: Annotated[list[tuple[_Rank, _Rank]], Field(max_length=PARTNERS_MOST)] = []
    step: Annotated[list[tuple[_Rank, _Operation, _Rank, _Bytes, _Rank]], Field(max_length=STEP_MOST)] = []


_CONDITION = TypeAdapter(_Condition)


class _Gain(_Strict):
    mid: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    low: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    high: Annotated[float, Field(gt=0)]


class _ProvenSize(_Strict):
    size: _Size
    gain: _Gain
    tuned: Annotated[list[_Seconds], Field(min_length=1)]


class _ProvenCase(_Strict):
    collective: _Collective
    nodes: _Nodes
    ppn: _Ppn
    gain: _Gain
    launches: _Count
    verdict: str
    sizes: list[_ProvenSize]


class _Failed(_Strict):
    nodes: _Nodes
    ppn: _Ppn
    tuned: bool
    status: str
    reason: str


class _Proof(_Strict):
    """`advise.prove.Proof.as_dict()`, as far as a report shows it."""

    cases: list[_ProvenCase] = []
    failures: list[_Failed] = []
    notes: list[str] = []


PROOF = TypeAdapter(_Proof)


class _Candidate(_Strict):
    """One algorithm that our library offered, `study.ours.as_text`."""

    model_config = ConfigDict(strict=True, extra="forbid")
    nodes: _Nodes
    ppn: _Ppn
    places: str | None = None
    collective: _Collective
    name: Word
    segment: _Size = 0
    meaning: str = ""
    reference: str = ""


CANDIDATES = TypeAdapter(list[_Candidate])

_T = TypeVar("_T")


def columns(table: str, rows: Sequence[tuple[Any, ...]], path: Path, before: int = 0) -> list[Sequence[Any]]:
    """The columns of some rows, each as COLUMNS says. Raises UserError naming the row and the column for the first that
    is not; `before`: how many rows of the table came before these."""
    found: list[Sequence[Any]] = []
    try:
        for adapter, column in zip(_COLUMNS[table], zip(*rows, strict=True), strict=True):
            # Words are few and often the same; nothing but a word is equal to one.
            words = set(map(type, column)) == {str}
            right = adapter.validate_python(list(set(column) if words else column))
            found.append(column if words else right)
    except (ValidationError, ValueError, TypeError):
        _by_row(table, rows, path, before)
        raise
    return found


def _by_row(table: str, rows: Sequence[tuple[Any, ...]], path: Path, before: int) -> None:
    """Raises UserError for the first row that is wrong."""
    adapter, names = _ROWS[table], list(COLUMNS[table])
    for number, row in enumerate(rows, start=before + 1):
        try:
            adapter.validate_python(row)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            column = names[int(first["loc"][0])] if first["loc"] else "it"
            raise damaged(
                path,
                _("row {number} of {table}: {column}: {msg}").format(
                    number=number, table=table, column=column, msg=first["msg"]
                ),
            ) from None


def parsed(adapter: TypeAdapter[_T], text: str, what: str, path: Path) -> _T:
    """A JSON value. Raises UserError naming `what` where it is none, or another than belongs there."""
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = key_words(str(part)[:40] for part in first["loc"])
        raise damaged(path, f"{what}{f': {where}' if where else ''}: {first['msg'][:200]}") from None


def setting_values(key: str, path: Path) -> dict[str, str]:
    return parsed(_SETTING, key, _("a setting"), path)


def condition_of(key: str, path: Path) -> Condition:
    if not key:
        return USUAL
    found = parsed(_CONDITION, key, _("a condition"), path)
    return Condition(found.cold, tuple(found.late), found.drawn, found.seed, tuple(found.partners), tuple(found.step))


def damaged(path: Path, what: str) -> UserError:
    return UserError(
        _("{path}: is damaged ({what}); the file is left unchanged, so start anew in another -o DIR").format(
            path=path, what=what
        )
    )


def check_tables(db: sqlite3.Connection, path: Path) -> None:
    """That a database has our tables, and nothing that would run by itself when they are read or written (views,
    triggers, computed columns). Raises UserError."""
    kinds = db.execute("SELECT type, name, sql FROM sqlite_master").fetchmany(100)
    for kind, name, sql in kinds:
        ours = (kind == "table" and not str(sql).upper().startswith("CREATE VIRTUAL")) or (kind == "index" and not sql)
        if not ours:
            raise damaged(
                path, _("it has a {kind} {name!r}, which Unisono never makes").format(kind=kind, name=str(name)[:40])
            )
    for table, wanted in _stored().items():
        found = db.execute(f"SELECT name, hidden FROM pragma_table_xinfo('{table}')").fetchmany(100)
        missing = wanted - {name for name, hidden in found if not hidden}
        if missing:
            raise damaged(
                path, _("table {table} has no column {missing}").format(table=table, missing=sorted(missing)[0])
            )


def _stored() -> dict[str, set[str]]:
    """Table -> columns that are read from it."""
    of_launch = {"round", "nodes", "ppn"}
    return {
        "meta": {"key", "value"},
        "launch": {*COLUMNS["launch"], "hello", "stderr"},
        "sample": {"id", *COLUMNS["sample"], "raw"} - of_launch - set(LATER),
        **{table: set(COLUMNS[table]) for table in ("refusal", "limits", "note")},
    }


def words(text: str | None, key: str, path: Path) -> tuple[str, ...]:
    """A list of words that is kept as JSON; () where it is missing. Raises UserError where it is none."""
    found: list[str] = [] if text is None else parsed(WORDS, text, key, path)
    return tuple(found)
