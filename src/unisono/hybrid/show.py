"""A hybrid study in the terminal."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from unisono.hybrid.decide import Decision, Rank


def ranking(decision: Decision) -> Group:
    """The table, why the others lose, the conclusion."""
    several = len({rank.variant.nodes for rank in decision.ranks}) > 1
    table = Table(title=f"Ranking; gain is over {decision.reference.name}", title_justify="left")
    for name in (*(["nodes"] if several else []), "layout", "seconds", "gain", "GFLOPS", "speed-up", "launches"):
        table.add_column(name, justify="left" if name == "layout" else "right")
    for rank in decision.ranks:
        cells = [rank.variant.name, f"{rank.seconds:.4g}", _gain(rank), _number(rank.gflops), _number(rank.speedup)]
        table.add_row(*([str(rank.variant.nodes)] if several else []), *cells, str(rank.launches))
    reasons = [Text(f"{rank.why}.") for rank in decision.ranks if rank.why]
    return Group(
        table, *([_parts(decision)] if decision.ranks[0].parts else []), *reasons, Text(decision.conclusion, "bold")
    )


def _parts(decision: Decision) -> Table:
    table = Table(title="Seconds by part (mean over processes)", title_justify="left")
    table.add_column("layout")
    for name in ("computing", "pack", "exchange", "allreduce", "iterations"):
        table.add_column(name, justify="right")
    for rank in decision.ranks:
        seconds = [f"{rank.parts[part]:.4g}" for part in ("computing", "halo_pack", "halo_exchange", "allreduce")]
        table.add_row(rank.variant.name, *seconds, f"{rank.iterations:.0f}")
    return table


def _gain(rank: Rank) -> str:
    gain = rank.gain
    if gain.low == gain.high:
        return "1"
    return f"{gain.mid:.2f} ({gain.low:.2f}-{gain.high:.2f})" if gain.high < 1000 else f"{gain.mid:.2f} (not known)"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
