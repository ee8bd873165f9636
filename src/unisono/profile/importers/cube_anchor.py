"""`anchor.xml` of a Cube4 file: metrics, regions, the call tree and the system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from unisono.core.errors import UserError
from unisono.core.language import _

_PARTS_MOST = 10_000_000
"""Each takes a hundred bytes of memory or more."""
INCLUSIVE = "INCLUSIVE"
EXCLUSIVE = "EXCLUSIVE"


@dataclass(frozen=True, slots=True)
class Metric:
    number: int
    name: str
    kind: str
    """INCLUSIVE, EXCLUSIVE; derived metrics (PREDERIVED_..., POSTDERIVED) hold no values and are left out."""
    type: str


@dataclass(frozen=True, slots=True)
class Region:
    name: str
    file: str
    line: int
    paradigm: str
    role: str


@dataclass(frozen=True, slots=True)
class Node:
    """A call path; `parent` is its number in document order, -1 for a root."""

    region: Region
    parent: int


@dataclass(frozen=True, slots=True)
class Location:
    """A column of the values."""

    rank: int
    host: str
    thread: bool
    """A thread of a process; not a GPU stream or a metric source."""


@dataclass(frozen=True, slots=True)
class Anchor:
    creator: str
    metrics: tuple[Metric, ...]
    nodes: tuple[Node, ...]
    """In document order, which is depth first: a parent comes before its children."""
    locations: tuple[Location, ...]
    """In the order of the values' columns."""
    has_nodes: bool
    """The system tree says which hosts are nodes."""


def parse_anchor(data: bytes, where: str) -> Anchor:
    """Raises UserError for XML that is damaged or not an anchor.xml."""
    if b"<!ENTITY" in data:
        raise UserError(
            _("{where}: anchor.xml defines entities, which Cube never does; it is not read").format(where=where)
        )
    if data.count(b"<") + data.count(b"=") > _PARTS_MOST:
        raise UserError(
            _("{where}: anchor.xml has more than {parts_most:,} elements and attributes").format(
                where=where, parts_most=_PARTS_MOST
            )
        )
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise UserError(_("{where}: anchor.xml is damaged: {error}").format(where=where, error=error)) from error
    program, system, metrics = root.find("program"), root.find("system"), root.find("metrics")
    if root.tag != "cube" or program is None or system is None or metrics is None:
        raise UserError(
            _("{where}: anchor.xml has no metrics, program or system; it is no Cube 4 file").format(where=where)
        )
    try:
        locations, has_nodes = _locations(system)
        anchor = Anchor(
            next((str(attr.get("value")) for attr in root.findall("attr") if attr.get("key") == "Creator"), ""),
            tuple(_metrics(metrics)),
            tuple(_nodes(program)),
            locations,
            has_nodes,
        )
    except (TypeError, ValueError, KeyError) as error:
        raise UserError(_("{where}: anchor.xml is damaged: {error}").format(where=where, error=error)) from error
    if not anchor.nodes or not anchor.locations:
        raise UserError(
            _("{where}: anchor.xml has no call paths or no locations; the measurement did not finish").format(
                where=where
            )
        )
    return anchor


def deep_order(nodes: Sequence[Node]) -> list[int]:
    """Position -> call path for EXCLUSIVE metrics: depth first."""
    return list(range(len(nodes)))


def wide_orders(nodes: Sequence[Node]) -> list[list[int]]:
    """Position -> call path for INCLUSIVE metrics: depth first, but all children of a call path together.

    With several roots there are two such orders, each root with all below it or all roots first; which one a file has
    is not written down: the values tell (a parent's are at least the sum of its children's).
    """
    children: list[list[int]] = [[] for _ in nodes]
    roots: list[int] = []
    for number, node in enumerate(nodes):
        (roots if node.parent < 0 else children[node.parent]).append(number)
    one_by_one = [number for root in roots for number in (root, *_below(root, children))]
    if len(roots) == 1:
        return [one_by_one]
    return [one_by_one, [*roots, *(number for root in roots for number in _below(root, children))]]


def _below(root: int, children: Sequence[Sequence[int]]) -> list[int]:
    order: list[int] = []
    stack = [root]
    while stack:
        number = stack.pop()
        order += children[number]
        stack += reversed(children[number])
    return order


def _metrics(element: Element) -> Iterator[Metric]:
    for metric in element.iter("metric"):
        kind = metric.get("type", "")
        if kind in (INCLUSIVE, EXCLUSIVE):
            yield Metric(int(metric.attrib["id"]), _text(metric, "uniq_name"), kind, _text(metric, "dtype"))


def _nodes(program: Element) -> Iterator[Node]:
    regions = {
        int(region.attrib["id"]): Region(
            _text(region, "name"),
            region.get("mod", ""),
            _line(region.get("begin", "-1")),
            _text(region, "paradigm"),
            _text(region, "role"),
        )
        for region in program.findall("region")
    }
    stack = [(element, -1) for element in reversed(program.findall("cnode"))]
    number = 0
    while stack:
        element, parent = stack.pop()
        yield Node(regions[int(element.attrib["calleeId"])], parent)
        stack += [(child, number) for child in reversed(element.findall("cnode"))]
        number += 1


def _locations(system: Element) -> tuple[tuple[Location, ...], bool]:
    """By their Id; ranks are renumbered from 0 in their own order."""
    found: list[tuple[int, tuple[int, int], str, bool]] = []
    has_nodes = False
    groups = 0
    stack = [(element, "") for element in reversed(list(system))]
    while stack:
        element, host = stack.pop()
        if element.tag == "systemtreenode":
            kind = element.get("class") or _text(element, "class")
            if kind == "node" or not has_nodes:
                host = _text(element, "name").removeprefix("node ")
            has_nodes |= kind == "node"
        elif element.tag == "locationgroup":
            rank = (int(_text(element, "rank") or groups), groups)
            process = _text(element, "type") in ("process", "")
            for location in element.findall("location"):
                thread = process and _text(location, "type") in ("thread", "CPU thread", "")
                found.append((int(location.attrib["Id"]), rank, host, thread))
            groups += 1
        stack += [
            (child, host) for child in reversed(list(element)) if child.tag in ("systemtreenode", "locationgroup")
        ]
    ordered = sorted(found, key=lambda entry: entry[0])
    ranks = {rank: number for number, rank in enumerate(sorted({rank for _, rank, _, thread in ordered if thread}))}
    return tuple(Location(ranks.get(rank, -1), host, thread) for _, rank, host, thread in ordered), has_nodes


def _line(text: str) -> int:
    """A line of source code; 0 where there is none."""
    line = int(text)
    return line if 0 < line < 1 << 31 else 0


def _text(element: Element, name: str) -> str:
    return (element.findtext(name) or "").strip()
