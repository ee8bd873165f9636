"""What was seen in a launch, against what was wanted: one item each, with the reason when it was not taken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from unisono.cmdline.placement import check as placement_check
from unisono.cmdline.placement import place
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.sizes import format_size, parse_size
from unisono.export.calls import Point
from unisono.export.handed import Handed
from unisono.export.message_bytes import message_bytes
from unisono.export.probe import Answers, UcxVariable
from unisono.export.tripwire import applied, fails
from unisono.export.tuned_rules import Entry, MessageRule
from unisono.machine.description import Machine
from unisono.tuning.plans import Plan

OWN_CHOICE = N_("the MPI's own choice")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was wanted. `taken` None: it cannot be seen from inside."""

    what: str
    wanted: str
    found: str
    taken: bool | None
    reason: str = ""


# -- MCA parameters and environment ----------------------------------------------------------------------------------


def parameters(wanted: Mapping[str, str], answers: Answers) -> Iterator[Item]:
    """MCA parameters, as MPI_T read them in the launch."""
    for name, value in wanted.items():
        parameter = answers.parameters[name]
        if not parameter.known:
            reason = _("this Open MPI has no parameter of that name, and ignores it in silence")
            yield Item(name, value, "unknown", False, reason)
            continue
        same = _same(value, parameter.value) or value == parameter.label
        reason = "" if same else _("something else sets it: the environment, or another parameter file")
        yield Item(name, value, parameter.value or "(empty)", same, reason)


_TRUE, _FALSE = ("1", "true", "yes", "enabled", "t", "y"), ("0", "false", "no", "disabled", "f", "n")


def _same(wanted: str, found: str) -> bool:
    """Whether two spellings mean one value: 1 and true, 64k and 65536."""
    if wanted == found:
        return True
    for words in (_TRUE, _FALSE):
        if wanted.lower() in words and found.lower() in words:
            return True
    try:
        return parse_size(wanted) == parse_size(found)
    except UserError:
        return False


def environment(files: Handed) -> Iterator[Item]:
    """Variables of libraries that cannot be asked what they took."""
    for name, value in files.env.items():
        if not name.startswith("UCX_"):
            yield Item(name, value, _("cannot be seen"), None, _("its library does not say which variables it uses"))


# -- UCX -------------------------------------------------------------------------------------------------------------

_IN_USE = re.compile(r"UCX  INFO  UCX_\* env variables?: (.*)")
_UNUSED = re.compile(r"UCX  WARN  unused env(?:ironment)? variables?: ([^\n(]*)")
_STARTED = re.compile(r"UCX  INFO ")


def ucx(files: Handed, answers: Answers) -> Iterator[Item]:
    """UCX variables, from what UCX printed and from its configuration report."""
    started = _STARTED.search(answers.output) is not None
    in_use = {word for found in _IN_USE.findall(answers.output) for word in found.split()}
    unused = {word.strip(" ,") for found in _UNUSED.findall(answers.output) for word in re.split(r"[,;\s]+", found)}
    for name, value in {**files.ucx_file, **files.env}.items():
        if not name.startswith("UCX_"):
            continue
        if not started:
            yield Item(
                name, value, _("UCX did not start"), False, _("messages go another way in this launch (see pml)")
            )
        elif name in unused:
            yield Item(name, value, "unused", False, _("this UCX has no variable of that name"))
        elif name in files.env and f"{name}={value}" in in_use:
            yield Item(name, value, value, True)
        else:
            yield _reported(name, value, answers.ucx[name])


def _reported(name: str, value: str, variable: UcxVariable) -> Item:
    if not variable.known:
        return Item(name, value, _("cannot be seen"), None, _("UCX's configuration report does not hold this variable"))
    if variable.used == variable.wanted:
        return Item(name, value, variable.used, True)
    return Item(name, value, variable.used, False, _("the environment or another file says otherwise"))


# -- Placement and components ----------------------------------------------------------------------------------------


def placement(plan: Plan, machine: Machine, answers: Answers) -> Item:
    """Where the ranks said they are."""
    policy = plan.launch["placement"]
    placed = place(machine, plan.nodes, plan.ppn, policy, oversubscribe=True)
    differs = placement_check(placed, answers.where)
    return Item("placement", policy, differs or _("as computed"), differs is None, differs or "")


def component(wanted: str, served: Mapping[str, str], collectives: Sequence[str]) -> Item:
    """Whether the preferred component is on top."""
    if not served:
        return Item("coll", wanted, _("cannot be seen"), None, _("Open MPI did not say which component serves what"))
    mine = [name for name in collectives if served.get(name) == wanted]
    if mine:
        return Item("coll", wanted, _("{wanted} serves {mine}").format(wanted=wanted, mine=", ".join(mine)), True)
    top = served.get("comm", "?")
    return Item(
        "coll",
        wanted,
        top,
        False,
        _("{wanted} did not accept this communicator; {top} is on top").format(wanted=wanted, top=top),
    )


# -- Rules -----------------------------------------------------------------------------------------------------------


def rules(
    points: Sequence[Point],
    found: Sequence[Entry],
    plain: Mapping[tuple[str, int, int], bool],
    failed: Sequence[Mapping[tuple[str, int, int], bool]],
    machine: Machine,
) -> Iterator[Item]:
    """One item for every range: the algorithm the MPI takes there, for all sizes that were tried."""
    ranges: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        ranges.setdefault((point.collective, point.what), []).append(point)
    for (collective, what), tried in ranges.items():
        seen = [_tried(point, found, plain, failed, machine) for point in tried]
        worst = next((item for item in seen if item.taken is False), seen[0])
        yield replace(worst, what=f"{collective}, {what}")


def not_reached(points: Sequence[Point], served: Mapping[str, str], machine: Machine) -> Iterator[Item]:
    """The ranges of collectives that another component serves."""
    for collective, what in dict.fromkeys((point.collective, point.what) for point in points if not point.guarded):
        wanted = {p.wanted.algorithm: p.wanted for p in points if (p.collective, p.what) == (collective, what)}
        server = served[collective]
        name = " or ".join(_name(collective, rule, machine) for rule in wanted.values())
        item = Item(f"{collective}, {what}", name, f"coll/{server}", not any(wanted))
        yield (
            item if item.taken else with_server(replace(item, found=OWN_CHOICE, reason=_("no rule is applied")), served)
        )


def _tried(
    point: Point,
    found: Sequence[Entry],
    plain: Mapping[tuple[str, int, int], bool],
    failed: Sequence[Mapping[tuple[str, int, int], bool]],
    machine: Machine,
) -> Item:
    call = (*point.call, point.ranks)
    wanted = _name(point.collective, point.wanted, machine)
    where = _("at {size} on {ranks} ranks").format(size=format_size(point.size), ranks=point.ranks)
    if plain[call]:
        return Item(
            "",
            wanted,
            _("an error"),
            False,
            _("{where} the call fails: the file names no algorithm of this MPI").format(where=where),
        )
    try:
        entry = applied(found, point.collective, fails(failed, call))
    except ValueError as error:
        return Item("", wanted, "unclear", False, str(error))
    if entry is None:
        in_file = any(e.collective == point.collective for e in found)
        if point.guarded or (not in_file and point.wanted.algorithm == 0):
            return Item("", wanted, OWN_CHOICE, True)
        reason = (
            _("{where} no rule is applied").format(where=where)
            if in_file
            else _("the file has no rules for {collective} there").format(collective=point.collective)
        )
        return Item("", wanted, OWN_CHOICE, False, reason)
    got = _name(point.collective, entry.rule, machine)
    same = not point.guarded and _what_it_does(entry.rule) == _what_it_does(point.wanted)
    of = _("the rule from {bytes} bytes on {comm_size} ranks and more").format(
        bytes=entry.rule.bytes, comm_size=entry.comm_size
    )
    counted = message_bytes(point.collective, point.size, point.ranks)
    return Item(
        "",
        wanted,
        got,
        same,
        ""
        if same
        else _("{where} ({counted} bytes to Open MPI) it takes {of}").format(where=where, counted=counted, of=of),
    )


def _what_it_does(rule: MessageRule) -> tuple[int, int, int]:
    return (rule.algorithm, rule.fan, rule.segment) if rule.algorithm else (0, 0, 0)


def _name(collective: str, rule: MessageRule, machine: Machine) -> str:
    """The algorithm as this MPI calls it."""
    if rule.algorithm == 0:
        return OWN_CHOICE
    known = machine.mpi.algorithms.get(collective, {}) if machine.mpi else {}
    name = next(
        (name for name, number in known.items() if number == rule.algorithm),
        _("algorithm {algorithm}").format(algorithm=rule.algorithm),
    )
    return (
        _("{name}, segments of {segment}").format(name=name, segment=format_size(rule.segment))
        if rule.segment
        else name
    )


def with_server(item: Item, served: Mapping[str, str]) -> Item:
    """The item with who serves its collective in the reason, when that is not coll/tuned."""
    collective = item.what.partition(",")[0]
    server = served.get(collective)
    if item.taken is not False or item.found != OWN_CHOICE or server is None:
        return item
    if server != "tuned":
        return replace(
            item,
            reason=_("{reason}: coll/{server} serves it, not coll/tuned, whose rules these are").format(
                reason=item.reason, server=server
            ),
        )
    return replace(
        item, reason=_("{reason}: Open MPI did not read the file, or dropped it in silence").format(reason=item.reason)
    )
