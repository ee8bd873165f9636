"""The command line's own texts in the reader's language: help, usage, and what the parser says about a wrong argument.

They are written once, in English, where options are declared and in the parser's library; here the finished texts go
through the catalogue. In English only names of arguments are kept as they are declared.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import typer
import typer.core
import typer.main

from unisono.core.language import N_, _, language, translated
from unisono.core.lines import wrapped

PARSER_TEXTS = (
    N_("Usage: {usage}"),
    N_("Try '{command}' for help."),
    N_("Error: {message}"),
    N_("No such option: {option}"),
    N_("No such option: {option} (Possible options: {options})"),
    N_("No such command '{command}'."),
    N_("No such command '{command}'. Did you mean '{near}'?"),
    N_("Missing command."),
    N_("Missing argument '{argument}'."),
    N_("Missing option '{option}'."),
    N_("Missing option '{option}'. {more}"),
    N_("Invalid value for '{option}': {problem}"),
    N_("Option '{option}' requires an argument."),
    N_("Option '{option}' does not take a value."),
    N_("Got unexpected extra argument ({arguments})"),
    N_("Got unexpected extra arguments ({arguments})"),
    N_("'{value}' is not a valid integer."),
    N_("'{value}' is not a valid float."),
    N_("Input should be a valid integer, unable to parse string as an integer"),
    N_("Input should be a valid number, unable to parse string as a number"),
    N_("{value} is not in the range {range}."),
    N_("Options"),
    N_("Arguments"),
    N_("Commands"),
    N_("default: {default}"),
    N_("required"),
    N_("Show this message and exit."),
    N_("Aborted!"),
)
"""What the library says, as finished texts."""


def command_of(app: typer.Typer) -> Any:
    """The parser of the command line, its texts in the language chosen. Called after `unisono.core.language.choose`."""
    command = typer.main.get_command(app)
    for one in _commands(command):
        for parameter in one.params:
            _as_declared(parameter)
    if language() != "en":
        for one in _commands(command):
            for name in ("help", "short_help", "epilog"):
                setattr(one, name, _of(getattr(one, name, None)))
            if one.help and not one.short_help:
                one.short_help = one.help.partition("。")[0] + "。"  # the library looks for a full stop
            for parameter in one.params:
                if getattr(parameter, "help", None):
                    parameter.help = _of(parameter.help)
        _speak(command)
    return command


def _as_declared(parameter: Any) -> None:
    """Newer versions of the library add a Python type and braces to an argument's name, which says it all itself."""
    if parameter.param_type_name == "argument" and parameter.metavar:
        parameter.display_type_rich = lambda ctx: ""
        parameter._usage_display_name = lambda: parameter.metavar


def texts_of(app: typer.Typer) -> Iterator[str]:
    """Every text of the command line that the catalogue must have."""
    for one in _commands(typer.main.get_command(app)):
        yield from (text for name in ("help", "epilog") if (text := getattr(one, name, None)))
        yield from (text for parameter in one.params if (text := getattr(parameter, "help", None)))
    yield from PARSER_TEXTS


def _commands(command: Any) -> Iterator[Any]:
    yield command
    for one in getattr(command, "commands", {}).values():
        yield from _commands(one)


def _of(text: str | None) -> str | None:
    return _(text) if text else text


def _speak(command: Any) -> None:
    """Teach the parser's library: it has no place for a translation except in its classes."""
    vars(typer.core)["_"] = _
    context = command.context_class
    context.formatter_class = _formatter(context.formatter_class)
    for one in _commands(command):
        _translate_help_option(one)
    for kind in typer.BadParameter.__mro__:
        if "show" in vars(kind):
            _translate_show(kind)


def _translate_help_option(command: Any) -> None:
    original = command.get_help_option

    def get_help_option(ctx: Any) -> Any:
        option = original(ctx)
        if option is not None:
            option.help = translated(option.help or "")
        return option

    command.get_help_option = get_help_option


def _translate_show(kind: Any) -> None:
    original = kind.show

    def show(self: Any, file: Any = None) -> None:
        said = io.StringIO()
        original(self, said)
        text = "\n".join(translated(line) for line in said.getvalue().split("\n"))
        typer.echo(text, file=file, nl=False, err=file is None)

    kind.show = show


def _formatter(base: Any) -> Any:
    """The library's formatter for texts without spaces between words, some of whose characters are two columns wide."""

    class Formatter(base):  # type: ignore[misc]
        def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
            self.write(translated(f"Usage: {prog} {args}".rstrip()) + "\n")

        def write_heading(self, heading: str) -> None:
            self.write(f"{'':>{self.current_indent}}{_(heading)}:\n")

        def write_text(self, text: str) -> None:
            for line in wrapped(" ".join(text.split()), self.width - self.current_indent):
                self.write(f"{'':>{self.current_indent}}{line}\n")

        def write_dl(self, rows: Any, col_max: int = 30, col_spacing: int = 2) -> None:
            rows = list(rows)
            first = min(max((len(name) for name, _text in rows), default=0), col_max) + col_spacing
            for name, text in rows:
                lines = wrapped(text, max(self.width - first - 2, 20)) or [""]
                if len(name) > first - col_spacing:
                    self.write(f"{'':>{self.current_indent}}{name}\n")
                    name = ""
                self.write(f"{'':>{self.current_indent}}{name:<{first}}{lines[0]}".rstrip() + "\n")
                for line in lines[1:]:
                    self.write(f"{'':>{self.current_indent + first}}{line}\n")

    return Formatter
