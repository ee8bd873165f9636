"""coll/tuned's rules file: what it holds, and its text form, written and read.

The grammar is that of `coll_tuned_dynamic_file.c` of Open MPI 4.1 and 5.0: numbers, with `#` to the end of a line as
comment. Open MPI drops a file it cannot parse without a word, and skips over letters between digits; so the reader
here is stricter and says what is wrong on which line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unisono.core.errors import UserError
from unisono.core.language import _

COLLECTIVE_IDS = {
    "allgather": 0,
    "allgatherv": 1,
    "allreduce": 2,
    "alltoall": 3,
    "alltoallv": 4,
    "alltoallw": 5,
    "barrier": 6,
    "bcast": 7,
    "exscan": 8,
    "gather": 9,
    "gatherv": 10,
    "reduce": 11,
    "reduce_scatter": 12,
    "reduce_scatter_block": 13,
    "scan": 14,
    "scatter": 15,
    "scatterv": 16,
}
"""By `COLLTYPE` of coll_base_functions.h."""

_NAMES = {number: name for name, number in COLLECTIVE_IDS.items()}
_HEADER = re.compile(r"rule-file-version-([0-9]{1,9})")
_DIGITS_MOST = 19
"""Of a number that 64 bits hold."""


@dataclass(frozen=True, slots=True)
class MessageRule:
    """From this many bytes (by Open MPI's own count, see unisono.export.message_bytes) on: the algorithm to use.

    `algorithm` 0 leaves the choice to the compiled-in rules. `requests` is the most outstanding requests, which only
    version 2 of the file knows.
    """

    bytes: int
    algorithm: int
    fan: int = 0
    segment: int = 0
    requests: int | None = None


@dataclass(frozen=True, slots=True)
class CommRules:
    """For communicators of `size` ranks up to the next entry's."""

    size: int
    rules: tuple[MessageRule, ...]


@dataclass(frozen=True, slots=True)
class CollectiveRules:
    collective: str
    comms: tuple[CommRules, ...]


@dataclass(frozen=True, slots=True)
class RulesFile:
    collectives: tuple[CollectiveRules, ...]
    version: int = 1
    """2 carries `requests`; Open MPI reads it from 4.1.8 and 5.0.7 and silently ignores the file before."""

    @property
    def limits_requests(self) -> bool:
        """Whether a rule has `requests`."""
        return any(r.requests for each in self.collectives for comm in each.comms for r in comm.rules)

    def select(self, collective: str, comm_size: int, message_bytes: int) -> MessageRule | None:
        """The rule Open MPI applies, by its own lookup; None: it has none for this collective."""
        comms = next((c.comms for c in self.collectives if c.collective == collective), ())
        if not comms:
            return None
        # Below the first entry the first is still used: that is how coll_tuned_dynamic_rules.c looks up.
        comm = max((c for c in comms if c.size <= comm_size), key=lambda c: c.size, default=comms[0])
        return max((r for r in comm.rules if r.bytes <= message_bytes), key=lambda r: r.bytes, default=None)


def write(rules: RulesFile, comments: Sequence[str] = ()) -> str:
    """The file's text. The version line has to come first, so comments follow it."""
    lines = [f"rule-file-version-{rules.version}"] if rules.version > 1 else []
    lines += [f"# {line}".rstrip() for line in comments]
    lines.append(f"{len(rules.collectives)}  # collectives")
    for collective in rules.collectives:
        lines.append(f"{COLLECTIVE_IDS[collective.collective]}  # {collective.collective}")
        lines.append(f"{len(collective.comms)}  # communicator sizes")
        for comm in collective.comms:
            lines.append(f" {comm.size}  # ranks and more")
            fields = "bytes algorithm fan segment" + (" requests" if rules.version > 1 else "")
            lines.append(f" {len(comm.rules)}  # message sizes: {fields}")
            for rule in comm.rules:
                requests = "" if rule.requests is None or rules.version < 2 else f" {rule.requests}"
                lines.append(f"  {rule.bytes} {rule.algorithm} {rule.fan} {rule.segment}{requests}")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class Entry:
    """One rule of a file, and where in the text its algorithm stands."""

    collective: str
    comm_size: int
    rule: MessageRule
    start: int
    end: int


def read(text: str, where: str) -> RulesFile:
    """The rules in a file's text. Raises UserError with `where`, the line, and what was expected there."""
    return _read(text, where)[0]


def entries(text: str, where: str) -> list[Entry]:
    """Every rule of a file's text, in its order. Raises UserError as `read` does."""
    rules, spans = _read(text, where)
    found = [(c.collective, comm.size, rule) for c in rules.collectives for comm in c.comms for rule in comm.rules]
    return [Entry(*one, *span) for one, span in zip(found, spans, strict=True)]


def _read(text: str, where: str) -> tuple[RulesFile, list[tuple[int, int]]]:
    """The rules, and the (start, end) of each rule's algorithm in the text."""
    version = 1
    header = _HEADER.match(text)
    if header is not None:
        version = int(header[1])
        if version not in (1, 2):
            raise UserError(
                _("{where}: line 1: rules of version {version} are not known; this is about 1 and 2").format(
                    where=where, version=version
                )
            )
    numbers = _Numbers(text, where, header.end() if header else 0)
    collectives = [_collective(numbers, version) for _number in range(numbers.next(_("the number of collectives")))]
    numbers.expect_end(_("the {count} collectives announced at the top").format(count=len(collectives)))
    twice = next(
        (c for i, c in enumerate(collectives) if c.collective in {d.collective for d in collectives[:i]}), None
    )
    if twice is not None:
        raise UserError(
            _("{where}: {collective} (id {collective_ids}) is there twice").format(
                where=where, collective=twice.collective, collective_ids=COLLECTIVE_IDS[twice.collective]
            )
        )
    return RulesFile(tuple(collectives), version), numbers.algorithms


def _collective(numbers: _Numbers, version: int) -> CollectiveRules:
    number = numbers.next(_("a collective's id"))
    name = _NAMES.get(number)
    if name is None:
        raise numbers.error(
            _("{number} is not the id of a collective (0 to {names})").format(number=number, names=max(_NAMES))
        )
    count = numbers.next(_("how many communicator sizes {name} has").format(name=name))
    comms: list[CommRules] = []
    for _number in range(count):
        size = numbers.next(_("a communicator size of {name}").format(name=name))
        if comms and size <= comms[-1].size:
            raise numbers.error(
                _("{name}: communicator size {size} comes after {size2}; they must ascend").format(
                    name=name, size=size, size2=comms[-1].size
                )
            )
        comms.append(CommRules(size, _messages(numbers, name, size, version)))
    return CollectiveRules(name, tuple(comms))


def _messages(numbers: _Numbers, name: str, comm_size: int, version: int) -> tuple[MessageRule, ...]:
    of = _("{name} on {comm_size} ranks").format(name=name, comm_size=comm_size)
    rules: list[MessageRule] = []
    for _number in range(numbers.next(_("how many message sizes {of} has").format(of=of))):
        size = numbers.next(_("a message size of {of}").format(of=of))
        if not rules and size != 0:
            raise numbers.error(
                _("{of}: the first message size is {size}; it must be 0, or Open MPI drops the file").format(
                    of=of, size=size
                )
            )
        if rules and size <= rules[-1].bytes:
            raise numbers.error(
                _("{of}: message size {size} comes after {bytes}; they must ascend").format(
                    of=of, size=size, bytes=rules[-1].bytes
                )
            )
        algorithm = numbers.next(_("the algorithm of {of} from {size} bytes").format(of=of, size=size))
        numbers.algorithms.append(numbers.span)
        fan = numbers.next(_("the fan-in/out of {of} from {size} bytes").format(of=of, size=size))
        segment = numbers.next(_("the segment size of {of} from {size} bytes").format(of=of, size=size))
        requests = numbers.next(_("the requests")) if version > 1 and numbers.more_on_line() else None
        rules.append(MessageRule(size, algorithm, fan, segment, requests))
    return tuple(rules)


class _Numbers:
    """The file's numbers in order, with where each stands."""

    def __init__(self, text: str, where: str, start: int) -> None:
        self._where = where
        self._tokens = list(_tokens(text, start))
        self._position = 0
        self._lines = max(1, len(text.splitlines()))
        self.algorithms: list[tuple[int, int]] = []

    def next(self, what: str) -> int:
        if self._position >= len(self._tokens):
            raise UserError(
                _("{where}: line {lines}: the file ends where {what} is expected").format(
                    where=self._where, lines=self._lines, what=what
                )
            )
        self._position += 1
        token = self._tokens[self._position - 1].text
        if not token.isascii() or not token.isdigit():
            raise self.error(_("{token!r} is not a number; {what} is expected here").format(token=token, what=what))
        if len(token) > 1 and token.startswith("0"):
            raise self.error(
                _("{token!r} would be read as an octal number; write it without leading zeros").format(token=token)
            )
        if len(token) > _DIGITS_MOST:
            raise self.error(
                _("{token!r} is too large a number; {what} is expected here").format(token=token[:40], what=what)
            )
        return int(token)

    @property
    def span(self) -> tuple[int, int]:
        """Of the number given last."""
        token = self._tokens[self._position - 1]
        return token.start, token.start + len(token.text)

    def more_on_line(self) -> bool:
        """Whether the next number is on the same line as the last."""
        pair = self._tokens[self._position - 1 : self._position + 1]
        return len(pair) == 2 and pair[0].line == pair[1].line

    def error(self, message: str) -> UserError:
        """About the number given last."""
        return UserError(
            _("{where}: line {line}: {message}").format(
                where=self._where, line=self._tokens[self._position - 1].line, message=message
            )
        )

    def expect_end(self, after: str) -> None:
        if self._position < len(self._tokens):
            token = self._tokens[self._position]
            raise UserError(
                _("{where}: line {line}: {text!r} comes after {after}").format(
                    where=self._where, line=token.line, text=token.text, after=after
                )
            )


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    line: int
    start: int


def _tokens(text: str, start: int) -> Iterator[_Token]:
    """Words outside comments, from the offset `start` on."""
    line_start = 0
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        for match in re.finditer(r"\S+", line.partition("#")[0]):
            if line_start + match.start() >= start:
                yield _Token(match[0], number, line_start + match.start())
        line_start += len(line)
