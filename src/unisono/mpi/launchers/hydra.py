"""Hydra, the launcher of MPICH, Intel MPI and MVAPICH."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.numbers import whole_number
from unisono.core.vocabulary import PPN_MOST, RANKS_MOST
from unisono.mpi.launchers.lines import (
    PRELOAD,
    Here,
    Job,
    Line,
    Owner,
    UnplaceableError,
    Wanted,
    joined,
    overridden,
)
from unisono.mpi.places import Placed

KIND = "hydra"
_RANKS = ("n", "np")
_PER_NODE = ("ppn", "perhost")
_BINDING = ("bind-to", "map-by")
_PINNING = "I_MPI_PIN"
"""How the variables begin by which Intel MPI's Hydra binds ranks."""
PLACING: tuple[str, ...] = (*_RANKS, *_PER_NODE, *_BINDING)
SETTING: tuple[str, ...] = ("genv", "env")
HOSTS: tuple[str, ...] = ("hosts", "host")
HANDS_ON = False
WAITS = True  # in a job it asks the batch system
_FLAGS = (
    "genvall",
    "genvnone",
    "envall",
    "envnone",
    "l",
    "prepend-rank",
    "v",
    "verbose",
    "info",
    "print-all-exitcodes",
)
"""Options with two words behind them, and with none; all others have one (mpiexec.hydra -help of 4.0.2)."""


_BY = ("launcher", "launcher-exec", "bootstrap", "bootstrap-exec")
"""Options whose value is a program too: the one that reaches other nodes."""


def compilers(name: str) -> list[str]:
    """On Debian it ends as the launcher does, but beside mpiexec.hydra."""
    _name, dot, ending = name.partition(".")
    return [*([f"mpicc.{ending}"] if dot and ending != KIND else []), "mpicc.mpich", "mpicc"]


def parameters(mca: Mapping[str, str]) -> list[str]:
    """None: it knows no MCA parameters."""
    return []


def exports(variables: Mapping[str, str]) -> list[str]:
    return [word for name, value in variables.items() for word in ("-genv", name, value)]


def may_bind(placement: Placed, name: str) -> bool:
    """Whether the ranks are to be bound one by one: rank i of every node as the i-th entry of one list that serves all
    nodes. Raises UserError, with the MPI's name, for what such a list cannot say."""
    if placement.policy is None or placement.oversubscribed:
        return False
    if placement.over_nodes:
        raise UserError(
            _("placement=cyclic:node: {name}'s launcher has no words for it that also bind the ranks").format(name=name)
        )
    return True


def ranks(count: int) -> list[str]:
    return ["-n", str(count)]


def layout(processes: int, threads: int, binding: Sequence[str]) -> list[str]:
    return ["-ppn", str(processes), *binding]


def program(argv: Sequence[str]) -> str | None:
    """The first word that can be run and is no value of an option, as far as that can be seen."""
    words = (word for option, word in pairwise(argv) if option.lstrip("-") not in _BY and not word.isdigit())
    return next((path for word in words if (path := shutil.which(word))), None)


def sought(argv: Sequence[str]) -> list[str]:
    """Only of lines whose options are all known to say how many ranks there are, and how they are bound and shown."""
    found: list[str] = []
    at = 1
    while at < len(argv):
        name = argv[at].lstrip("-")
        if not argv[at].startswith("-"):
            found.append(argv[at])
            at = argv.index(":", at) + 1 if ":" in argv[at:] else len(argv)
        elif name in _FLAGS:
            at += 1
        elif name in (*_RANKS, *_PER_NODE, *_BINDING):
            at += 2
        elif name in SETTING and argv[at + 1 : at + 2] != ["PATH"]:
            at += 3
        else:
            return []
    return found


def interface(argv: Sequence[str], env: Mapping[str, str]) -> str | None:
    return None


def job(argv: Sequence[str], here: Here) -> Job:
    """What `mpirun -n 8 -ppn 4 -hosts a,b ./app` starts. Raises UserError where it does not say how many ranks."""
    ranks = sum(whole_number(value, "-n", most=RANKS_MOST) for name, value in _options(argv) if name in _RANKS)
    if ranks == 0:
        raise UserError(_("{argv}: -n is missing: how many ranks?").format(argv=argv[0]))
    options = dict(_options(argv))
    named = next((value for name, value in options.items() if name in HOSTS), None)
    hosts = [host.partition(":")[0] for host in named.split(",")] if named else [host for host, _slots in here.nodes]
    each = next(
        (whole_number(value, f"-{name}", most=PPN_MOST) for name, value in options.items() if name in _PER_NODE), None
    )
    if each is None:
        slots = [host.partition(":")[2] for host in named.split(",")] if named else []
        slots = slots or [str(max(slots for _host, slots in here.nodes))]
        each = whole_number(slots[0], _("slots of {hosts}").format(hosts=hosts[0]), most=PPN_MOST) if slots[0] else 1
    nodes = min(len(hosts), -(-ranks // each))
    return Job(ranks, nodes, -(-ranks // nodes), tuple(hosts[:nodes]))


def nodes(argv: Sequence[str], here: Here) -> int:
    """All there are where it does not say how many ranks."""
    if not any(words[0].lstrip("-") in _RANKS for words in taken_apart(argv)[0]):
        return len(here.nodes)
    return job(argv, here).nodes


def named(argv: Sequence[str], here: Here) -> list[tuple[str, int]]:
    """Those of -hosts; with as many slots as -ppn says where they have no number of their own."""
    options = dict(_options(argv))
    each = next((options[name] for name in _PER_NODE if name in options), "1")
    listed = next((options[name] for name in HOSTS if name in options), "")
    parts = [entry.partition(":") for entry in listed.split(",") if entry]
    return [(host, whole_number(slots or each, f"-hosts {host}", most=PPN_MOST)) for host, _colon, slots in parts]


def added(argv: Sequence[str], wanted: Wanted, here: Here, mpi: Owner) -> Line:
    words = list(argv)
    said = {words[i + 1] for i, word in enumerate(words[:-2]) if word.lstrip("-") in SETTING}
    ours = {name: value for name, value in wanted.variables.items() if name not in said}
    notes = [N_("{name} of the command line is kept").format(name=name) for name in wanted.variables if name in said]
    notes += overridden(here.environment, {}, ours)
    return Line([words[0], *exports(ours), *_placement(argv, wanted, here, notes), *words[1:]], {}, notes)


def _placement(argv: Sequence[str], wanted: Wanted, here: Here, notes: list[str]) -> list[str]:
    """Its words, which bind rank i of every node as the i-th entry of a list says; none, with a note, where the line
    binds its ranks itself or the placement cannot be had."""
    if wanted.placing is None:
        return []
    policy = wanted.placing.policy
    own = next((words for is_option, words in _pieces(argv) if is_option and _binds(words)), None)
    if own is not None:
        notes.append(
            N_("{own} of the command line is kept; the setting has placement={policy}").format(
                own=" ".join(own), policy=policy
            )
        )
        return []
    try:
        if ":" in argv:
            raise UnplaceableError(N_("the command starts several programs"))
        return wanted.placing.words(job(argv, here))
    except (UnplaceableError, UserError) as reason:
        notes.append(N_("placement={policy} is left out: {reason}").format(policy=policy, reason=reason))
        return []


def _binds(words: Sequence[str]) -> bool:
    """Whether an option with its values says where ranks run: -bind-to core, -genv I_MPI_PIN_DOMAIN numa."""
    name = words[0].lstrip("-")
    return name in _BINDING or (name in SETTING and words[1].startswith(_PINNING))


def preloaded(argv: Sequence[str], at: int, library: str, variables: Mapping[str, str], env: Mapping[str, str]) -> Line:
    """-genv right after the launcher: for all programs. The user's own -genv or -env of LD_PRELOAD gets ours added."""
    words = list(argv)
    preload = joined(env.get(PRELOAD), library)
    is_said = False
    for i in range(at + 1, len(words) - 2):
        if words[i].lstrip("-") in SETTING and words[i + 1] == PRELOAD:
            words[i + 2] = joined(words[i + 2], library)
            is_said |= words[i].lstrip("-") == "genv"
    ours = exports({**({} if is_said else {PRELOAD: preload}), **variables})
    return Line([*words[: at + 1], *ours, *words[at + 1 :]], {}, [])


def inherited(variables: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    return {}


def left_out(library: str, prefix: str, env: Mapping[str, str], files: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Its ranks get what it was started with: there is no list."""
    return {}


def taken_apart(argv: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    """The options behind the launcher, each with its values, and the program with its words.

    Raises UserError for a line that starts several programs, or none.
    """
    options: list[list[str]] = []
    for is_option, words in _pieces(argv):
        if not is_option:
            program = list(argv[1 + sum(map(len, options)) :])
            if ":" in program:
                raise UserError(_("{argv}: starts several programs; a layout is for one").format(argv=" ".join(argv)))
            return options, program
        options.append(words)
    raise UserError(_("{argv}: there is no program to start").format(argv=" ".join(argv)))


def _options(argv: Sequence[str]) -> list[tuple[str, str]]:
    """Those with one value, of every program; a program's own words are no options."""
    return [(words[0].lstrip("-"), words[1]) for is_option, words in _pieces(argv) if is_option and len(words) == 2]


def _pieces(argv: Sequence[str]) -> Iterator[tuple[bool, list[str]]]:
    """What follows the launcher: (True, an option with its values) or (False, one word of a program, or a colon)."""
    at = 1
    in_program = False
    while at < len(argv):
        word = argv[at]
        name = word.lstrip("-")
        values = 0
        is_option = not in_program and word.startswith("-")
        if is_option:
            values = 2 if name in SETTING else 0 if name in _FLAGS else 1
        else:
            in_program = word != ":"
        yield is_option, list(argv[at : at + 1 + values])
        at += 1 + values
