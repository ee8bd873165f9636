"""The commands that make studies and compare them: tune, import-results, compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unisono.cli_options import OUT, Hosts, Json, Launcher, Mpicc, Mpirun, Output, Reproducible, Resume


def tune(
    study: Annotated[
        str | None,
        typer.Argument(metavar="[STUDY.toml]", help="A study file, or the name of a ready-made study. Default: quick."),
    ] = None,
    output: Output = OUT,
    budget: Annotated[str | None, typer.Option(metavar="10m", help="The longest time to measure.")] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="race|classic",
            help="How to search: race drops what cannot win; classic launches every combination five times.",
        ),
    ] = None,
    resume: Resume = False,
    force: Annotated[bool, typer.Option("--force", help="Resume although the machine has changed.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print every command line and the estimated time; run nothing.")
    ] = False,
    machine: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --dry-run: plan for the machine in this file (from doctor --json)."),
    ] = None,
    collective: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Measure this collective only, or all of a kind (blocking, neighborhood, nonblocking, persistent, "
            "all); may be repeated.",
        ),
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(metavar="2,4", help="Measure these numbers of nodes only. With --submit: one job for each."),
    ] = None,
    ppn: Annotated[int | None, typer.Option(metavar="N", help="Measure this number of ranks per node only.")] = None,
    size: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIZE",
            help="Measure this message size; may be repeated. The race adds a size beside the smallest or the largest "
            "of them if a setting gains at that one alone.",
        ),
    ] = None,
    oversubscribe: Annotated[bool, typer.Option("--oversubscribe", help="Allow more ranks than CPUs.")] = False,
    benchmark: Annotated[
        str | None, typer.Option(metavar="imb|osu", help="Measure with IMB or OSU, by the classic search.")
    ] = None,
    benchmark_program: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="The path of IMB-MPI1, or the directory of the OSU programs. Default: found on PATH."
        ),
    ] = None,
    submit: Annotated[
        str | None,
        typer.Option(metavar="slurm|pbs|flux", help="Measure in jobs of this batch system, and follow them."),
    ] = None,
    submit_options: Annotated[
        str | None,
        typer.Option(
            metavar="'-q large -A me'", help="With --submit: more options for sbatch or qsub, such as the queue."
        ),
    ] = None,
    time: Annotated[str | None, typer.Option(metavar="1h", help="With --submit: the time limit of each job.")] = None,
    reproducible: Reproducible = None,
    verify: Annotated[bool, typer.Option(help="Prove the tuning at the end: default against tuned.")] = True,
    json: Json = False,
    mpirun: Mpirun = None,
    mpicc: Mpicc = None,
    launcher: Launcher = None,
    hosts: Hosts = None,
) -> None:
    """Measure, decide, and write a tuning. It is proven against the default, and the report says why it was chosen."""
    from unisono.commands.tune import tune as command
    from unisono.study.wishes import Wishes

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
        submit_options=submit_options,
        time=time,
        reproducible=reproducible,
        launcher=launcher,
    )
    raise typer.Exit(command(wishes))


def import_results(
    files: Annotated[
        list[str], typer.Argument(metavar="[SETTING@]FILE...", help="Outputs of IMB, OSU, ReproMPI; jobs of PICO.")
    ],
    output: Output = OUT,
    machine: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The machine that the outputs come from (from doctor --json). Default: unknown."
        ),
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The number of nodes, where a file does not say it.")
    ] = None,
    ppn: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The number of ranks per node, where a file does not say it.")
    ] = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="The name of the study.")] = "imported",
) -> None:
    """Make a study from the outputs of other benchmarks. Unisono then decides and reports it like its own studies."""
    from unisono.commands.importing import import_results as command

    command(files, output, machine=machine, nodes=nodes, ppn=ppn, name=name)


def extrapolate(
    studies: Annotated[list[Path], typer.Argument(metavar="STUDY.db...", help="Studies of one machine over nodes.")],
    nodes: Annotated[str, typer.Option(metavar="8,16,64", help="Predict for these numbers of nodes.")],
    ppn: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Predict for this number of ranks per node, measured or not. Default: all that were measured.",
        ),
    ] = None,
    platform: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="The network between the nodes: its switches or groups, and the bandwidth of a link. "
            "unisono simulate platforms lists those that come with Unisono.",
        ),
    ] = None,
    output: Output = OUT,
    json: Json = False,
) -> None:
    """Predict settings for numbers of nodes not measured. Also say how sure each prediction is."""
    from unisono.commands.extrapolating import extrapolate as command

    command(studies, output, nodes=nodes, ppn=ppn, platform=platform, json=json)


def compare(
    studies: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[A.db B.db ...]",
            help="The studies. With --mpis: a study file, or the name of a ready-made study. Default: quick.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Also write a page to FILE. With --mpis: the directory for all outputs.",
        ),
    ] = None,
    mpis: Annotated[
        str | None,
        typer.Option(metavar="all|A/mpirun,B/mpiexec", help="Measure these MPIs in turns and compare them."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="10m", help="With --mpis: the longest time to measure, for all MPIs together.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="With --mpis: continue the studies in the directory.")
    ] = False,
    collective: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --mpis: measure this collective only; may be repeated."),
    ] = None,
    ppn: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="With --mpis: measure this number of ranks per node only.")
    ] = None,
    size: Annotated[
        list[str] | None,
        typer.Option(metavar="SIZE", help="With --mpis: measure this message size, as tune --size; may be repeated."),
    ] = None,
    hosts: Hosts = None,
    json: Json = False,
) -> None:
    """Compare studies, or several MPIs, case by case. Studies may differ in boot settings, versions, machine or MPI."""
    from unisono.commands import comparing

    wishes = comparing.Wishes(
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


def add_to(app: typer.Typer) -> None:
    app.command(epilog="Example: unisono tune quick --budget 4m, or: unisono tune my-study.toml --dry-run")(tune)
    app.command(
        name="import-results",
        epilog="Example: unisono import-results default.txt coll=tuned,algorithm=ring@ring.txt --nodes 4 -o imported",
    )(import_results)
    app.command(epilog="Example: unisono extrapolate unisono-out/study.db --nodes 8,16,64 -o predicted")(extrapolate)
    app.command(
        epilog="Example: unisono compare nps1/study.db nps4/study.db -o comparison.html, or: unisono compare --mpis all"
    )(compare)
