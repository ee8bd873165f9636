"""What `--help` prints is read whole: nothing is cut off, and nothing in it is Python's."""

from __future__ import annotations

import re
from typing import Any

import pytest

from unisono.cli import app
from unisono.cli_language import command_of


def _helps(command: Any, parent: Any = None) -> list[tuple[str, str]]:
    context = command.context_class(command, info_name=command.name, parent=parent)
    found = [(context.command_path, command.get_help(context))]
    for one in getattr(command, "commands", {}).values():
        found += [] if one.hidden else _helps(one, context)
    return found


HELPS = dict(_helps(command_of(app)))


@pytest.mark.parametrize("path", HELPS)
def test_a_help_is_whole(path: str) -> None:
    text = HELPS[path]
    assert not re.search(r"<[a-z\[]+", text), "a type of Python"
    assert not re.search(r"[{\[]+[^ ]*\.\.\.[}\]]\.\.\.", text), "dots of the parser behind our own"
    listed = text.partition("\nCommands:\n")[2]
    cut = [line for line in listed.splitlines() if line.endswith("...")]
    assert cut == [], "the first sentence of a command's help is too long for the list"


def test_every_argument_and_option_says_what_it_is() -> None:
    silent = [
        (one.name, parameter.name)
        for one in _all(command_of(app))
        for parameter in one.params
        if not getattr(parameter, "hidden", False) and not getattr(parameter, "help", None)
    ]
    assert silent == [("import", "path")], "whose help is made of the importers' list"
    assert "--format openmpi|openmpi-json|han|" in HELPS["unisono export"]
    assert "profile.cubex" in HELPS["unisono profile import"]


def _all(command: Any) -> list[Any]:
    return [command, *(one for sub in getattr(command, "commands", {}).values() for one in _all(sub))]
