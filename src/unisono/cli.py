"""The command line: one short function a command, no logic. Everything heavy is imported where it is used."""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from unisono import __version__, cli_hybrid, cli_language, cli_profile, cli_vcluster
from unisono.cli_options import (
    EXPORT_FORMATS,
    OUT,
    For,
    Hosts,
    Json,
    Mpicc,
    Mpirun,
    TunedMpirun,
    TuningFile,
    TuningOption,
    Weights,
)
from unisono.errors import UserError
from unisono.language import _, choose, translated

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
        bool, typer.Option("--verbose", help="With an error, print what the program behind it (a compiler) said.")
    ] = False,
    lang: Annotated[
        str | None, typer.Option(metavar="en|ja", help="Language; else $UNISONO_LANG, LC_ALL, LC_MESSAGES, LANG.")
    ] = None,
) -> None:
    global _verbose  # lang: unisono.language.choose has read it, before or behind the command's name
    _verbose = verbose


@app.command(epilog="Example: unisono doctor --json > machine.json")
def doctor(
    json: Json = False,
    mpirun: Mpirun = None,
    mpicc: Mpicc = None,
    hosts: Hosts = None,
    fabric: Annotated[
        bool, typer.Option("--fabric", help="Measure between the nodes instead: which node, link or processor is slow?")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where fabric.json and its page go.")
    ] = None,
    budget: Annotated[str | None, typer.Option(metavar="1m", help="With --fabric, measure no longer.")] = None,
    drain_reason: Annotated[
        bool, typer.Option("--drain-reason", help="With --fabric, print Slurm's command to drain each slow node.")
    ] = False,
    reframe: Annotated[
        bool, typer.Option("--reframe", help="With --fabric, print the reference of a ReFrame test, with bounds.")
    ] = False,
) -> None:
    """Describe this machine, its MPI and network, and say which parameters can be tuned here."""
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


@app.command(epilog="Example: unisono tune quick --budget 4m, or: unisono tune my-study.toml --dry-run")
def tune(
    study: Annotated[
        str | None,
        typer.Argument(metavar="[STUDY.toml]", help="A study file, or the name of a ready-made one; else quick."),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where everything goes.")] = OUT,
    budget: Annotated[str | None, typer.Option(metavar="10m", help="Measure no longer than this.")] = None,
    method: Annotated[str | None, typer.Option(metavar="race|classic", help="How to search.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue what is in DIR, or begin.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Resume although the machine has changed.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print every command line and the estimated time; run nothing.")
    ] = False,
    machine: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plan for this machine (doctor --json); with --dry-run.")
    ] = None,
    collective: Annotated[list[str] | None, typer.Option(help="Only this collective; may be repeated.")] = None,
    nodes: Annotated[
        str | None, typer.Option(metavar="2,4", help="Only these numbers of nodes; --submit: a job for each.")
    ] = None,
    ppn: Annotated[int | None, typer.Option(help="Only this number of ranks a node.")] = None,
    size: Annotated[list[str] | None, typer.Option(help="Only this message size; may be repeated.")] = None,
    oversubscribe: Annotated[bool, typer.Option("--oversubscribe", help="Allow more ranks than CPUs.")] = False,
    benchmark: Annotated[
        str | None, typer.Option(metavar="imb|osu", help="Measure with IMB or OSU, in the classic way.")
    ] = None,
    benchmark_program: Annotated[
        str | None, typer.Option(metavar="PATH", help="IMB-MPI1, or the directory of OSU's programs; else from PATH.")
    ] = None,
    submit: Annotated[
        str | None, typer.Option(metavar="slurm", help="Measure in jobs of this batch system, and follow them.")
    ] = None,
    time: Annotated[str | None, typer.Option(metavar="1h", help="--submit: how long each job may take.")] = None,
    verify: Annotated[bool, typer.Option(help="Prove the tuning at the end: default against tuned.")] = True,
    json: Json = False,
    mpirun: Mpirun = None,
    mpicc: Mpicc = None,
    hosts: Hosts = None,
) -> None:
    """Measure, decide, write the tuning in every form, prove it against the default, and report."""
    from unisono.commands.tune import Wishes
    from unisono.commands.tune import tune as command

    wishes = Wishes(
        study=study,
        output=output,
        budget=budget,
        method=method,
        resume=resume,
        force=force,
        dry_run=dry_run,
        machine=machine,
        collectives=collective or [],
        nodes=nodes,
        ppn=ppn,
        sizes=size or [],
        oversubscribe=oversubscribe,
        verify=verify,
        json=json,
        mpirun=mpirun,
        mpicc=mpicc,
        hosts=hosts,
        benchmark=benchmark,
        benchmark_program=benchmark_program,
        submit=submit,
        time=time,
    )
    raise typer.Exit(command(wishes))


@app.command(
    name="import-results",
    epilog="Example: unisono import-results default.txt coll=tuned,algorithm=ring@ring.txt --nodes 4 -o imported",
)
def import_results(
    files: Annotated[
        list[str], typer.Argument(metavar="[SETTING@]FILE...", help="Outputs of IMB, OSU, ReproMPI; jobs of PICO.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where everything goes.")] = OUT,
    machine: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The machine they are of (doctor --json); else unknown.")
    ] = None,
    nodes: Annotated[int | None, typer.Option(min=1, help="On how many nodes, where a file does not say.")] = None,
    ppn: Annotated[int | None, typer.Option(min=1, help="Ranks a node, where a file does not say.")] = None,
    name: Annotated[str, typer.Option(help="What to call the study.")] = "imported",
) -> None:
    """Make a study from what other benchmarks measured, decide it and report it."""
    from unisono.commands.importing import import_results as command

    command(files, output, machine=machine, nodes=nodes, ppn=ppn, name=name)


@app.command(epilog="Example: unisono report unisono-out/study.db -o report.html")
def report(
    study: Annotated[Path, typer.Argument(metavar="STUDY.db")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE")] = Path("report.html"),
) -> None:
    """Write the report of a study, finished or not: one HTML file that opens offline."""
    from unisono.commands.reading import report as command

    command(study, output)


@app.command(epilog="Example: unisono show unisono-out/tuning.toml")
def show(tuning: TuningFile, json: Json = False) -> None:
    """Show a tuning: what it decides, how much that gains, and whether it fits this machine."""
    from unisono.commands.reading import show as command

    command(tuning, json=json)


@app.command(epilog="Example: unisono lookup tuning.toml --collective alltoall --nodes 1 --ppn 36 --size 512K")
def lookup(
    tuning: TuningFile,
    collective: Annotated[str, typer.Option(help="Which collective.")],
    size: Annotated[str, typer.Option(help="Message size, as IMB counts it.")],
    nodes: Annotated[int | None, typer.Option(min=1, help="Number of nodes; else what was measured.")] = None,
    ppn: Annotated[int | None, typer.Option(min=1, help="Ranks a node; else what was measured.")] = None,
    for_: For = None,
    weights: Weights = None,
    json: Json = False,
) -> None:
    """Say what one collective gets at one message size."""
    from unisono.commands.reading import lookup as command

    command(tuning, collective=collective, nodes=nodes, ppn=ppn, size=size, for_=for_, weights=weights, json=json)


@app.command(epilog="Example: unisono explain tuning.toml --collective alltoall --size 4K")
def explain(
    tuning: TuningFile,
    collective: Annotated[str, typer.Option(help="Which collective.")],
    size: Annotated[str, typer.Option(help="Message size, as IMB counts it.")],
    nodes: Annotated[int | None, typer.Option(min=1, help="Which case, when the tuning has several.")] = None,
    ppn: Annotated[int | None, typer.Option(min=1, help="Which case, when the tuning has several.")] = None,
    for_: For = None,
    weights: Weights = None,
    json: Json = False,
) -> None:
    """Say what will be used for one call and why: the plan, its rule, the evidence, and what else there was."""
    from unisono.commands.explaining import explain as command

    command(tuning, collective=collective, size=size, nodes=nodes, ppn=ppn, for_=for_, weights=weights, json=json)


@app.command(
    epilog="Example: unisono compare nps1/study.db nps4/study.db -o comparison.html, or: unisono compare --mpis all"
)
def compare(
    studies: Annotated[list[Path] | None, typer.Argument(metavar="[A.db B.db ...]")] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also write a page; --mpis: the directory.")
    ] = None,
    mpis: Annotated[
        str | None,
        typer.Option(metavar="all|A/mpirun,B/mpiexec", help="Measure these MPIs in turns, and compare them."),
    ] = None,
    study: Annotated[
        str | None, typer.Option(metavar="STUDY.toml", help="--mpis: a study file, or a ready-made one; else quick.")
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="10m", help="--mpis: measure no longer than this, all MPIs together.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="--mpis: continue what is in the directory.")] = False,
    collective: Annotated[list[str] | None, typer.Option(help="--mpis: only this collective; may be repeated.")] = None,
    ppn: Annotated[int | None, typer.Option(min=1, help="--mpis: only this number of ranks a node.")] = None,
    size: Annotated[list[str] | None, typer.Option(help="--mpis: only this message size; may be repeated.")] = None,
    hosts: Hosts = None,
    json: Json = False,
) -> None:
    """Compare studies of different boot settings, library versions, machines or MPIs, case by case."""
    from unisono.commands import comparing

    wishes = comparing.Wishes(
        study=study,
        output=output,
        budget=budget,
        resume=resume,
        collectives=collective or [],
        ppn=ppn,
        sizes=size or [],
        hosts=hosts,
        json=json,
    )
    raise typer.Exit(comparing.compare(studies or [], mpis, wishes))


@app.command(epilog="Example: unisono export tuning.toml --format openmpi -o /etc/openmpi --check")
def export(
    tuning: TuningFile,
    format: Annotated[
        str, typer.Option(metavar=EXPORT_FORMATS, help="list: what each is, and whether it can say this plan.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR")] = OUT / "export",
    check: Annotated[bool, typer.Option("--check", help="Launch, and show that the MPI really took it.")] = False,
    for_: For = None,
    weights: Weights = None,
    nodes: Annotated[int | None, typer.Option(help="Which case, when the tuning has several.")] = None,
    ppn: Annotated[int | None, typer.Option(help="Which case, when the tuning has several.")] = None,
    study: Annotated[
        Path | None, typer.Option(metavar="STUDY.db", help="Where reframe's values come from; else beside the tuning.")
    ] = None,
    json: Json = False,
    mpirun: Mpirun = None,
    mpicc: Mpicc = None,
) -> None:
    """Write a tuning in the form an MPI, or our own library (rules), reads."""
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
    tuning: TuningOption,
    command_line: Annotated[list[str], typer.Argument(metavar="-- mpirun ...")],
    layout: Annotated[
        bool, typer.Option("--layout", help="In the tuning's layout: ranks, threads and their places are replaced.")
    ] = False,
    for_: For = None,
    weights: Weights = None,
    print_: Annotated[bool, typer.Option("--print", help="Show the command instead of running it.")] = False,
    mpirun: TunedMpirun = None,
) -> None:
    """Run any mpirun command line with a tuning applied."""
    from unisono.commands.applying import run as command

    raise typer.Exit(
        command(tuning, command_line, for_=for_, weights=weights, layout=layout, print_only=print_, mpirun=mpirun)
    )


@app.command(
    context_settings=_PASS_ON,
    epilog="Example: unisono verify --tuning tuning.toml --metric 'Time in seconds = *([0-9.]+)' -- mpirun -n 8 ./app",
)
def verify(
    tuning: TuningOption,
    command_line: Annotated[list[str], typer.Argument(metavar="-- mpirun ...")],
    metric: Annotated[
        str | None, typer.Option(metavar="REGEX", help="One group: the time in the program's output; else wall time.")
    ] = None,
    runs: Annotated[int, typer.Option(help="Runs of each, as-is and tuned, interleaved.")] = 7,
    timeout: Annotated[str, typer.Option(help="A run that takes longer has failed.")] = "1h",
    profile: Annotated[bool, typer.Option("--profile", help="Also profile both: which calls changed.")] = False,
    layout: Annotated[bool, typer.Option("--layout", help="Tuned is what run --layout would run.")] = False,
    for_: For = None,
    weights: Weights = None,
    mpirun: TunedMpirun = None,
    json: Json = False,
) -> None:
    """Prove a tuning on your program: as-is against tuned, with an interval and a verdict."""
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
        fail(_("the output: cannot be written: it is closed; give it a place, for example > /dev/null"))


def _terminal_size() -> None:
    """What is no width is nothing: libraries would stumble over it."""
    for name in ("COLUMNS", "LINES"):
        given = os.environ.get(name, "0")
        if not (given.isascii() and given.isdigit() and len(given) <= 4):
            del os.environ[name]


def main(arguments: list[str] | None = None) -> Any:
    """Entry point: exit status 0, 1 (the answer is no), 2 (bad input or environment), 130 (interrupted)."""
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
