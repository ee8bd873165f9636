"""`unisono explain`: what will be used for a call, and why."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table
from rich.text import Text

from unisono.commands.choosing import case_of, size_of
from unisono.commands.choosing import weights as chosen_weights
from unisono.commands.console import out, print_json
from unisono.language import _, translated
from unisono.sizes import format_size
from unisono.tuning import read
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
    case = case_of(tuning, nodes, ppn)
    found = find(tuning, collective, *case, size_of(collective, size), chosen_weights(for_, weights))
    if json:
        print_json(found.as_dict())
        return
    _print(found)


def _print(found: Explanation) -> None:
    console = out()
    asked = found.found
    console.print(
        _("{collective} of {size} on {nodes} x {ppn} ranks: {use}").format(
            collective=asked.collective,
            size=format_size(asked.size),
            nodes=asked.nodes,
            ppn=asked.ppn,
            use=translated(found.use),
        ),
        style="bold",
        markup=False,
    )
    for sentence in [*found.sentences(), *found.run_sentences()]:
        console.print(f"  {translated(sentence)}", markup=False)
    if not found.others:
        return
    table = Table(title=_("What else was measured"), title_justify="left")
    table.add_column(_("use"), overflow="fold")
    table.add_column(_("gain over the default"), justify="right")
    for other in found.others:
        table.add_row(Text(translated(other.words)), Text(str(other.gain)))
    console.print(table)
