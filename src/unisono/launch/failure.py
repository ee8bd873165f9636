"""Why a launch failed, in one sentence, out of mpirun's exit status and what it wrote to stderr.

The patterns are those of real runs of Open MPI 4.1.4 and 5.0.11; tests/launch/stderr keeps what they wrote.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable
from dataclasses import dataclass

from unisono.core.errors import LaunchError
from unisono.core.language import N_


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A text of mpirun or the library, and how we say it; groups of the pattern fill the sentence."""

    regex: re.Pattern[str]
    sentence: str
    shared: bool = False
    """Whether it is about the nodes or the job, so that a launch under any other setting ends in the same."""
    if_here: str = ""
    """Said instead where the file it names is on this host."""


def _pattern(text: str, sentence: str, *, shared: bool = False, if_here: str = "") -> _Pattern:
    # The texts are wrapped at some column, so any white space stands for any other.
    return _Pattern(re.compile(text.replace(" ", r"\s+"), re.DOTALL), sentence, shared, if_here)


STUMBLES = 3
"""So often a launch is tried whose launcher stumbles."""
_STUMBLE = _pattern(
    r"PMIx server's listener thread failed to start",
    N_("mpirun found the folder of an earlier mpirun that had its pid and was killed; it works when asked again"),
)
"""5.0.11 says so within 20 ms, before the program is started, and removes the folder (see tree.folders)."""

_NOT_REACHED = N_("a node was not reached, or lost: Open MPI's daemon does not answer there")

_NO_STEP = N_("srun starts nothing on the job's nodes: the job's time has ended, or a node is lost")
"""Past its time limit a job lives on for up to half a minute, in which Slurm starts no steps in it."""

_REFUSALS = (
    _pattern(r"srun returned non-zero exit status \(\d+\) from launching", _NO_STEP, shared=True),
    _pattern(r"srun: error: Invalid MPI type '([^']*)'", N_("srun knows no --mpi={0}: srun --mpi=list"), shared=True),
    _pattern(r"srun: error: Unable to create step for job \d+: ([^\n]*)", N_("srun starts nothing: {0}"), shared=True),
    _pattern(r"srun: (unrecognized option '[^']*')", N_("srun starts nothing: {0}"), shared=True),
    _pattern(
        r"not enough slots available in the system to satisfy the (\d+) slots",
        N_(
            "not enough slots: {0} ranks were asked for; ask for fewer (--ppn, --layouts, or -n of your own mpirun), "
            "name nodes with more slots (--hosts NODE:SLOTS, or --host of your own mpirun), or let ranks share CPUs "
            "(--oversubscribe, of unisono tune or of your own mpirun)"
        ),
        shared=True,
    ),
    _pattern(
        r"both the \"-x\" method and by setting the MCA parameter \"mca_base_env_list\"",
        N_(
            "mpirun of Open MPI 4 does not take -x together with mca_base_env_list; remove mca_base_env_list "
            "from the parameter file or the environment"
        ),
        shared=True,
    ),
    _pattern(
        r"CPUs in the specified PE-LIST to map", N_("the list of CPUs is too short, or names CPUs that do not exist")
    ),
    _pattern(
        r"processes to cpus in a provided list", N_("the list of CPUs is too short, or names CPUs that do not exist")
    ),
    _STUMBLE,
    _pattern(r"attempt to run as root", N_("mpirun does not run as root without --allow-run-as-root"), shared=True),
    _pattern(
        r"A requested component was not found.*?Framework: (\S+) Component: (\S+)",
        N_("component {1} of {0} is not installed or cannot be used here"),
    ),
    _pattern(
        r"No components were able to be opened in the (\S+) framework",
        N_("none of the {0} components asked for can be used here"),
    ),
    _pattern(
        r"pair of MPI processes are unable to reach each other.*?BTLs attempted: ([^\n]*)",
        N_("ranks cannot reach each other: btl {0} does not connect them"),
    ),
    _pattern(
        r"unable to launch the specified application as it could not access.*?Executable: (\S+)",
        N_("{0} does not exist or is not executable"),
        shared=True,
        if_here=N_("{0} is here, but not on every node: set XDG_CACHE_HOME to a directory that all nodes share"),
    ),
    _pattern(r"execvp error on file (\S+) \(", N_("{0} does not exist or is not executable"), shared=True),
    _pattern(
        r"The specified (?:binding policy|bindto directive) is not recognized: (?:Policy|Directive): (\S+)",
        N_("binding {0!r} is not known to this mpirun"),
    ),
    _pattern(
        r"The specified (?:mapping policy|mapby directive) is not recognized: (?:Policy|Directive): (\S+)",
        N_("mapping {0!r} is not known to this mpirun"),
    ),
    _pattern(
        r"The specified (?:ranking policy|rankby directive) is not recognized: (?:Policy|Directive): (\S+)",
        N_("ranking {0!r} is not known to this mpirun"),
    ),
    _pattern(
        r"unrecognized value was given for the number of processes per resource.*?PPR: (\S+)",
        N_("mapping 'ppr:{0}' is not known to this mpirun"),
    ),
    _pattern(
        r"more processes than the ppr for this topology can support.*?PPR: (\S+)",
        N_("mapping 'ppr:{0}' holds fewer ranks than were asked for"),
    ),
    _pattern(
        r"request was made to bind (?:to that would result in binding more processes than cpus|that would require "
        r"binding processes to more cpus)",
        N_("there are more ranks than CPUs to bind them to"),
    ),
    _pattern(r"unknown option \"([^\"]+)\"", N_("mpirun does not know the option {0}")),
    _pattern(
        r"unrecognized option was included on the \S+ command line: Option: (\S+)",
        N_("mpirun does not know the option {0}"),
    ),
    _pattern(
        r"MCA parameter (?:has been listed multiple times|was listed more than once).*?[Pp]aram: (\S+)",
        N_("MCA parameter {0} is given twice"),
    ),
    _pattern(r"Could not resolve hostname (\S+):", N_("host {0} is not known"), shared=True),
    _pattern(
        r"unable to reliably start one or more daemons",
        _NOT_REACHED,
        shared=True,
    ),
    _pattern(r"unable to open the hostfile: (\S+)", N_("file {0} cannot be read")),
    _pattern(
        r"mca_(\w+?)_base_open\(\) failed --> Returned \"Not found\"",
        N_("a component of {0} is not installed or cannot be used here"),
    ),
    _pattern(r"looks like MPI_INIT failed.*?--> ([^\n]*)", N_("MPI_Init failed: {0}")),
    # Both versions lose texts now and then: the component's name in one of eight launches on 4.1.4.
    _pattern(r"An error occurred in MPI_Init", N_("MPI_Init failed; mpirun passed on no reason")),
)

_LOST_NODE = N_("node {match} was lost")


def _made_from(sentences: Iterable[str]) -> list[re.Pattern[str]]:
    """What matches the sentences, whatever fills them."""
    return [re.compile(re.sub(r"\\{\w+\\}", r"\\S+", re.escape(sentence))) for sentence in sentences]


_LOST_NODES = _made_from((_LOST_NODE, _NOT_REACHED, _NO_STEP))
_SHARED = _made_from((_LOST_NODE, *(one for p in _REFUSALS if p.shared for one in (p.sentence, p.if_here) if one)))

_SIGNALLED = re.compile(r"rank\s+(\d+)\s+with\s+PID\s+\d+\s+on\s+node\s+\S+\s+exited\s+on\s+signal\s+(\d+)")
_ABORTED = re.compile(r"MPI_ABORT was invoked on rank\s+(\d+).*?errorcode:?\s+(-?\d+)", re.DOTALL | re.IGNORECASE)
_LOST = re.compile(r"lost communication with a remote daemon.*?Remote daemon:[^\n]* on node (\S+)", re.DOTALL)
_MPI_ERROR = re.compile(r"An error occurred in (MPI_\w+)\n.*?\*\*\* (MPI_ERR_[^\n]*)", re.DOTALL)
_STACK = re.compile(r"Fatal error in [^\n]*error stack:\n\S+: (MPI_\w+)\([^\n]*\n((?:\w+\(\d+\)\.*:[^\n]*\n?)*)")
"""MPICH's: the call that failed, and below it what failed in it, the deepest last."""
_EXITED = re.compile(r"Process\s+name:\s+\[\S*,(\d+)\]\s+Exit\s+code:\s+(\d+)")


def explain(exit_code: int, stderr: str) -> LaunchError:
    """The LaunchError for a launch that ended by itself: "refused" when mpirun or MPI_Init declined, else "crashed".

    `exit_code` is that of mpirun, negative for the signal that ended it.
    """
    return refusal(stderr) or LaunchError("crashed", _crash(exit_code, stderr))


def refusal(stderr: str) -> LaunchError | None:
    """What mpirun or MPI_Init declined to do, by the texts for it; None when there is none of them."""
    return next((LaunchError("refused", text) for pattern in _REFUSALS if (text := _fill(pattern, stderr))), None)


def over(stderr: str) -> LaunchError | None:
    """Why a launch is over though its mpirun stays: it declined, or has lost a node (4.1.4 often stays on then)."""
    lost = _LOST.search(stderr)
    return refusal(stderr) or (LaunchError("crashed", _LOST_NODE.format(match=lost[1])) if lost else None)


def is_shared(reason: str) -> bool:
    """Whether this reason of a failed launch is about the nodes or the job, so that no setting is to blame for it."""
    return any(regex.fullmatch(reason) for regex in _SHARED)


def is_lost(reason: str) -> bool:
    """Whether this reason of a failed launch is a node that was lost, or was not reached."""
    return any(regex.fullmatch(reason) for regex in _LOST_NODES)


def stumbled(stderr: str) -> bool:
    """Whether the launcher failed by chance, before it started anything: asking again is safe and works."""
    return _STUMBLE.regex.search(stderr) is not None


def _fill(pattern: _Pattern, stderr: str) -> str | None:
    match = pattern.regex.search(stderr)
    if match is None:
        return None
    groups = [group.strip() for group in match.groups()]
    here = pattern.if_here and os.access(groups[0], os.X_OK)
    return (pattern.if_here if here else pattern.sentence).format(*groups)


def _crash(exit_code: int, stderr: str) -> str:
    if match := _SIGNALLED.search(stderr):
        return N_("rank {match} was ended by {match2}").format(match=match[1], match2=signal_name(int(match[2])))
    if match := _ABORTED.search(stderr):
        return N_("rank {match} called MPI_Abort with error code {match2}").format(match=match[1], match2=match[2])
    if match := _LOST.search(stderr):  # mpirun 5.0.11 ends with exit status 0 then
        return _LOST_NODE.format(match=match[1])
    if match := _MPI_ERROR.search(stderr):
        return N_("{match} failed: {match2}").format(match=match[1], match2=match[2].strip())
    if (match := _STACK.search(stderr)) and (deepest := match[2].rpartition(": ")[2].strip()):
        return N_("{match} failed: {match2}").format(match=match[1], match2=deepest)
    if match := _EXITED.search(stderr):
        return N_("rank {match} ended with exit status {match2}{stderr}").format(
            match=match[1], match2=match[2], stderr=_said(stderr)
        )
    if exit_code < 0:
        return N_("mpirun was ended by {signal_name}{stderr}").format(
            signal_name=signal_name(-exit_code), stderr=_said(stderr)
        )
    if exit_code == 0:  # Open MPI 5.0.11 does so when it has lost a node, more often than not without a word
        return N_("mpirun ended too early, but with exit status 0; was a node lost?{stderr}").format(
            stderr=_said(stderr)
        )
    return N_("mpirun ended with exit status {exit_code}{stderr}").format(exit_code=exit_code, stderr=_said(stderr))


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


_SUMMARIES = re.compile(
    r"^-{20,}\n(?:Primary job|(?:mpirun|prterun) (?:noticed|detected|has exited)).*?^-{20,}$", re.DOTALL | re.MULTILINE
)
"""mpirun's own account of who ended how, in a frame of dashes."""
_NOISE = re.compile(
    r"^-{20,}$|^\[\S+:\d+\] (?:\*\*\*|\[ ?\d+\]|Signal|Failing)|_ERROR_LOG:|PMIX ERROR|"
    r"plm:ssh: Warning|help message|help_agg"
)


def _said(stderr: str) -> str:
    """The first line that is neither mpirun's account nor its noise: usually the program's or the library's word."""
    lines = (line.strip() for line in _SUMMARIES.sub("", stderr).splitlines())
    first = next((line for line in lines if line and not _NOISE.search(line)), None)
    return f": {first[:200]}" if first else ""
