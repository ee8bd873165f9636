"""The command line: one short function a command, no logic. Everything heavy is imported where it is used."""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from unisono import __version__, cli_hybrid, cli_language, cli_profile, cli_simulate, cli_study, cli_vcluster
from unisono.cli_options import (
    OUT,
    STUDY,
    TUNING,
    CommandLine,
    For,
    Hosts,
    Json,
    Metric,
    Mpicc,
    Mpirun,
    Reproducible,
    StudyFile,
    TunedMpirun,
    TuningFile,
    TuningOption,
    Weights,
)
from unisono.core.errors import UserError
from unisono.core.language import _, choose, translated

app = typer.Typer(
    name="unisono",
    help="Finds the fastest way your MPI can communicate, on your machine, for your application, and proves it.",
    epilog="Start with: unisono doctor, then: unisono tune",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: boxes would cost a third of the 0.3 s it may take
    context_settings={"help_option_names": ["-h", "--help"]},
)


_verbose = False
"""Whether the command line asked for the details of an error."""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"unisono {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", help="After an error, also print the output of the program that failed, such as a compiler."
        ),
    ] = False,
    lang: Annotated[
        str | None,
        typer.Option(metavar="en|ja", help="Language. Default: $UNISONO_LANG, then LC_ALL, LC_MESSAGES, LANG."),
    ] = None,
) -> None:
    global _verbose  # lang: unisono.core.language.choose has read it, before or behind the command's name
    _verbose = verbose


@app.command(epilog="Example: unisono doctor --json > machine.json")
def doctor(
    json: Json = False,
    mpirun: Mpirun = None,
    mpicc: Mpicc = None,
    hosts: Hosts = None,
    fabric: Annotated[
        bool,
        typer.Option(
            "--fabric", help="Measure the network between the nodes, and name slow nodes, links and processors."
        ),
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="With --fabric: the output directory.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="1m", help="With --fabric: the longest time to measure.")
    ] = None,
    drain_reason: Annotated[
        bool, typer.Option("--drain-reason", help="With --fabric: print the Slurm command that drains each slow node.")
    ] = False,
    reframe: Annotated[
        bool, typer.Option("--reframe", help="With --fabric: print the reference of a ReFrame test, with bounds.")
    ] = False,
) -> None:
    """Describe this machine, its MPI and its network. Also say which parameters can be tuned here."""
    from unisono.commands.doctor import doctor as command

    status = command(
        json=json,
        mpirun=mpirun,
        mpicc=mpicc,
        hosts=hosts,
        fabric=fabric,
        output=output,
        budget=budget,
        drain_reason=drain_reason,
        reframe=reframe,
    )
    raise typer.Exit(status)


cli_study.add_to(app)


@app.command(epilog="Example: unisono report unisono-out/study.db -o report.html")
def report(
    study: StudyFile = STUDY,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The page.")] = Path("report.html"),
) -> None:
    """Write the report of a study, finished or not. It is one HTML file that opens offline."""
    from unisono.commands.reading import report as command

    command(study, output)


@app.command(epilog="Example: unisono show unisono-out/tuning.toml")
def show(tuning: TuningFile = TUNING, json: Json = False) -> None:
    """Show what a tuning decides and what that gains. Also say whether it fits this machine."""
    from unisono.commands.reading import show as command

    command(tuning, json=json)


@app.command(epilog="Example: unisono lookup tuning.toml --collective alltoall --nodes 1 --ppn 36 --size 512K --why")
def lookup(
    collective: Annotated[str, typer.Option(metavar="NAME", help="Which collective.")],
    size: Annotated[str, typer.Option(metavar="SIZE", help="The message size, as IMB counts it.")],
    tuning: TuningFile = TUNING,
    nodes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The number of nodes. Default: the one that was measured.")
    ] = None,
    ppn: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="The number of ranks per node. Default: the one that was measured."),
    ] = None,
    for_: For = None,
    weights: Weights = None,
    why: Annotated[
        bool, typer.Option("--why", help="Say why: the rule, its evidence, and what other launch settings would use.")
    ] = False,
    json: Json = False,
) -> None:
    """Say what one collective uses at one message size. Also say what that gains."""
    from unisono.commands.looking_up import lookup as command

    command(
        tuning, collective=collective, nodes=nodes, ppn=ppn, size=size, for_=for_, weights=weights, why=why, json=json
    )


class _Export(TyperCommand):
    """Its help names the formats there are, and imports them only then."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from unisono.export.formats import FORMATS

        next(one for one in self.params if one.name == "format").metavar = "|".join(each.NAME for each in FORMATS)
        super().format_help(ctx, formatter)


@app.command(cls=_Export, epilog="Example: unisono export tuning.toml --format openmpi -o /etc/openmpi --check")
def export(
    format: Annotated[
        str, typer.Option(metavar="FORMAT", help="Write list to see all formats, and what each can hold.")
    ],
    tuning: TuningFile = TUNING,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Output directory.")] = OUT / "export",
    check: Annotated[bool, typer.Option("--check", help="Launch, and show that the MPI really took it.")] = False,
    for_: For = None,
    weights: Weights = None,
    nodes: Annotated[
        int | None, typer.Option(metavar="N", help="Export for this number of nodes, if the tuning has several.")
    ] = None,
    ppn: Annotated[
        int | None, typer.Option(metavar="N", help="Export for this number of ranks per node, if there are several.")
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option(
            metavar="STUDY.db", help="The study that reframe takes its values from. Default: the one beside the tuning."
        ),
    ] = None,
    json: Json = False,
    mpirun: Mpirun = None,
    mpicc: Mpicc = None,
) -> None:
    """Write a tuning in the form that an MPI reads. The formats rules and library are for our own library."""
    from unisono.commands.applying import export as command

    raise typer.Exit(
        command(
            tuning,
            format,
            output,
            check=check,
            for_=for_,
            weights=weights,
            nodes=nodes,
            ppn=ppn,
            json=json,
            mpirun=mpirun,
            mpicc=mpicc,
            study=study,
        )
    )


_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@app.command(context_settings=_PASS_ON, epilog="Example: unisono run --tuning tuning.toml -- mpirun -n 8 ./app")
def run(
    command_line: CommandLine,
    tuning: TuningOption = TUNING,
    layout: Annotated[
        bool,
        typer.Option(
            "--layout", help="Use the tuning's layout: it replaces ranks, threads and placement of the command."
        ),
    ] = False,
    for_: For = None,
    weights: Weights = None,
    print_: Annotated[bool, typer.Option("--print", help="Show the command instead of running it.")] = False,
    reproducible: Reproducible = None,
    mpirun: TunedMpirun = None,
) -> None:
    """Run any mpirun command line with a tuning applied."""
    from unisono.commands.applying import run as command

    raise typer.Exit(
        command(
            tuning,
            command_line,
            for_=for_,
            weights=weights,
            layout=layout,
            print_only=print_,
            mpirun=mpirun,
            reproducible=reproducible,
        )
    )


@app.command(
    context_settings=_PASS_ON,
    epilog="Example: unisono verify --tuning tuning.toml --metric 'Time in seconds = *([0-9.]+)' -- mpirun -n 8 ./app",
)
def verify(
    command_line: CommandLine,
    tuning: TuningOption = TUNING,
    metric: Metric = None,
    runs: Annotated[int, typer.Option(metavar="N", help="The number of pairs of runs: one as it is, one tuned.")] = 7,
    timeout: Annotated[str, typer.Option(metavar="1h", help="Treat longer runs as failed.")] = "1h",
    profile: Annotated[bool, typer.Option("--profile", help="Also profile both, and say which calls changed.")] = False,
    layout: Annotated[
        bool, typer.Option("--layout", help="The tuned runs use the tuning's layout, as run --layout does.")
    ] = False,
    for_: For = None,
    weights: Weights = None,
    mpirun: TunedMpirun = None,
    json: Json = False,
) -> None:
    """Prove a tuning on your program. Tuned and untuned runs alternate; you get an interval and a verdict."""
    from unisono.commands.applying import verify as command

    raise typer.Exit(
        command(
            tuning,
            command_line,
            metric=metric,
            runs=runs,
            timeout=timeout,
            for_=for_,
            weights=weights,
            json=json,
            profile=profile,
            layout=layout,
            mpirun=mpirun,
        )
    )


cli_hybrid.add_to(app)
cli_profile.add_to(app)
cli_simulate.add_to(app)
cli_vcluster.add_to(app)


def fail(message: str) -> NoReturn:
    """One line on stderr, exit status 2."""
    sys.stderr.write(f"unisono: {message}\n")
    sys.exit(2)


def _leave_quietly() -> NoReturn:
    """The reader has seen enough: what is left in the buffer goes nowhere, or Python would complain when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]
    sys.exit(0)


def _standard_streams() -> None:
    """Nothing that is opened later may take the place of a stream that the caller closed: it would be written to."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)
    if sys.stdout is None:
        fail(_("the output: cannot be written, because it is closed; send it somewhere, for example > /dev/null"))


def _terminal_size() -> None:
    """What is no width is nothing: libraries would stumble over it."""
    for name in ("COLUMNS", "LINES"):
        given = os.environ.get(name, "0")
        if not (given.isascii() and given.isdigit() and len(given) <= 4):
            del os.environ[name]


def main(arguments: list[str] | None = None) -> Any:
    """Entry point: exit status 0, 1 (the answer is no), 2 (bad input or environment), 3 (no answer yet), 130
    (interrupted)."""
    # Where it is ignored by inheritance, the kernel forgets how children end, and a failed launch looks good.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _standard_streams()
    _terminal_size()
    try:
        try:
            arguments = choose(sys.argv[1:] if arguments is None else arguments)
            return cli_language.command_of(app)(arguments, standalone_mode=True)
        finally:
            sys.stdout.flush()
    except SystemExit as error:
        # rich and click end with 1 when the reader (head, less) has seen enough; that is no failure of ours.
        if isinstance(error.__context__, BrokenPipeError):
            _leave_quietly()
        raise
    except UserError as error:
        if _verbose and error.details:
            sys.stderr.write(error.details.rstrip() + "\n")
        fail(translated(str(error)))
    except KeyboardInterrupt:
        sys.stderr.write(_("unisono: interrupted") + "\n")
        sys.exit(130)
    except BrokenPipeError:
        _leave_quietly()
    except MemoryError:
        fail(_("there is not enough memory for this"))
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        # What is left in the buffer goes nowhere, or Python would complain again when it flushes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        path = error.filename or _("the output")
        fail(_("{path}: cannot be written: {problem}").format(path=path, problem=error.strerror))


if __name__ == "__main__":
    main()
