"""The commands around an application's profile: profile (run, show, report, import, export), advise, optimize."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from unisono.cli_options import OUT, PROFILE, TUNING, CommandLine, Json, Metric, Output, ProfileFile, TuningOption
from unisono.core.errors import UserError
from unisono.core.language import _

_RUN = "run-program"
_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


class _Profile(TyperGroup):
    """`unisono profile [OPTIONS] -- mpirun ...` runs a program; `unisono profile show P` is a command as others are."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        if at < len(args) and not any(word in self.commands for word in args[:at]):
            args = [*args[:at], _RUN, *args[at:]]
        found: list[str] = super().parse_args(ctx, args)
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            self._refuse_misspelt(ctx, args[0])
            return _RUN, self.commands[_RUN], ["--", *args]
        return super().resolve_command(ctx, args)

    def _refuse_misspelt(self, ctx: Any, word: str) -> None:
        """A word that is no program here, and looks like one of the commands."""
        import shutil

        from unisono.core.names import close_names

        near = close_names(word, [name for name, command in self.commands.items() if not command.hidden])
        if near and shutil.which(word) is None:
            ctx.fail(f"No such command '{word}'. Did you mean '{near[0]}'?")


class _Import(TyperCommand):
    """Its help names what the importers read, and imports them only then."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from unisono.profile.importers.sniff import readable

        file: Any = self.params[0]
        file.help = readable()
        super().format_help(ctx, formatter)


profile = typer.Typer(
    cls=_Profile,
    no_args_is_help=True,
    rich_markup_mode=None,
    subcommand_metavar="-- mpirun ... | COMMAND ...",
    epilog="Example: unisono profile -o app.profile --as-is 3 -- mpirun -n 8 ./app, then: "
    "unisono profile show app.profile",
    help="Record what a program does in MPI, and look at it.",
)


@profile.callback()
def _profile(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The file for the profile.")] = OUT
    / "app.profile",
    as_is: Annotated[
        int, typer.Option("--as-is", metavar="N", help="Also time N runs without the recorder, to see what it costs.")
    ] = 0,
    depth: Annotated[
        int, typer.Option(metavar="N", min=0, max=16, help="The number of frames to keep of each call path.")
    ] = 8,
    split_waiting: Annotated[
        bool,
        typer.Option("--split-waiting", help="Measure waiting apart from transfer (a barrier before collectives)."),
    ] = False,
    filter: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What to record: lines 'exclude MPI_Iprobe' or 'include MPI_*'.")
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX", help="With --as-is: compare the value captured by the group of this regular expression."
        ),
    ] = None,
    mpicc: Annotated[
        str | None, typer.Option(metavar="PATH", help="The compiler wrapper of the program's MPI.")
    ] = None,
) -> None:
    pass


@profile.command(_RUN, hidden=True, context_settings=_PASS_ON)
def _run(ctx: typer.Context, command_line: CommandLine) -> None:
    from unisono.commands.profiling import profile as command

    assert ctx.parent is not None
    raise typer.Exit(command(command_line, **ctx.parent.params))


@profile.command(epilog="Example: unisono profile show unisono-out/app.profile")
def show(
    path: ProfileFile = PROFILE,
    hot: Annotated[int, typer.Option(metavar="N", help="How many hot spots to list.")] = 10,
    json: Json = False,
) -> None:
    """Show a profile. First comes the flat table, then the hot spots with one row each."""
    from unisono.commands.profile_reading import show as command

    raise typer.Exit(command(path, json=json, hot=hot))


@profile.command(epilog="Example: unisono profile report app.profile -o app.html --tuning unisono-out/tuning.toml")
def report(
    path: ProfileFile = PROFILE,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The page.")] = Path("profile.html"),
    tuning: Annotated[
        Path | None, typer.Option(metavar="TUNING", help="Show this tuning's gains at the program's message sizes.")
    ] = None,
    study: Annotated[
        Path | None, typer.Option(metavar="STUDY.db", help="Show this study's times at the program's message sizes.")
    ] = None,
) -> None:
    """Write the explorer of a profile. It is one HTML file with metrics, call tree and ranks, and opens offline."""
    from unisono.commands.profile_report import profile_report as command

    raise typer.Exit(command(path, output, tuning=tuning, study=study))


@profile.command(
    "import", cls=_Import, epilog="Example: unisono profile import scorep-run/profile.cubex -o app.profile"
)
def import_(
    path: Annotated[Path, typer.Argument(metavar="FILE")],
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="The profile to write.")] = None,
) -> None:
    """Turn another tool's profile into a profile of Unisono. Also say what its format lacks."""
    from unisono.commands.profile_reading import import_ as command

    raise typer.Exit(command(path, output))


@profile.command(epilog="Example: unisono profile export app.profile --format speedscope")
def export(
    format: Annotated[
        str,
        typer.Option(metavar="cubex|speedscope|json", help="What reads it: CubeGUI, speedscope, or your own script."),
    ],
    path: ProfileFile = PROFILE,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="The file to write.")] = None,
) -> None:
    """Write a profile in another tool's format."""
    from unisono.commands.profile_reading import export as command

    raise typer.Exit(command(path, format=format, output=output))


def advise(
    path: ProfileFile = PROFILE,
    tuning: TuningOption = TUNING,
    measure: Annotated[
        bool, typer.Option("--measure", help="First measure on this machine what the tuning lacks.")
    ] = False,
    budget: Annotated[
        str | None, typer.Option(metavar="4m", help="With --measure: the longest time to measure. Default: 4m.")
    ] = None,
    evidence: Annotated[
        list[Path] | None,
        typer.Option(metavar="STUDY.db", help="The study to predict from. Default: the one beside the tuning."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the tuning for this program.")
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="The number of nodes the program ran on, if the profile names no host."),
    ] = None,
    json: Json = False,
) -> None:
    """Predict what a tuning would gain for a profiled program. Nothing is applied."""
    from unisono.commands.advising import advise_command as command

    if budget is not None and not measure:
        raise UserError(_("--budget limits the time of --measure, so it needs --measure"))
    if budget is None and measure:
        budget = "4m"
    raise typer.Exit(
        command(
            path,
            tuning,
            studies=evidence or [],
            output=output,
            nodes=nodes,
            budget=budget,
            json=json,
        )
    )


def optimize(
    command_line: CommandLine,
    output: Output = OUT / "optimize",
    budget: Annotated[
        str,
        typer.Option(
            metavar="10m", help="The longest time for everything. A run that has begun still runs to its end."
        ),
    ] = "10m",
    metric: Metric = None,
    runs: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="The number of pairs of runs in each trial. A trial in doubt gets up to four times as many.",
        ),
    ] = 7,
    timeout: Annotated[
        str | None,
        typer.Option(
            metavar="1h",
            help="Treat longer runs as failed. Default: ten times the time of the first, at least a minute.",
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the work in DIR.")] = False,
    mpirun: Annotated[
        str | None, typer.Option(metavar="PATH", help="What 'mpirun' in the command stands for. Default: as on PATH.")
    ] = None,
    json: Json = False,
) -> None:
    """Find the fastest settings for one program. Profile, measure, advise, apply and verify until no gain is left."""
    from unisono.commands.optimizing import optimize as command

    raise typer.Exit(
        command(
            command_line,
            output=output,
            budget=budget,
            metric=metric,
            runs=runs,
            resume=resume,
            json=json,
            timeout=timeout,
            mpirun=mpirun,
        )
    )


def add_to(app: typer.Typer) -> None:
    """The commands of this file, added to the program's."""
    app.add_typer(profile, name="profile")
    app.command(epilog="Example: unisono advise app.profile --tuning unisono-out/tuning.toml")(advise)
    app.command(
        context_settings=_PASS_ON,
        epilog="Example: unisono optimize --metric 'Time in seconds = *([0-9.]+)' -- mpirun -n 8 ./app",
    )(optimize)
