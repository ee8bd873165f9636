"""`unisono lookup`: what will be used for a call, and why."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table
from rich.text import Text

from unisono.commands.console import out, print_json
from unisono.core.fields import collective_given
from unisono.core.language import _, translated
from unisono.core.sizes import format_size
from unisono.machine.fingerprint import shown
from unisono.tuning import Tuning, read
from unisono.tuning.asked import case_of, size_of
from unisono.tuning.asked import weights as chosen_weights
from unisono.tuning.explain import Explanation, explain
from unisono.tuning.plans import gain_words
from unisono.tuning.words import SIMULATED


def lookup(
    path: Path,
    *,
    collective: str,
    nodes: int | None,
    ppn: int | None,
    size: str,
    for_: str | None,
    weights: str | None,
    why: bool,
    json: bool,
) -> None:
    """Prints the answer, as `unisono run` gives it; with `why`, the rule, the evidence, and what other launch
    settings would use.
    Raises UserError for what was not measured."""
    collective = collective_given(collective, "--collective")
    tuning = read(path)
    case = case_of(tuning, nodes, ppn)
    found = explain(tuning, collective, *case, size_of(collective, size), chosen_weights(for_, weights))
    if json:
        of = {} if tuning.simulated else dict(tuning.machine)
        print_json({**found.as_dict(), "measured_on": of, "oversubscribed": tuning.conditions.oversubscribed})
    elif why:
        _reasons(found)
    else:
        _answer(found)
    if not json and (where := _measured_on(tuning)):
        out().print(f"  {where}", style="dim", markup=False)


def _measured_on(tuning: Tuning) -> str | None:
    """Of which machine the answer speaks, which need not be this one, and whether its ranks had a CPU each. None where
    the tuning does not know, or was simulated, which is said anyway."""
    parts = [shown(label, tuning.machine[label]) for label in ("CPU", "MPI") if label in tuning.machine]
    if tuning.simulated or not parts:
        return None
    said = (
        _("measured on: {machine}, with more ranks than CPUs; the figures hold only for that case")
        if tuning.conditions.oversubscribed
        else _("measured on: {machine}")
    )
    return said.format(machine=", ".join(parts))


def _answer(explained: Explanation) -> None:
    console, found = out(), explained.found
    gain = found.gain
    what = _("{collective} of {size} on {nodes} x {ppn} ranks (nodes x ranks a node)").format(
        collective=found.collective, size=format_size(found.size), nodes=found.nodes, ppn=found.ppn
    )
    fast = _("not measured")
    if gain:
        said = (
            _("{gain:.2f}x the default's speed ({low:.2f} to {high:.2f})")
            if gain.known
            else _("{gain:.2f}x the default's speed (interval unknown)")
        )
        fast = said.format(gain=gain.mid, low=gain.low, high=gain.high)
    if gain and found.simulated:
        fast = _("{gain:.2f}x the default's speed, simulated").format(gain=gain.mid)
    console.print(translated(str(found.setting)), style="bold", markup=False)
    console.print(_("  for {what}: {fast}").format(what=what, fast=fast), markup=False)
    if found.simulated:
        console.print(f"  {translated(SIMULATED)}", style="yellow", markup=False)
    for note in [*found.notes, *explained.sum_sentences(), *explained.alone_sentences()]:
        console.print(f"  {translated(note)}", markup=False)


def _reasons(found: Explanation) -> None:
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
    table = Table(title=_("Under other launch settings"), title_justify="left")
    table.add_column(_("use"), overflow="fold")
    table.add_column(_("gain over the default"), justify="right")
    for other in found.others:
        table.add_row(Text(translated(other.words)), Text(gain_words(other.gain)))
    console.print(table)
