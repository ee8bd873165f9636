"""Does Intel MPI really take the variables that were handed to it? With I_MPI_DEBUG=5 it says so when it starts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from unisono.errors import LaunchError
from unisono.export.content import Content
from unisono.export.handed import Handed
from unisono.export.probe import answered, probe_program
from unisono.export.seen import Item
from unisono.language import _

_STARTUP = r"^\[0\] MPI startup\(\): "
_SET = re.compile(_STARTUP + r"(I_MPI_\w+)=(.*)$", re.MULTILINE)
_LEFT_OUT = re.compile(_STARTUP + r"(Incorrect [a-z ]+): (\w+)=(.*), will be ignored", re.MULTILINE)


def check_intel(content: Content, files: Handed, deadline: float) -> tuple[list[Item], list[str]]:
    """What was seen, and the command line that was run. `deadline` is seconds a launch."""
    program = [str(probe_program(content.machine))]
    crowded = content.tuning.conditions.oversubscribed
    line = files.launch(content.machine, content.plan, program, oversubscribe=crowded)
    env = {**line.env, "I_MPI_DEBUG": "5"}
    command = " ".join([*(f"{name}={value}" for name, value in env.items()), *line.argv])
    try:
        finished = answered(line.argv, env, deadline).finished
    except LaunchError as error:
        return [Item("launch", "runs", error.status, False, error.reason)], [command]
    if finished.exit_code != 0:
        status = _("exit status {returncode}").format(returncode=finished.exit_code)
        return [Item("launch", "runs", status, False, finished.stderr.strip()[-200:])], [command]
    nothing = Item("everything", _("the default"), _("the default"), True, _("the files set nothing"))
    return list(items(files, finished.stdout)) or [nothing], [command]


def items(files: Handed, said: str) -> Iterator[Item]:
    """One a variable; `said` is what the launch printed."""
    found = dict(_SET.findall(said))
    left_out = {f"I_MPI_ADJUST_{name}": f"{what}: {value}" for what, name, value in _LEFT_OUT.findall(said)}
    for name, value in files.env.items():
        if not name.startswith("I_MPI_"):
            yield Item(name, value, _("cannot be seen"), None, _("its library does not say which variables it uses"))
        elif name in left_out:
            yield Item(name, value, left_out[name], False, _("Intel MPI says that it leaves this out"))
        elif name not in found:
            yield Item(
                name, value, "unknown", False, _("Intel MPI does not list it among the variables that it has read")
            )
        else:
            same = found[name] == value
            reason = "" if same else _("something else sets it: the environment, or another parameter file")
            yield Item(name, value, found[name], same, reason)
