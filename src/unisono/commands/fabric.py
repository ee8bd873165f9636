"""`unisono doctor --fabric`: which node, link or processor is slow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from unisono.cmdline.hosts import parse_hosts
from unisono.commands.as_it_is import described
from unisono.commands.console import err, out, print_json
from unisono.commands.leftovers import remove_leftovers
from unisono.core.errors import UserError
from unisono.core.language import _, use
from unisono.fabric.findings import Finding, conclusion, findings, launches_wanted, sentence, suspicious
from unisono.fabric.handed import drain_lines, reframe
from unisono.fabric.measure import Campaign, require_nodes
from unisono.fabric.measured import Fabric, save
from unisono.fabric.show import lines
from unisono.library.native import bench_program

Reporter = Callable[[float, str], None]

_LAUNCHES_MOST = 12


@dataclass(frozen=True, slots=True)
class Wishes:
    """The options of `unisono doctor` that only --fabric has, as given."""

    output: Path
    seconds: float
    drain_reason: bool
    reframe: bool
    json: bool


def fabric(wishes: Wishes, *, mpirun: str | None, mpicc: str | None, hosts: str | None) -> int:
    """Exit status 0, or 1 where something is named. Raises UserError, also before anything is measured."""
    if wishes.drain_reason + wishes.reframe + wishes.json > 1:
        raise UserError(
            _(
                "use only one of --drain-reason, --reframe and --json, because each of them writes to the standard "
                "output"
            )
        )
    remove_leftovers()
    machine = described(mpirun, mpicc, parse_hosts(hosts) if hosts is not None else None)
    require_nodes(machine)
    assert machine.mpi is not None  # describe() has refused to go on without one
    program = bench_program(machine.mpi.mpicc, lambda said: err().print(said, markup=False))
    with _progress() as progress:
        campaign = Campaign(machine, program, wishes.seconds, progress)
        with _kept(campaign, wishes.output):
            _measure(campaign, len(machine.nodes))
    measured = campaign.fabric
    assert measured is not None  # the first launch has succeeded
    found = findings(measured)
    _show(measured, found, wishes, campaign.failures)
    return 1 if found else 0


def _measure(campaign: Campaign, nodes: int) -> None:
    """As many launches as the nodes need; more, while there is time, where something looks slow and may be luck."""
    wanted, number = launches_wanted(nodes), 0
    while number < wanted and (number == 0 or campaign.time_left()):
        number += campaign.launch(number, wanted)
        measured = campaign.fabric
        if number == wanted < _LAUNCHES_MOST and measured is not None and suspicious(measured):
            wanted += 1


@contextmanager
def _kept(campaign: Campaign, output: Path) -> Iterator[None]:
    """What was measured is written, however it ends, and its page."""
    from unisono.report.fabric import write_fabric_report

    try:
        yield
    finally:
        if (measured := campaign.fabric) is not None:
            path = save(measured, output / "fabric.json")
            page = write_fabric_report(measured, output / "fabric.html")
            err().print(_("Measured: {path}; page: {page}").format(path=path, page=page), markup=False, soft_wrap=True)


def _show(measured: Fabric, found: Sequence[Finding], wishes: Wishes, failures: Sequence[str]) -> None:
    for failure in failures:
        err().print(_("A launch failed and was repeated: {failure}").format(failure=failure), markup=False)
    if wishes.json:
        print_json(document(measured, found))
    elif wishes.drain_reason or wishes.reframe:
        err().print("\n".join(lines(measured)), markup=False, highlight=False, soft_wrap=True)
        use("en")  # what Slurm keeps and ReFrame reads
        said = drain_lines(measured, found) if wishes.drain_reason else reframe(measured).splitlines()
        out().print("\n".join(said), markup=False, highlight=False, soft_wrap=True)
    else:
        out().print("\n".join(lines(measured)), markup=False, highlight=False, soft_wrap=True)


def document(measured: Fabric, found: Sequence[Finding]) -> dict[str, object]:
    """What `--json` prints: the answer with its evidence; the measured times are in fabric.json."""
    return {
        "format": "unisono-fabric-answer",
        "version": 1,
        "nodes": measured.nodes,
        "launches": len(measured.launches),
        "launches_wanted": launches_wanted(len(measured.nodes)),
        "conclusion": conclusion(measured, found),
        "findings": [
            {
                "kind": one.kind,
                "nodes": [measured.nodes[node] for node in one.nodes],
                "ratio": one.ratio,
                "low": one.low,
                "high": one.high,
                "chance": one.chance,
                "value": one.value,
                "usual": one.usual,
                "sentence": sentence(one, measured),
            }
            for one in found
        ],
    }


@contextmanager
def _progress() -> Iterator[Reporter]:
    from rich.progress import Progress, TaskProgressColumn, TimeElapsedColumn

    from unisono.commands.progress import bar_column, words_column

    console = err()
    columns = (bar_column(console), TaskProgressColumn(), TimeElapsedColumn(), words_column("{task.description}"))
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True, expand=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda share, what: bar.update(task, completed=share, description=what)
