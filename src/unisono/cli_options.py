"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

OUT = Path("unisono-out")

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
Mpirun = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="The MPI to use; else $UNISONO_MPIRUN, the first on PATH, the embedded one."),
]
TunedMpirun = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="What 'mpirun' in the command means; else the tuning's MPI, if the program's."),
]
Mpicc = Annotated[str | None, typer.Option(metavar="PATH", help="Its compiler wrapper; else the mpicc beside mpirun.")]
Hosts = Annotated[
    str | None,
    typer.Option(metavar="A:N,B:N", help="Nodes and their slots; else what the scheduler gave, else this one."),
]
For = Annotated[
    str | None, typer.Option("--for", metavar="COLLECTIVE", help="Choose the launch setting for this collective alone.")
]
Weights = Annotated[
    str | None, typer.Option(metavar="A=0.8,B=0.2", help="Choose the launch setting for this mix of collectives.")
]
TuningFile = Annotated[Path, typer.Argument(metavar="TUNING", help="A tuning.toml.")]
TuningOption = Annotated[Path, typer.Option("--tuning", metavar="TUNING", help="A tuning.toml.")]
EXPORT_FORMATS = "openmpi|openmpi-json|ucx|shell|mpich-env|mpich-json|mpirun|module|slurm|reframe|rules"
