"""Does Intel MPI really take the variables that were handed to it? With I_MPI_DEBUG=5 it says so when it starts."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from unisono.core.errors import LaunchError
from unisono.core.language import _
from unisono.core.reading import read_text
from unisono.core.writing import write
from unisono.export import preset_file
from unisono.export.content import Content
from unisono.export.handed import Handed
from unisono.export.probe import answered, probe_program
from unisono.export.seen import Item

_STARTUP = r"^\[0\] MPI startup\(\): "
_SET = re.compile(_STARTUP + r"(I_MPI_\w+)=(.*)$", re.MULTILINE)
_UNKNOWN = re.compile(_STARTUP + r"Incorrect algorithm: (\w+=\d+), will be ignored", re.MULTILINE)
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
    found = list(items(files, finished.stdout))
    if preset_file.VARIABLE in files.env:
        more, lines = _presets(Path(files.env[preset_file.VARIABLE]), finished.stdout, content, files, deadline)
        found += more
        commands = [command, *lines]
    else:
        commands = [command]
    nothing = Item("everything", _("the default"), _("the default"), True, _("the files set nothing"))
    return found or [nothing], commands


def _presets(path: Path, before: str, content: Content, files: Handed, deadline: float) -> tuple[list[Item], list[str]]:
    """Whether each entry of the file of presets is read: in a copy each has a number that no preset has, and Intel MPI
    names those. `before`: what it said with the file as it is. Which preset serves a call it does not say."""
    tree = preset_file.read(read_text(path), str(path))
    wrong, numbers = preset_file.numbered(tree)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        write(copy, json.dumps(wrong))
        copied = replace(files, env={**files.env, preset_file.VARIABLE: str(copy)}, environment={}, before=())
        crowded = content.tuning.conditions.oversubscribed
        line = copied.launch(
            content.machine, content.plan, [str(probe_program(content.machine))], oversubscribe=crowded
        )
        env = {**line.env, **copied.env, "I_MPI_DEBUG": "5"}
        command = " ".join([*(f"{name}={value}" for name, value in env.items()), *line.argv])
        try:
            said = answered(line.argv, env, deadline).finished.stdout
        except LaunchError as error:
            return [Item("launch", "runs", error.status, False, error.reason)], [command]
    named, left_out = set(_UNKNOWN.findall(said)), set(_UNKNOWN.findall(before))
    found = []
    for leaf, number in numbers.items():
        where, preset = ", ".join(leaf[:-1]), leaf[-1]
        if preset in left_out:
            found.append(Item(where, preset, _("left out"), False, _("Intel MPI says that it leaves this out")))
            continue
        there = f"{preset.partition('=')[0]}={number}" in named
        reason = (
            ""
            if there
            else _("Intel MPI did not complain about a wrong number that was put in this place in a copy of the file")
        )
        found.append(Item(where, preset, _("read") if there else _("not read"), there, reason))
    return found, [command]


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
