"""A user's own command line for MPICH's launcher: how many ranks it starts, and a setting added to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unisono.errors import UserError
from unisono.language import N_, _
from unisono.launch.command import Command, launch_scope_words, overridden
from unisono.launch.job import Job
from unisono.machine.model import Machine
from unisono.model import PPN_MOST, RANKS_MOST, Setting
from unisono.numbers import whole_number

_RANKS = ("n", "np")
_PER_NODE = ("ppn", "perhost")
_HOSTS = ("hosts", "host")
_TWO = ("genv", "env")
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


def describe_hydra(argv: Sequence[str], machine: Machine) -> Job:
    """What `mpirun -n 8 -ppn 4 -hosts a,b ./app` starts. Raises UserError where it does not say how many ranks."""
    ranks = sum(whole_number(value, "-n", most=RANKS_MOST) for name, value in _options(argv) if name in _RANKS)
    if ranks == 0:
        raise UserError(_("{argv}: -n is missing: how many ranks?").format(argv=argv[0]))
    options = dict(_options(argv))
    named = next((value for name, value in options.items() if name in _HOSTS), None)
    hosts = [host.partition(":")[0] for host in named.split(",")] if named else [node.host for node in machine.nodes]
    each = next(
        (whole_number(value, f"-{name}", most=PPN_MOST) for name, value in options.items() if name in _PER_NODE), None
    )
    if each is None:
        slots = [host.partition(":")[2] for host in named.split(",")] if named else []
        slots = slots or [str(max(node.slots for node in machine.nodes))]
        each = whole_number(slots[0], _("slots of {hosts}").format(hosts=hosts[0]), most=PPN_MOST) if slots[0] else 1
    nodes = min(len(hosts), -(-ranks // each))
    return Job(ranks, nodes, -(-ranks // nodes), tuple(hosts[:nodes]))


def with_setting(argv: Sequence[str], setting: Setting, machine: Machine, env: Mapping[str, str]) -> Command:
    """`argv` with the launch-scope part of a setting, right after the launcher. What it says itself stays."""
    wanted = launch_scope_words(setting, machine)
    words = list(argv)
    said = {words[i + 1] for i, word in enumerate(words[:-2]) if word.lstrip("-") in ("genv", "env")}
    added = {name: value for name, value in wanted.env.items() if name not in said}
    notes = [N_("{name} of the command line is kept").format(name=name) for name in wanted.env if name in said]
    notes += overridden(env, {}, added)
    if "placement" in setting:
        notes.append(
            N_("placement={placement} is left out: bind the ranks with -bind-to").format(placement=setting["placement"])
        )
    exports = [word for name, value in added.items() for word in ("-genv", name, value)]
    return Command([words[0], *exports, *words[1:]], {}, None, notes)


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
            values = 2 if name in _TWO else 0 if name in _FLAGS else 1
        else:
            in_program = word != ":"
        yield is_option, list(argv[at : at + 1 + values])
        at += 1 + values
