"""One launch of the native benchmark, and what it is asked to do."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TypeVar

from unisono.core.errors import LaunchError
from unisono.core.language import N_
from unisono.core.vocabulary import USUAL, Condition
from unisono.launch.failure import STUMBLES, stumbled
from unisono.launch.process import Process
from unisono.measure.protocol import (
    Answer,
    Between,
    Computed,
    Hello,
    Limits,
    OwnAlgorithm,
    Timing,
    parse_algorithm,
    parse_between,
    parse_computed,
    parse_hello,
    parse_limits,
    parse_line,
    parse_sample,
)

__all__ = ["Hello", "Limits", "OwnAlgorithm", "Session", "Timing"]

_GRACE = 10.0
"""Seconds the driver waits past the benchmark's own deadline, at which its ranks end themselves and say where."""
_DEFINE_DEADLINE = 30.0
_PAIRS_MOST = 256
"""Of nodes in one command of the benchmark."""
_LIMITS_DEADLINE = 120.0
_CLOSE_DEADLINE = 10.0
_DECLINED = 10.0
"""Seconds a launch may still take to begin after a text that usually says it will not."""
_LARGEST_ID = 1023
_WARM_UP_MOST = 256 << 10
"""Message size in bytes up to which a path is warmed up: larger messages outlast the effect by far."""
_WARM_UP = 0.002
_SETTLING = 0.1
"""Seconds of calls before the first measurement of a path, and before the first of a launch whose ranks share CPUs:
until the system has put them in order, a call takes up to 1.5 times as long (8 ranks on 2 CPUs, where 0.03 s were
nearly enough)."""
_OFF_CACHE = {"": 0, "buffers": 1, "caches": 2}
_LEFT = re.compile(r"^unisono: (?P<sentence>.*); all collectives are left to the MPI library$", re.MULTILINE)
_T = TypeVar("_T")
_SAID = re.compile(r"unisono-bench: (?:rank \d+: )?(?P<hung>hung: )?(?P<sentence>.*)")


class Session:
    """A running unisono-bench; `argv` and `env` as cmdline.command gives them. Use as a context manager.

    Every method raises LaunchError when the launch fails to answer: "refused", "crashed", "hung" or "protocol"; its
    `stderr` then holds what the launch wrote there. The session is over after that.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], *, startup: float = 60.0) -> None:
        self._defined: dict[tuple[str, ...], int] = {(): 0}
        self._settled = False
        for tries_left in reversed(range(STUMBLES)):
            self._process = Process(argv, env)
            try:
                self.hello: Hello = self._guarded(lambda: self._greet(startup))
                self._process.note_segments()
                return
            except LaunchError as error:
                if not (tries_left and stumbled(error.stderr)):
                    raise
            except BaseException:
                self._process.kill()
                raise

    def define(
        self,
        prefer: str | None = None,
        variables: Mapping[str, str] | None = None,
        use: str | None = None,
        held: Mapping[str, str] | None = None,
    ) -> int:
        """The id of a call-scope setting; nothing at all is the default, 0. Asking again gives the same id.

        `variables` have their values while the communicator is copied, those `held` whenever the setting runs.
        `use` is COLLECTIVE:IMPLEMENTATION for our library, which must be in the ranks. Raises ValueError, with the
        benchmark's sentence, when the MPI library, or ours, cannot be set that way.
        """
        words = [f"prefer={prefer}"] if prefer else []
        words += [f"use={use}"] if use else []
        words += [f"var.{name}={value}" for name, value in sorted((variables or {}).items())]
        words += [f"hold.{name}={value}" for name, value in sorted((held or {}).items())]
        key = tuple(words)
        if key in self._defined:
            return self._defined[key]
        new = len(self._defined)
        if new > _LARGEST_ID:
            raise ValueError(N_("more than {largest_id} settings in one launch").format(largest_id=_LARGEST_ID))
        if any(re.search(r"\s", word) for word in words):
            raise ValueError(N_("a setting of a call cannot contain spaces: {words}").format(words=" ".join(words)))
        self._ask(f"define id={new} {' '.join(words)}", _DEFINE_DEADLINE)
        self._defined[key] = new
        return new

    def algorithms(self) -> list[OwnAlgorithm]:
        """Our own algorithms that can serve these ranks; none where our library is not in them."""
        return [parse_algorithm(answer) for answer in self._ask("algorithms", _DEFINE_DEADLINE)]

    def measure(
        self,
        collective: str,
        size: int,
        ids: Sequence[int],
        *,
        seconds: float,
        min_reps: int = 10,
        max_reps: int = 400,
        blocks: int = 4,
        condition: Condition = USUAL,
        check: bool = True,
        deadline: float = 30.0,
        loop: int = 0,
    ) -> list[Timing]:
        """One Timing per id, in the order asked. `seconds` is what each setting should get, `deadline` ends it all.

        Under a `condition` in which ranks come late, times count from when the last rank is to come.

        `loop` calls follow right after one another, without synchronisation: how Nakajima (2009) measures.

        Raises ValueError when the benchmark does not know what is asked for.
        """
        words = {
            "coll": collective,
            "bytes": size,
            "ids": ",".join(map(str, ids)),
            "time_us": max(1, round(seconds * 1e6)),
            "min_reps": min_reps,
            "max_reps": max(min_reps, max_reps),
            "blocks": blocks,
            "check": int(check),
            "deadline_s": max(1, math.ceil(deadline)),
        }
        words.update(_condition_words(condition))
        if loop:
            words["loop"] = loop
        line = "measure " + " ".join(f"{key}={value}" for key, value in words.items())
        timings = [parse_sample(answer) for answer in self._ask(line, deadline + _GRACE)]
        if [timing.id for timing in timings] != list(ids):
            raise LaunchError(
                "protocol",
                N_("asked for settings {ids}, got {timings}").format(ids=list(ids), timings=[t.id for t in timings]),
            )
        return timings

    def warm_up(self, collective: str, sizes: Iterable[int], *, deadline: float = 30.0) -> None:
        """Run a collective a little at each message size, without keeping anything, before its first measurement.

        The first few hundred calls over a path pay for its memory being touched for the first time (a 128-byte
        allgather over UCX: 2.5 us instead of 0.5 on a 2-core VM), whichever setting happens to come first.
        """
        for size in sorted(sizes):
            if size > _WARM_UP_MOST:
                continue
            settles = self.hello.oversubscribed and not self._settled
            seconds, most = (_SETTLING, 100_000) if settles else (_WARM_UP, 400)
            self.measure(
                collective, size, [0], seconds=seconds, min_reps=3, max_reps=most, check=False, deadline=deadline
            )
            self._settled = True

    def limits(self, max_bytes: int = 16 << 20) -> Limits:
        """The physical limits of the node the first ranks are on (and of the link to the second node)."""
        answers = self._ask(f"limits max_bytes={max_bytes}", _LIMITS_DEADLINE + _GRACE)
        if len(answers) != 1:
            raise LaunchError("protocol", N_("limits: {count} answers instead of one").format(count=len(answers)))
        return parse_limits(answers[0])

    def digest(self, collective: str, size: int, *, numbers: int | None = None) -> str:
        """A number made of the bits of a reduction's result: doubles whose sum depends on the order. Ranks from
        `numbers` on contribute zeros. Raises ValueError where ranks have different results."""
        words = f"digest coll={collective} bytes={size}" + (f" numbers={numbers}" if numbers is not None else "")
        (answer,) = self._ask(words, _LIMITS_DEADLINE)
        return str(answer["digest"])

    def state(self) -> float | None:
        """Nanoseconds all ranks of a node take now to hear of all by flags in shared memory, on the slowest node.

        None with more ranks than CPUs or one rank a node. When this changes, the machine has changed: a virtual
        machine's host moved its processors. Takes less than a millisecond with few ranks.
        """
        (answer,) = self._ask("state", _DEFINE_DEADLINE)
        value = answer.get("flags_ns")
        return float(value) if isinstance(value, (int, float)) else None

    def between(
        self,
        pairs: Sequence[tuple[int, int]],
        *,
        size: int,
        exchanges: int,
        large: int,
        together: bool,
        deadline: float,
    ) -> list[Between]:
        """Messages between pairs of nodes (by number, each in one pair at most), all at once or one pair after another.

        `exchanges` round trips of a byte, then `large` of `size` bytes; `deadline` seconds for each 256 pairs.
        """
        found: list[Between] = []
        for first in range(0, len(pairs), _PAIRS_MOST):
            some = pairs[first : first + _PAIRS_MOST]
            words = ",".join(f"{a},{b}" for a, b in some)
            line = f"fabric pairs={words} bytes={size} exchanges={exchanges} large={large} together={int(together)}"
            (answer,) = self._ask(f"{line} deadline_s={max(1, math.ceil(deadline))}", deadline + _GRACE)
            found += parse_between(answer, some)
        return found

    def compute(self, chunks: int = 32) -> list[Computed]:
        """How long a chunk of work takes the processor of each node, in the order of the nodes."""
        (answer,) = self._ask(f"compute chunks={chunks}", _LIMITS_DEADLINE + _GRACE)
        return parse_computed(answer, self.hello.nodes)

    def kill(self) -> None:
        """End the launch at once."""
        self._process.kill()

    def check_library(self) -> None:
        """Raises LaunchError, "refused", where our library is in the ranks and said that it leaves all calls to the
        MPI, as it could not read its rules."""
        if left := _LEFT.search(self._process.stderr):
            raise LaunchError("refused", left["sentence"])

    def close(self) -> None:
        """End the launch: politely, then for certain. Never raises LaunchError."""
        try:
            self._process.write_line("quit")
            self._process.wait(_CLOSE_DEADLINE)
        except LaunchError:
            pass  # it is over either way, and nothing more was wanted from it
        finally:
            self._process.kill()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.kill()

    def _greet(self, startup: float) -> Hello:
        end = time.monotonic() + startup
        while True:
            answer = self._answer(end, declined=_DECLINED)
            if "hello" in answer:
                return parse_hello(answer)

    def _ask(self, line: str, deadline: float) -> list[Answer]:
        """All answers up to the one that says done. Raises ValueError when it says error instead."""
        return self._guarded(lambda: self._converse(line, deadline))

    def _converse(self, line: str, deadline: float) -> list[Answer]:
        verb = line.split(" ", 1)[0]
        end = time.monotonic() + deadline
        self._process.write_line(line)
        answers: list[Answer] = []
        while True:
            answer = self._answer(end)
            if answer.get("error") == verb:
                raise ValueError(str(answer.get("reason", "")))
            if answer.get("done") == verb:
                return answers
            if "done" in answer or "error" in answer:
                raise LaunchError(
                    "protocol", N_("{verb} was answered with {answer}").format(verb=verb, answer=dict(answer))
                )
            answers.append(answer)

    def _answer(self, end: float, *, declined: float = math.inf) -> Answer:
        while True:
            answer = parse_line(self._process.read_line(max(0.0, end - time.monotonic()), declined=declined))
            if answer is not None:
                return answer

    def _guarded(self, work: Callable[[], _T]) -> _T:
        try:
            return work()
        except LaunchError as error:
            self._process.kill()
            failure = _explained(error, self._process.stderr)
            failure.stderr = self._process.stderr
            if failure is error:
                raise
            raise failure from error


def _explained(error: LaunchError, stderr: str) -> LaunchError:
    """With what the benchmark itself said: mpirun only reports that a rank ended, and how."""
    said = _SAID.search(stderr)
    if said is not None and said["hung"]:
        return LaunchError("hung", said["sentence"])
    if said is None or said["sentence"] in error.reason:
        return error
    return LaunchError(error.status, f"{error.reason}: {said['sentence']}")


def _condition_words(condition: Condition) -> dict[str, str | int]:
    words: dict[str, str | int] = {"off_cache": _OFF_CACHE[condition.cold]}
    if condition.late:
        words["late_ns"] = ",".join(str(round(seconds * 1e9)) for seconds in condition.late)
    if condition.drawn:
        words |= {"late_drawn_ns": round(condition.drawn * 1e9), "seed": condition.seed}
    if condition.partners:
        words["partners"] = ",".join(f"{source},{target}" for source, target in condition.partners)
    if condition.step:
        words["step"] = ",".join(str(number) for action in condition.step for number in action)
    return words
