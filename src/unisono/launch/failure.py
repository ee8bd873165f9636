"""Why a launch failed, in one sentence, out of mpirun's exit status and what it wrote to stderr.

The patterns are those of real runs of Open MPI 4.1 and 5.0; tests/launch/stderr keeps what they wrote.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass

from unisono.errors import LaunchError


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A text by which mpirun or MPI_Init declines, and how we say it; groups of the pattern fill the sentence."""

    pattern: re.Pattern[str]
    sentence: str


def _refusal(pattern: str, sentence: str) -> _Refusal:
    # mpirun wraps its texts at some column: any white space stands for any other.
    return _Refusal(re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE), sentence)


_REFUSALS = (
    _refusal(
        r"not enough slots available in the system to satisfy the (\d+) slots",
        "not enough slots: {0} ranks were asked for",
    ),
    _refusal(r"attempt to run as root", "mpirun does not run as root without --allow-run-as-root"),
    _refusal(
        r"A requested component was not found.*?Framework: (\S+) Component: (\S+)",
        "component {1} of {0} is not installed or cannot be used here",
    ),
    _refusal(
        r"No components were able to be opened in the (\S+) framework",
        "none of the {0} components asked for can be used here",
    ),
    _refusal(
        r"unable to launch the specified application as it could not (?:access|execute).*?Executable: (\S+)",
        "{0} does not exist or is not executable",
    ),
    _refusal(r"unable to find the specified executable file.*?Executable: (\S+)", "{0} was not found"),
    _refusal(
        r"The specified (?:binding policy|bindto directive) is not recognized: (?:Policy|Directive): (\S+)",
        "binding {0!r} is not known to this mpirun",
    ),
    _refusal(
        r"(?:The specified )?mapping (?:policy|directive) is not recognized:? (?:Policy|Directive): (\S+)",
        "mapping {0!r} is not known to this mpirun",
    ),
    _refusal(
        r"unrecognized value was given for the number of processes per resource.*?PPR: (\S+)",
        "placement ppr:{0} is not known to this mpirun",
    ),
    _refusal(
        r"more processes than the ppr for this topology can support.*?PPR: (\S+)",
        "placement ppr:{0} holds fewer ranks than were asked for",
    ),
    _refusal(
        r"request was made to bind(?: to)? that would (?:result in binding more processes than cpus|require binding "
        r"processes to more cpus)",
        "more ranks than CPUs to bind them to",
    ),
    _refusal(r"unknown option [\"“]?([^\s\"”]+)", "mpirun does not know the option {0}"),
    _refusal(
        r"unrecognized option was included on the \S+ command line: Option: (\S+)",
        "mpirun does not know the option {0}",
    ),
    _refusal(r"looks like MPI_INIT failed", "MPI_Init failed"),
)


def explain(exit_code: int, stderr: str) -> LaunchError:
    """The LaunchError for a launch that ended by itself: "refused" when mpirun or MPI_Init declined, else "crashed".

    `exit_code` is that of mpirun, negative for the signal that ended it.
    """
    for refusal in _REFUSALS:
        match = refusal.pattern.search(_without_rules(stderr))
        if match is not None:
            return LaunchError("refused", refusal.sentence.format(*match.groups()))
    return LaunchError("crashed", _crash(exit_code, stderr))


def _without_rules(stderr: str) -> str:
    """Without the lines of dashes around mpirun's help texts."""
    return re.sub(r"^\s*-{20,}\s*$", "", stderr, flags=re.MULTILINE)


_SIGNALLED = re.compile(r"rank\s+(\d+)\s.*?exited\s+on\s+signal\s+(\d+)", re.DOTALL)
_EXITED = re.compile(r"Process name:\s+\[\S+?,(\d+)\]\s+Exit code:\s+(\d+)")
_ABORTED = re.compile(r"MPI_ABORT was invoked on rank\s+(\d+).*?errorcode\s+(-?\d+)", re.DOTALL)


def _crash(exit_code: int, stderr: str) -> str:
    if match := _SIGNALLED.search(stderr):
        return f"rank {match[1]} was ended by {_signal_name(int(match[2]))}" + _said(stderr)
    if match := _ABORTED.search(stderr):
        return f"rank {match[1]} called MPI_Abort with error code {match[2]}" + _said(stderr)
    if match := _EXITED.search(stderr):
        return f"rank {match[1]} ended with exit status {match[2]}" + _said(stderr)
    if exit_code < 0:
        return f"mpirun was ended by {_signal_name(-exit_code)}" + _said(stderr)
    return f"ended with exit status {exit_code}" + _said(stderr)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


_NOISE = re.compile(
    r"^\s*$|^\s*-{5,}|^\s*\[\S+:\d+\] (\*\*\*|\[ ?\d+\])|Per user-direction|Primary job +terminated|"
    r"a non-zero exit code|^(mpirun|prterun) (noticed|detected|has exited)|PMIX ERROR|thus causing|the job to be|"
    r"Process name:|Exit code:|^signal \d+|^terminated by|^\"abort\"|^\[\S+:\d+\] (Signal|Failing at|Associated)"
)


def _said(stderr: str) -> str:
    """The last line a rank or library wrote itself, which usually says more than mpirun's summary."""
    lines = [line.strip() for line in stderr.splitlines() if not _NOISE.search(line)]
    return f": {lines[-1][:200]}" if lines else ""
