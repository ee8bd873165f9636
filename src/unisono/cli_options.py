"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

OUT = Path("unisono-out")

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
Output = Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The directory for all outputs.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue the study in DIR; begin it if there is none.")]
Mpirun = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="The MPI to use. Default: $UNISONO_MPIRUN, then the first on PATH, then the one beside Unisono.",
    ),
]
Reproducible = Annotated[
    str | None,
    typer.Option(
        metavar="runs|placement|ranks",
        help="Give sums the same bits: from run to run, under any placement of the ranks, or from any number of ranks.",
    ),
]
TunedMpirun = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="What 'mpirun' in the command stands for. Default: the tuning's MPI, if the program uses it.",
    ),
]
Mpicc = Annotated[
    str | None, typer.Option(metavar="PATH", help="The compiler wrapper of this MPI. Default: the mpicc beside mpirun.")
]
Launcher = Annotated[
    str | None,
    typer.Option(metavar="'srun --mpi=pmix'", help="Within a Slurm job: start ranks by srun in place of mpirun."),
]
Hosts = Annotated[
    str | None,
    typer.Option(metavar="A:N,B:N", help="Nodes and their slots. Default: the scheduler's job, or this node."),
]
For = Annotated[
    str | None, typer.Option("--for", metavar="COLLECTIVE", help="Choose the launch setting for this collective alone.")
]
Weights = Annotated[
    str | None, typer.Option(metavar="A=0.8,B=0.2", help="Choose the launch setting for this mix of collectives.")
]
Metric = Annotated[
    str | None,
    typer.Option(
        metavar="REGEX",
        help="A regular expression whose group captures the time in the program's output. Default: wall time.",
    ),
]
CommandLine = Annotated[list[str], typer.Argument(metavar="-- mpirun ...", help="The command that starts the program.")]


def _usual(context: typer.Context, param: typer.CallbackParam, value: Path) -> Path:
    """Says which file is meant where the command does not name one."""
    source = context.get_parameter_source(param.name or "")
    if source is not None and source.name == "DEFAULT" and value.exists() and not context.resilient_parsing:
        from unisono.commands.console import say
        from unisono.core.language import _

        say(_("using {path}").format(path=value))
    return value


STUDY, PROFILE = OUT / "study.db", OUT / "app.profile"
StudyFile = Annotated[
    Path, typer.Argument(metavar="[STUDY.db]", callback=_usual, help="A study, as unisono tune writes it.")
]
ProfileFile = Annotated[
    Path,
    typer.Argument(
        metavar="[PROFILE]", callback=_usual, help="A profile of Unisono, or what unisono profile import reads."
    ),
]
TUNING = OUT / "tuning.toml"
TuningFile = Annotated[
    Path, typer.Argument(metavar="[TUNING]", callback=_usual, help="A tuning.toml, as unisono tune writes it.")
]
TuningOption = Annotated[
    Path,
    typer.Option("--tuning", metavar="TUNING", callback=_usual, help="A tuning.toml, as unisono tune writes it."),
]
