"""A plan as a shell script of variables beside the files that they name: written, and checked as it is by then."""

from __future__ import annotations

from collections.abc import Sequence

from unisono.core.reading import read_text
from unisono.export import shell
from unisono.export.carried import by_environment, carried
from unisono.export.content import Content
from unisono.export.environment_check import check_environment
from unisono.export.placement_words import placement_comment
from unisono.export.seen import Item


def write_script(content: Content, name: str, remarks: Sequence[str] = ()) -> dict[str, str]:
    """Name -> text of the script and of its files; `remarks` end the comments at its head."""
    found = carried(content)
    comments = [*content.head, *found.notes, *placement_comment(content), *remarks]
    text = shell.write(found.variables, comments, needs=found.paths(content.directory), name=name)
    return {**found.files, name: text}


def check_script(content: Content, name: str, deadline: float) -> tuple[list[Item], list[str]]:
    """What the MPI made of it: see Format.check."""
    path = content.directory / name
    return check_environment(content, by_environment(shell.read(read_text(path), str(path)), path), deadline)
