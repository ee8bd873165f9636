"""The commands around a virtual cluster: vcluster up, run, down."""

from __future__ import annotations

from typing import Annotated

import typer

_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}

vcluster = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog="Example: unisono vcluster up --nodes 4 --ppn 2 --rate 1gbit, then: "
    "unisono vcluster run -- mpirun -n 8 ./app",
    help=(
        "Bring up several virtual nodes on this machine. MPI sees them as a cluster, so that you can try commands "
        "that need several nodes."
    ),
)


@vcluster.command(epilog="Example: unisono vcluster up --nodes 4 --ppn 2 --rate 1gbit --slow n3")
def up(
    nodes: Annotated[int, typer.Option(metavar="N", min=1, max=200, help="The number of nodes: n0, n1, ...")] = 4,
    ppn: Annotated[int, typer.Option(metavar="N", min=1, max=1024, help="The number of slots per node.")] = 2,
    rate: Annotated[str | None, typer.Option(metavar="1gbit", help="Limit every node's link to this rate.")] = None,
    slow: Annotated[
        list[str] | None, typer.Option(metavar="NODE", help="A node whose link has half the rate; may be repeated.")
    ] = None,
    slurm: Annotated[
        bool, typer.Option("--slurm", help="Also start Slurm on them (sbatch, srun, salloc); needs root.")
    ] = False,
) -> None:
    """Bring the cluster up. It stays until vcluster down, or until the machine restarts."""
    from unisono.commands.vcluster import up as command

    command(nodes=nodes, ppn=ppn, rate=rate, slow=slow or [], slurm=slurm)


@vcluster.command(context_settings=_PASS_ON, epilog="Example: unisono vcluster run -- mpirun -n 8 ./app")
def run(
    command_line: Annotated[list[str], typer.Argument(metavar="-- COMMAND ...", help="The command to run there.")],
) -> None:
    """Run a command on the cluster's login host. Launchers reach the nodes from there."""
    from unisono.commands.vcluster import run as command

    command(command_line)


@vcluster.command(epilog="Example: unisono vcluster down")
def down() -> None:
    """End the cluster with all that runs in it. This also removes what a killed vcluster up left."""
    from unisono.commands.vcluster import down as command

    command()


def add_to(app: typer.Typer) -> None:
    app.add_typer(vcluster, name="vcluster")
