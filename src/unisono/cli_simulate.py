"""The commands about machines that are not here: simulate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unisono.cli_options import OUT, Json, Output, Resume

simulate = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog="Example: unisono simulate platforms",
    help="Simulate machines that are not here, with SimGrid. Nothing that these commands say was measured.",
)


@simulate.command(epilog="Example: unisono simulate platforms")
def platforms(json: Json = False) -> None:
    """List the machines that come with Unisono. Also say how many of their numbers are assumed."""
    from unisono.commands.platforms import platforms as command

    command(json=json)


@simulate.command(epilog="Example: unisono simulate tune --platform fx10 --nodes 64 --ppn 4 --collective bcast -o fx10")
def tune(
    platform: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", help="The machine; unisono simulate platforms lists them.")
    ] = None,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="STUDY.db", help="In place of --platform: a machine fitted to what this study measured."
        ),
    ] = None,
    nodes: Annotated[
        str | None, typer.Option(metavar="16,64", help="Numbers of nodes. Default: the machine's.")
    ] = None,
    ppn: Annotated[int | None, typer.Option(metavar="N", min=1, help="Ranks per node. Default: its cores.")] = None,
    output: Output = OUT,
    collective: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Simulate this collective only; may be repeated.")
    ] = None,
    size: Annotated[
        list[str] | None, typer.Option(metavar="SIZE", help="Simulate this message size only; may be repeated.")
    ] = None,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Simulate only this one of our algorithms; may be repeated."),
    ] = None,
    selector: Annotated[
        str,
        typer.Option(
            metavar="ompi|mpich|mvapich2|impi", help="The MPI whose choice of algorithms the default imitates."
        ),
    ] = "ompi",
    deadline: Annotated[str, typer.Option(metavar="60s", help="The longest time of each simulation.")] = "60s",
    resume: Resume = False,
    json: Json = False,
) -> None:
    """Simulate collectives on a machine. Decide and report them as a study, in which nothing was measured."""
    from unisono.commands.simulate_tune import Wishes, simulate_tune

    wishes = Wishes(
        platform=platform,
        study=from_,
        nodes=nodes,
        ppn=ppn,
        output=output,
        collectives=collective or [],
        sizes=size or [],
        algorithms=algorithm or [],
        selector=selector,
        deadline=deadline,
        resume=resume,
        json=json,
    )
    raise typer.Exit(simulate_tune(wishes))


def add_to(app: typer.Typer) -> None:
    app.add_typer(simulate, name="simulate")
