"""coll/tuned's rules as Open MPI 6 reads them: JSON, "version 3".

Open MPI 6 also takes the classic file, but moves every communicator size one entry down, so that the one that was tuned
gets nothing: the classic file is never written for it. Here the first match wins, intervals have both ends, and what
nothing matches keeps the MPI's own decision. Bytes are counted as in the classic file (unisono.export.message_bytes).

Open MPI drops a file with an unknown collective or a wrong type without a word; the reader here says what is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.toml import explain_validation
from unisono.export.tuned_rules import COLLECTIVE_IDS, CommRules, MessageRule, RulesFile

SINCE = "6.0"
"""The first Open MPI that reads it."""
_RANKS_MOST = 2**31 - 1

_Count = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Rule(_Part):
    alg: _Count
    msg_size_min: _Count = 0
    msg_size_max: _Count | Literal["inf"] = "inf"
    faninout: _Count = 0
    seg_size: _Count = 0
    reqs: _Count = 0


class Comm(_Part):
    comm_size_min: _Count = 0
    comm_size_max: _Count = _RANKS_MOST
    comm_rank_distribution: Literal["any", "one-per-node", "single-node"] = "any"
    rules: list[Rule]


class JsonRules(_Part):
    rule_file_version: Literal[3]
    module: Literal["tuned"]
    collectives: dict[str, list[Comm]]

    def select(self, collective: str, comm_size: int, message_bytes: int) -> Rule | None:
        """The rule that Open MPI applies; None: its own decision."""
        for comm in self.collectives.get(collective, []):
            if comm.comm_size_min <= comm_size <= comm.comm_size_max:
                fits = (r for r in comm.rules if r.msg_size_min <= message_bytes <= _end(r))
                return next(fits, None)
        return None


def _end(rule: Rule) -> float:
    return float("inf") if rule.msg_size_max == "inf" else rule.msg_size_max


def write(rules: RulesFile) -> str:
    """The file's text. It cannot carry comments: where it comes from is said by the file that names it."""
    collectives = {c.collective: list(_comms(c.comms)) for c in rules.collectives}
    document = {"rule_file_version": 3, "module": "tuned", "collectives": {k: v for k, v in collectives.items() if v}}
    return json.dumps(document, indent=1) + "\n"


def _comms(comms: tuple[CommRules, ...]) -> Iterator[dict[str, object]]:
    ends = [*(following.size - 1 for _comm, following in pairwise(comms)), _RANKS_MOST]
    for number, (comm, end) in enumerate(zip(comms, ends, strict=True)):
        rules = list(_rules(comm.rules))
        if rules:
            # Below its first entry the classic file still uses that one.
            yield {"comm_size_min": comm.size if number else 0, "comm_size_max": end, "rules": rules}


def _rules(rules: tuple[MessageRule, ...]) -> Iterator[dict[str, object]]:
    ends: list[int | str] = [*(following.bytes - 1 for _rule, following in pairwise(rules)), "inf"]
    for rule, end in zip(rules, ends, strict=True):
        if rule.algorithm:
            said: dict[str, object] = {"msg_size_min": rule.bytes, "msg_size_max": end, "alg": rule.algorithm}
            more = {"faninout": rule.fan, "seg_size": rule.segment, "reqs": rule.requests}
            yield {**said, **{name: value for name, value in more.items() if value}}


def read(text: str, where: str) -> JsonRules:
    """The rules in a file's text. Raises UserError with `where` and what is wrong."""
    try:
        found = JsonRules.model_validate_json(text)
    except ValidationError as error:
        raise UserError(explain_validation(where, error)) from error
    unknown = sorted(found.collectives.keys() - COLLECTIVE_IDS.keys())
    if unknown:
        raise UserError(
            _("{where}: {unknown!r} is no collective of coll/tuned; Open MPI would drop the whole file").format(
                where=where, unknown=unknown[0]
            )
        )
    return found
