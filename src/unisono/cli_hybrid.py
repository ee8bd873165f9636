"""The command that finds a layout of processes and threads: hybrid."""

from __future__ import annotations

from typing import Annotated

import typer

from unisono.cli_options import OUT, Hosts, Json, Launcher, Mpicc, Mpirun, Output, Resume
from unisono.core.errors import UserError
from unisono.core.language import _


def hybrid(
    command_line: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND]", help="Your program. Default: unisono-solver.")
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            metavar="N|XxYxZ",
            help="The solver's cube: nodes of the mesh along a side, so that 64 is 262,144 of them. Default: 64, or "
            "144 when simulated.",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX",
            help="A regular expression that finds the seconds in the program's output. Default: wall time.",
        ),
    ] = None,
    layouts: Annotated[
        str,
        typer.Option(
            metavar="flat,4x4,8x2|all",
            help="The layouts to measure, as threads x processes of a node; 'all' takes all that fill a node.",
        ),
    ] = "all",
    numa: Annotated[
        str,
        typer.Option(
            metavar="auto|all|NAMES", help="NUMA policies to try: none, local, socket-local, socket-interleave."
        ),
    ] = "auto",
    packing: Annotated[
        str, typer.Option(metavar="single|threads|both", help="Which threads pack the solver's halo.")
    ] = "single",
    links: Annotated[
        str | None, typer.Option(metavar="1,4", help="Also try these numbers of links per message (UCX_MAX_*_RAILS).")
    ] = None,
    nodes: Annotated[str, typer.Option(metavar="1,2,4", help="The numbers of nodes to measure.")] = "1",
    rounds: Annotated[int, typer.Option(metavar="N", help="The number of launches of each layout.")] = 5,
    timeout: Annotated[str, typer.Option(metavar="10m", help="Treat longer launches as hung.")] = "10m",
    budget: Annotated[str | None, typer.Option(metavar="10m", help="Start no new launch after this time.")] = None,
    output: Output = OUT,
    resume: Resume = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print every command line; run nothing.")] = False,
    simulate: Annotated[
        str | None, typer.Option(metavar="t2k|xt4|FILE", help="Simulate the solver on this machine with SimGrid.")
    ] = None,
    cores: Annotated[
        str | None, typer.Option(metavar="32,1024", help="With --simulate: the numbers of cores. Default: 32,128,512.")
    ] = None,
    json: Json = False,
    mpirun: Mpirun = None,
    mpicc: Mpicc = None,
    launcher: Launcher = None,
    hosts: Hosts = None,
) -> None:
    """Find the fastest layout of processes and threads. Also say why the others lose."""
    if simulate is not None:
        from unisono.commands.simulating import simulating

        status = simulating(
            simulate,
            command_line or [],
            size=size,
            layouts=layouts,
            packing=packing,
            links=links,
            cores=cores if cores is not None else "32,128,512",
            output=output,
            json=json,
        )
        raise typer.Exit(status)
    if cores is not None:
        raise UserError(
            _(
                "--cores {cores}: can only be used with --simulate; without it, --layouts and --nodes choose what is "
                "measured"
            ).format(cores=cores)
        )
    from unisono.commands.hybrid import Wishes
    from unisono.commands.hybrid import hybrid as command

    wishes = Wishes(
        argv=command_line or [],
        size=size or "64",
        metric=metric,
        layouts=layouts,
        numa=numa,
        packing=packing,
        links=links,
        nodes=nodes,
        rounds=rounds,
        timeout=timeout,
        budget=budget,
        output=output,
        resume=resume,
        dry_run=dry_run,
        json=json,
        mpirun=mpirun,
        mpicc=mpicc,
        hosts=hosts,
        launcher=launcher,
    )
    raise typer.Exit(command(wishes))


def add_to(app: typer.Typer) -> None:
    app.command(
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        epilog="Example: unisono hybrid --size 64 --layouts all, or: "
        "unisono hybrid --metric 'time = ([0-9.]+)' -- ./app --ranks {ranks} --threads {threads}",
    )(hybrid)
