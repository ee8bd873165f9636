"""A hybrid study in the terminal."""

from __future__ import annotations

from rich.console import Group
from rich.table import Table
from rich.text import Text

from unisono.core.interval import Interval
from unisono.core.language import _, ngettext, translated
from unisono.hybrid.compare import Comparison
from unisono.hybrid.decide import Decision, Rank


def ranking(decision: Decision) -> Group:
    """The table, why the others lose, the conclusion."""
    several = len({rank.variant.nodes for rank in decision.ranks}) > 1
    counted = any(rank.gflops is not None for rank in decision.ranks)  # a program of one's own counts no operations
    over = ", ".join(dict.fromkeys(decision.reference_on(nodes).name for nodes in decision.node_counts))
    table = Table(title=_("Ranking; gain is over {over}").format(over=translated(over)), title_justify="left")
    for name in (
        *([_("nodes")] if several else []),
        _("layout"),
        _("seconds"),
        _("gain"),
        *(["GFLOPS"] if counted else []),
        _("speed-up"),
        _("launches"),
    ):
        table.add_column(name, justify="left" if name == _("layout") else "right")
    for rank in decision.ranks:
        cells = [str(rank.variant.nodes)] if several else []
        cells += [translated(rank.name), f"{rank.seconds:.4g}", _gain(rank)]
        cells += [_number(rank.gflops)] if counted else []
        table.add_row(*cells, _number(rank.speedup), str(rank.launches))
    reasons: list[Text] = []
    for nodes in decision.node_counts:
        here = ngettext("On {count} node:", "On {count} nodes:", nodes).format(count=nodes)
        reasons += [Text(here)] if several else []
        reasons += [Text(translated(sentence)) for sentence in decision.reasons(nodes)]
    return Group(
        table,
        *([_parts(decision)] if decision.ranks[0].parts else []),
        *reasons,
        Text(" ".join(translated(sentence) for sentence in decision.sentences), "bold"),
    )


def comparison(found: Comparison) -> Group:
    """The ratio of two machines' studies by layout and cores, and in a sentence."""
    several = len(found.others) > 1
    table = Table(
        title=_("Time in {reference} / time in the other study: {program}").format(
            reference=translated(found.reference), program=translated(found.program)
        ),
        title_justify="left",
    )
    for name in (
        _("cores"),
        _("layout"),
        *([_("other")] if several else []),
        translated(found.reference),
        _("other study"),
        _("ratio"),
    ):
        table.add_column(name, justify="left" if name in (_("layout"), _("other")) else "right")
    for row in found.rows:
        words = [translated(name) for name in (row.model, row.reference_name, row.name)]
        what = words[0] if row.threads is not None else f"{words[0]}: {words[1]}; {words[2]}"
        times = (f"{row.reference_seconds:.4g} s", f"{row.seconds:.4g} s")
        style = "" if row.threads is not None else "bold"
        table.add_row(
            str(row.cores),
            Text(what),
            *([translated(row.other)] if several else []),
            *times,
            _interval(row.gain),
            style=style,
        )
    return Group(
        table,
        *(Text(translated(note)) for note in found.notes),
        *(Text(_("{sentence}.").format(sentence=translated(sentence)), "bold") for sentence in found.sentences),
    )


def _parts(decision: Decision) -> Table:
    table = Table(title=_("Seconds by part (mean over processes)"), title_justify="left")
    table.add_column(_("layout"))
    for name in (_("computing"), _("pack"), _("exchange"), "allreduce", _("iterations")):
        table.add_column(name, justify="right")
    for rank in decision.ranks:
        seconds = [f"{rank.parts[part]:.4g}" for part in ("computing", "halo_pack", "halo_exchange", "allreduce")]
        table.add_row(translated(rank.name), *seconds, f"{rank.iterations:.0f}")
    return table


def _gain(rank: Rank) -> str:
    return "1" if rank.gain.low == rank.gain.high else _interval(rank.gain)


def _interval(gain: Interval) -> str:
    return (
        _("{mid:.2f} ({low:.2f} to {high:.2f})").format(mid=gain.mid, low=gain.low, high=gain.high)
        if gain.known
        else _("{mid:.2f} (interval unknown)").format(mid=gain.mid)
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
