"""Which node, link or processor is slow, how sure that is, and what the measurement cannot tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unisono.core.language import _, listed
from unisono.fabric.effects import Bounds, Effects, Slow, polish, slow
from unisono.fabric.measured import Array, Fabric

FALSE_ALARMS = 0.05
"""Of all measurements of a sound machine in which anything is named, at most."""
_FAMILIES = 5
"""Nodes by latency, rate and clock, links by latency and rate: each may give a fifth of the false alarms."""
_LOOKS = 2
"""What is suspicious is measured on and looked at again, in nearly the same measurements: at most twice the chance."""
CHANCE = FALSE_ALARMS / _FAMILIES / _LOOKS
_LAUNCHES_LEAST = 3

Kind = Literal["clock", "latency", "rate"]

_RELEVANT: dict[Kind, float] = {"clock": 1.05, "latency": 1.2, "rate": 1.1}
"""Times that a node takes against the others, from which it is named: sound nodes differ by less."""
_RELEVANT_LINK: dict[Kind, float] = {"latency": 1.25, "rate": 1.15}
_LINK_NODES = 5
"""From so many nodes on a slow link can be told from its two nodes: with four, every link has a twin."""
_SPREAD = 4.0
"""So many standard deviations of the others (by their median deviation) it must stand out."""
_STRUCTURE = 1 / 3
"""Where more of an end's links than this share are as slow, they are a level of the network, no broken cable."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A slow node (one number in `nodes`) or link (two). Ratios are times over the usual time."""

    kind: Kind
    nodes: tuple[int, ...]
    ratio: float
    low: float
    high: float
    chance: float
    value: float
    usual: float
    """Seconds one way (latency), bytes a second (rate), seconds a chunk of work (clock)."""
    taken: bool = False
    """A processor that is as quick as others while it works, but is kept from working."""


def launches_wanted(nodes: int) -> int:
    """So many that the slowest node of each is the same by luck rarely enough: 5 for 4 nodes, 3 from 15 on."""
    wanted = _LAUNCHES_LEAST
    while nodes > 2 and nodes ** (1 - wanted) > CHANCE:
        wanted += 1
    return wanted


def findings(fabric: Fabric) -> list[Finding]:
    """Slow processors first, then nodes, then links; the slowest first. Nothing before enough launches."""
    if len(fabric.launches) < launches_wanted(len(fabric.nodes)):
        return []
    return _named(fabric, CHANCE, _spared(fabric))


def suspicious(fabric: Fabric) -> bool:
    """Whether something is as slow in all launches but one as what is named, and more launches would tell whether by
    luck."""
    spared = max(0, min(_spared(fabric) + 1, len(fabric.launches) - 2))
    return len(_named(fabric, 1.0, spared)) > len(findings(fabric))


def _spared(fabric: Fabric) -> int:
    """Launches that may have been disturbed: half of those that are more than needed."""
    return max(0, (len(fabric.launches) - launches_wanted(len(fabric.nodes))) // 2)


def _named(fabric: Fabric, chance: float, spared: int) -> list[Finding]:
    count = len(fabric.nodes)
    if count < 3 or not fabric.launches:
        return []
    found = _clocks(fabric, Bounds(_RELEVANT["clock"], chance, _SPREAD, spared))
    links: list[Finding] = []
    of_kind: list[tuple[Kind, Array]] = [("latency", fabric.latency(fabric.mode)), ("rate", fabric.large(fabric.mode))]
    for kind, times in of_kind:
        effects = polish(times, fabric.pairs, count)
        bounds = Bounds(_RELEVANT[kind], chance, _SPREAD, spared)
        nodes = [one for one in slow(effects.nodes, bounds) if _slow_with_all(one, effects, fabric.pairs)]
        found += [_node(fabric, kind, one, effects) for one in nodes]
        if count >= _LINK_NODES:
            bounds = Bounds(_RELEVANT_LINK[kind], chance, _SPREAD, spared)
            links += _links(fabric, kind, effects, {one.number for one in nodes}, bounds)
    return found + links


def _clocks(fabric: Fabric, bounds: Bounds) -> list[Finding]:
    times = fabric.compute()
    if not times.size:
        return []
    logs = np.log(times)
    own = np.log(np.array([[row[2] for row in launch.compute] for launch in fabric.launches if launch.compute]))
    own -= np.median(own, axis=1)[:, None]
    usual = float(np.median(times))
    return [
        Finding(
            "clock",
            (one.number,),
            one.ratio,
            one.low,
            one.high,
            one.chance,
            usual * one.ratio,
            usual,
            # Half of what is lost is found in the processor's own time where the clock is at fault.
            taken=float(np.median(own[:, one.number])) < np.log(one.ratio) / 2,
        )
        for one in slow(logs - np.median(logs, axis=1)[:, None], bounds)
    ]


def _slow_with_all(one: Slow, effects: Effects, pairs: Sequence[tuple[int, int]]) -> bool:
    """A node that is near to any other one is not slow but stands, with that one, far from the rest."""
    nodes, links = np.median(effects.nodes, axis=0), np.median(effects.links, axis=0)
    nearest = min(float(nodes[a] + nodes[b] + links[i]) for i, (a, b) in enumerate(pairs) if one.number in (a, b))
    return nearest >= float(np.log(one.ratio)) / 2


def _node(fabric: Fabric, kind: Kind, one: Slow, effects: Effects) -> Finding:
    usual = float(np.exp(np.median(effects.level)))
    value = usual * one.ratio
    if kind == "rate":
        usual, value = fabric.message / usual, fabric.message / value
    return Finding(kind, (one.number,), one.ratio, one.low, one.high, one.chance, value, usual)


def _links(fabric: Fabric, kind: Kind, effects: Effects, nodes: set[int], bounds: Bounds) -> list[Finding]:
    among = [i for i, pair in enumerate(fabric.pairs) if not nodes & set(pair)]
    found = []
    for one in slow(effects.links, bounds, among, tied=min(len(fabric.nodes), len(among))):
        if _is_structure(one, effects.links, fabric.pairs):
            continue
        a, b = fabric.pairs[one.number]
        usual = float(np.exp(np.median(effects.level + effects.nodes[:, a] + effects.nodes[:, b])))
        value = usual * one.ratio
        if kind == "rate":
            usual, value = fabric.message / usual, fabric.message / value
        found.append(Finding(kind, (a, b), one.ratio, one.low, one.high, one.chance, value, usual))
    return found


def _is_structure(one: Slow, links: Array, pairs: Sequence[tuple[int, int]]) -> bool:
    middle = np.median(links, axis=0)
    as_slow = middle >= np.log(one.ratio) / 2
    for end in pairs[one.number]:
        own = [bool(as_slow[i]) for i, pair in enumerate(pairs) if end in pair]
        if sum(own) > max(1, _STRUCTURE * len(own)):
            return True
    return False


def sentence(finding: Finding, fabric: Fabric) -> str:
    """ "n1: the link of the node carries 59.1 MB/s, those of others 118 MB/s ..."."""
    name = "-".join(fabric.nodes[node] for node in finding.nodes)
    fields = {
        "name": name,
        "value": shown(finding.kind, finding.value),
        "usual": shown(finding.kind, finding.usual),
        "ratio": f"{finding.ratio:.2f}",
        "low": f"{finding.low:.2f}",
        "high": f"{finding.high:.2f}",
        # Of a rate people ask what is left, not how many times as long it takes.
        "share": f"{100 / finding.ratio:.0f}",
        "least": f"{100 / finding.high:.0f}",
        "most": f"{100 / finding.low:.0f}",
        "sure": f"{100 * (1 - finding.chance):.1f}",
    }
    return _said(finding).format(**fields)


def _said(finding: Finding) -> str:
    link = len(finding.nodes) == 2
    if finding.kind == "clock" and finding.taken:
        return _(
            "{name}: its processor takes {ratio} times as long for the same work as others ({low} to {high}; "
            "{sure} % sure), because something takes CPU time away: a quota, or another program"
        )
    if finding.kind == "clock":
        return _(
            "{name}: its processor takes {ratio} times as long for the same work as others ({low} to {high}; "
            "{sure} % sure), because its clock is slower; compare its BIOS, power limit, governor and temperature"
        )
    if finding.kind == "latency" and link:
        return _(
            "{name}: a message takes {value} on this link where {usual} are usual ({ratio} times, {low} to {high}; "
            "{sure} % sure)"
        )
    if finding.kind == "latency":
        return _(
            "{name}: a message to or from this node takes {value}, a message between other nodes {usual} "
            "({ratio} times, {low} to {high}; {sure} % sure)"
        )
    if link:
        return _(
            "{name}: this link carries {value} where {usual} are usual: {share} % of it ({least} to {most} %; "
            "{sure} % sure)"
        )
    return _(
        "{name}: its network carries {value}, that of other nodes {usual}: it has {share} % of their rate "
        "({least} to {most} %; {sure} % sure)"
    )


def shown(kind: Kind, value: float) -> str:
    """ "5.2 us", "118 MB/s", "1.03 ms"."""
    if kind == "rate":
        return f"{value / 1e9:.3g} GB/s" if value >= 1e9 else f"{value / 1e6:.3g} MB/s"
    if value < 1e-3:
        return f"{value * 1e6:.3g} us"
    return f"{value * 1e3:.3g} ms"


def conclusion(fabric: Fabric, found: Sequence[Finding]) -> str:
    """The answer in a sentence."""
    count, launches = len(fabric.nodes), len(fabric.launches)
    if count < 3:
        return _("Two nodes: which of them is slow cannot be told; measure with a third one")
    if launches < launches_wanted(count):
        return _(
            "Nothing can be named yet: only {launches} of the {wanted} launches that {count} nodes need were "
            "made; give more time with --budget"
        ).format(launches=launches, wanted=launches_wanted(count), count=count)
    if not found:
        return _(
            "No node, link or processor of {count} nodes stands out in {launches} launches (on sound machines, "
            "at most {share} of measurements name one)"
        ).format(count=count, launches=launches, share=f"{FALSE_ALARMS:.0%}")
    names = list(dict.fromkeys("-".join(fabric.nodes[n] for n in one.nodes) for one in found))
    return _("Slow in {launches} launches: {names}").format(launches=launches, names=listed(names))
