"""The commands about machines that are not here: simulate."""

from __future__ import annotations

import typer

from unisono.cli_options import Json

simulate = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog="Example: unisono simulate platforms",
    help="Machines that are not here, with SimGrid: nothing that these commands say was measured.",
)


@simulate.command(epilog="Example: unisono simulate platforms")
def platforms(json: Json = False) -> None:
    """List the machines that come with Unisono, and how many of their numbers are assumed."""
    from unisono.commands.platforms import platforms as command

    command(json=json)


def add_to(app: typer.Typer) -> None:
    app.add_typer(simulate, name="simulate")
