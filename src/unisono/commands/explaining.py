"""`unisono explain`: what will be used for a call, and why."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table
from rich.text import Text

from unisono.commands.choosing import size_of
from unisono.commands.choosing import weights as chosen_weights
from unisono.commands.console import out, print_json
from unisono.errors import UserError
from unisono.sizes import format_size
from unisono.tuning import Tuning, read
from unisono.tuning.explain import Explanation
from unisono.tuning.explain import explain as find


def explain(
    path: Path,
    *,
    collective: str,
    size: str,
    nodes: int | None,
    ppn: int | None,
    for_: str | None,
    weights: str | None,
    json: bool,
) -> None:
    """Prints the answer. Raises UserError for what was not measured."""
    tuning = read(path)
    case = _case(tuning, nodes, ppn)
    found = find(tuning, collective, *case, size_of(collective, size), chosen_weights(for_, weights))
    if json:
        print_json(found.as_dict())
        return
    _print(found)


def _case(tuning: Tuning, nodes: int | None, ppn: int | None) -> tuple[int, int]:
    """The case asked for; where it is not said whole, the one that fits what is."""
    if nodes is not None and ppn is not None:
        return nodes, ppn
    fitting = [case for case in tuning.cases() if nodes in (None, case[0]) and ppn in (None, case[1])]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(f"{n} x {p}" for n, p in tuning.cases())
    raise UserError(f"{tuning.name}: has plans for (nodes x ppn) {known}: say which with --nodes and --ppn")


def _print(found: Explanation) -> None:
    console = out()
    plan = found.found.plan
    console.print(
        f"{found.found.collective} of {format_size(found.found.size)} on {plan.nodes} x {plan.ppn} ranks: {found.use}",
        style="bold",
        markup=False,
    )
    for sentence in [*found.sentences(), *found.run_sentences()]:
        console.print(f"  {sentence}", markup=False)
    if not found.others:
        return
    table = Table(title="What else was measured", title_justify="left")
    table.add_column("use", overflow="fold")
    table.add_column("gain over the default", justify="right")
    for other in found.others:
        table.add_row(Text(other.words), Text(str(other.gain)))
    console.print(table)
