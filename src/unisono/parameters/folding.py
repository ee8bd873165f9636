"""Settings without a distinct effect here, folded into one, with a sentence for people on each reason.

What is measured twice under two names costs time and can only produce false differences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from unisono.core.language import N_
from unisono.core.version import at_least
from unisono.core.vocabulary import LEFT_TO_THE_MPI, MPICH, TWO_RANKS, Setting, is_ours, of_libnbc
from unisono.machine.description import Machine
from unisono.mpi.cvars import BY_NODES
from unisono.parameters import catalogue, conditions
from unisono.parameters.conditions import Unmet
from unisono.parameters.defaults import default_component, default_pml, default_value, usable, value_of
from unisono.parameters.known import require_known
from unisono.parameters.placements import is_default_binding, same_placement

LIBRARIES = ("ucc", "hcoll")
"""Collective components that use UCX themselves, whatever carries point-to-point messages."""

NEVER = ("monitoring", "self", "inter", "sync", "ftagree", "libnbc", "portals4", "demo", "cuda", "accelerator")
"""Components that watch, wrap, or serve other communicators or non-blocking calls only: no candidates."""


@dataclass(frozen=True)
class _Here:
    machine: Machine
    nodes: int
    ppn: int
    collective: str | None

    @property
    def ranks(self) -> int:
        return self.nodes * self.ppn


_Folded = tuple[Setting | None, str]
"""The setting with the same effect (None: it cannot be applied at all) and the reason, "" when nothing was folded."""


def fold(
    settings: Sequence[Setting], machine: Machine, nodes: int, ppn: int, collective: str | None = None
) -> tuple[list[Setting], list[str]]:
    """The settings that differ in effect on `nodes` times `ppn` ranks, in order, and one sentence for each reason.

    With `collective`, components and algorithms that do not serve it are folded too. A setting that cannot be applied
    here is left out, with its reason; one that amounts to another becomes that one. Raises UserError for parameters
    nobody knows.
    """
    here = _Here(machine, nodes, ppn, collective)
    kept: dict[Setting, None] = {}
    sentences: dict[str, None] = {}
    for setting in settings:
        folded, reasons = _fold_one(setting, here)
        sentences.update(dict.fromkeys(reasons))
        if folded is not None:
            kept[folded] = None
    return list(kept), list(sentences)


def _fold_one(setting: Setting, here: _Here) -> tuple[Setting | None, list[str]]:
    """Apply the rules in their order until none changes the setting any more."""
    reasons: list[str] = []
    current = setting
    while True:
        for rule in _RULES:
            folded, reason = rule(current, here)
            if folded is None:
                return None, [*reasons, reason]
            if folded != current:
                reasons.append(reason)
                current = folded
                break
        else:
            return current, reasons


def _components(setting: Setting, here: _Here) -> _Folded:
    """The preferred component: is it here, does it serve these ranks, is it the one that serves anyway?"""
    name = setting.get("coll")
    if name is None or name in LEFT_TO_THE_MPI or is_ours(setting) or of_libnbc(setting):
        return setting, ""
    mpi = here.machine.mpi
    present = usable(here.machine, "coll")
    if name in NEVER:
        return None, N_("coll={name} is left out: this component implements no blocking collective of its own.").format(
            name=name
        )
    if name not in present:
        return (
            None,
            N_(
                "coll={name} is left out: it is not in this MPI, or excluded by a setting of the site or the user."
            ).format(name=name),
        )
    component = catalogue.components(mpi.family).get(name) if mpi else None
    if component is None:
        return setting, ""
    if component.enable and setting.get(f"coll_{name}_enable") == "0":
        return None, N_(
            "coll={name} with coll_{name}_enable=0 is left out: it would prefer a component that is switched off."
        ).format(name=name)
    if here.collective is not None and here.collective not in component.serves:
        return setting.without("coll"), (
            N_("coll={name} does not implement {collective}: left out there.").format(
                name=name, collective=here.collective
            )
        )
    if component.nodes == "several" and (here.nodes == 1 or here.ppn == 1):
        where = N_("on one node") if here.nodes == 1 else N_("with one rank a node")
        return setting.without("coll"), N_("coll={name} does not serve {where}: left out.").format(
            name=name, where=where
        )
    if component.nodes == "one" and here.nodes > 1:
        return setting.without("coll"), N_(
            "coll={name} serves ranks of one node only: left out on several nodes."
        ).format(name=name)
    if name == "ucc" and mpi and not at_least(mpi.version, "6.0.0"):
        return setting.without("coll") | {"coll_ucc_enable": "1"}, (
            N_("UCC is switched on when mpirun starts: coll=ucc is measured as coll_ucc_enable=1.")
        )
    if "algorithm" not in setting and name == default_component(here.machine, here.nodes, here.ppn, setting):
        return setting.without("coll"), N_(
            "coll={name} is the component that serves here anyway: not measured twice."
        ).format(name=name)
    return setting, ""


def _layer(setting: Setting, here: _Here) -> _Folded:
    """A point-to-point layer this MPI does not have: mpirun would refuse every launch with it."""
    name = setting.get("pml")
    present = here.machine.mpi.components.get("pml", []) if here.machine.mpi else []
    if name is None or not present or name in present or not name.isidentifier():
        return setting, ""
    return None, N_("pml={name} is left out: it is not in this MPI.").format(name=name)


def _algorithms(setting: Setting, here: _Here) -> _Folded:
    """Algorithms that refuse this number of ranks, or become another one by themselves (read in coll/base)."""
    name = setting.get("algorithm")
    mpi = here.machine.mpi
    if name is None or mpi is None or is_ours(setting):
        return setting, ""
    if here.collective is not None and name not in mpi.algorithms.get(here.collective, {}):
        return None, N_("algorithm={name} is left out for {collective}: {whose} has no such algorithm for it.").format(
            name=name,
            collective=here.collective,
            whose=mpi.name if setting.get("coll") in LEFT_TO_THE_MPI else f"coll/{setting.get('coll', 'tuned')}",
        )
    if setting.get("coll") == MPICH:
        return _mpichs(setting, here)
    if setting.get("coll") in LEFT_TO_THE_MPI or of_libnbc(setting):
        return setting, ""
    if name == TWO_RANKS and here.ranks != 2:
        return None, N_("algorithm=two_proc is left out: it works for two ranks, here are {ranks}.").format(
            ranks=here.ranks
        )
    if name == "neighbor" and here.ranks % 2:
        return setting | {"algorithm": "ring"}, (
            N_("algorithm=neighbor becomes ring with an odd number of ranks ({ranks}): measured once, as ring.").format(
                ranks=here.ranks
            )
        )
    if name == "recursive_doubling" and here.collective == "allgather" and here.ranks & (here.ranks - 1):
        return setting | {"algorithm": "bruck"}, (
            N_(
                "allgather's recursive_doubling needs a power of two ranks and becomes bruck with "
                "{ranks}: measured once, as bruck."
            ).format(ranks=here.ranks)
        )
    if setting.get("segment") == "0":
        return setting.without("segment"), N_("segment=0 is its default: not measured twice.")
    return setting, ""


def _mpichs(setting: Setting, here: _Here) -> _Folded:
    """MPICH says itself which of its algorithms cannot serve a call, but for the one that goes by nodes (spelling).

    That serves where nodes have several ranks, and of scan only ranks that are numbered node after node.
    """
    if setting["algorithm"] != BY_NODES:
        return setting, ""
    if here.nodes == 1 or here.ppn == 1:
        where = N_("on one node") if here.nodes == 1 else N_("with one rank a node")
        return None, N_("algorithm=smp is left out {where}: it serves several nodes of several ranks.").format(
            where=where
        )
    if here.collective == "scan":
        return None, N_("algorithm=smp is left out for scan: MPICH does not say whether it can serve these ranks.")
    return setting, ""


def _without_effect(setting: Setting, here: _Here) -> _Folded:
    """Parameters whose conditions are not met here, or not under the rest of the setting."""
    for name in setting:
        if name in ("coll", "algorithm", "segment", "placement", "pml"):
            continue
        parameter = require_known(name, here.machine)
        if parameter.serves and here.collective is not None and here.collective not in parameter.serves:
            return setting.without(name), N_("{name} has no effect on {collective}: left out there.").format(
                name=name, collective=here.collective
            )
        for need in parameter.needs:
            reason = _ineffective(need, setting, here)
            if reason:
                return setting.without(name), N_("{name} has no effect {reason}: left out there.").format(
                    name=name, reason=reason
                )
    return setting, ""


def _ineffective(need: str, setting: Setting, here: _Here) -> str:
    if (need == "ucx" or need.startswith("pml:")) and here.machine.traits.MCA:
        layer = need.removeprefix("pml:")
        chosen = setting.get("pml") or default_pml(here.machine)
        if chosen is None or chosen == layer or (need == "ucx" and _library_serves(setting, here.machine)):
            return ""
        return N_("with pml={chosen}").format(chosen=chosen) + ("" if "pml" in setting else N_(", the default here"))
    if need in ("nodes>1", "rails", "fabric") and here.nodes == 1:
        return N_("on one node")
    result = conditions.check(need, here.machine)
    return N_("here ({reason})").format(reason=result.reason) if isinstance(result, Unmet) else ""


def _library_serves(setting: Setting, machine: Machine) -> bool:
    """Whether a component that uses UCX by itself may serve collectives under this setting."""
    present = usable(machine, "coll")
    if setting.get("coll") in LIBRARIES:
        return True
    return any(name in present and value_of(f"coll_{name}_enable", machine, setting) == "1" for name in LIBRARIES)


def _defaults(setting: Setting, here: _Here) -> _Folded:
    """Values that are what happens without them."""
    for name, value in setting.items():
        if name in ("coll", "algorithm", "segment", "placement"):
            continue
        if name == "mpi_yield_when_idle" and here.ppn > len(here.machine.cpus):
            continue  # more ranks than CPUs: every launch is told to yield
        if value != default_value(name, here.machine):
            continue
        if name == "pml":
            return setting.without(name), N_(
                "pml={value} is what Open MPI chooses here by itself: not measured twice."
            ).format(value=value)
        return setting.without(name), N_("{name}={value} is its default: not measured twice.").format(
            name=name, value=value
        )
    return setting, ""


def _placements(setting: Setting, here: _Here) -> _Folded:
    value = setting.get("placement")
    if value is None:
        return setting, ""
    same, sentence = same_placement(value, here.machine, here.nodes, here.ppn)
    if sentence:
        return setting | {"placement": same}, sentence
    if value == "block" and is_default_binding(here.machine, here.nodes, here.ppn):
        return setting.without("placement"), (
            N_("mpirun by itself binds two ranks to the first two cores, as placement=block: not measured twice.")
        )
    return setting, ""


_RULES: tuple[Callable[[Setting, _Here], _Folded], ...] = (
    _layer,
    _components,
    _algorithms,
    _without_effect,
    _defaults,
    _placements,
)
