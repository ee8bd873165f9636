"""What is compared: layouts, each with NUMA policies, ways to pack the halo, and link settings that exist here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unisono.cmdline.layouts import Layout, chosen_layouts
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.numbers import whole_number
from unisono.core.vocabulary import Setting
from unisono.hybrid.policies import POLICIES, chosen_policies
from unisono.machine.description import Machine
from unisono.parameters.defaults import has_fast_network

LINKS = ("UCX_MAX_RNDV_RAILS", "UCX_MAX_EAGER_RAILS")
"""Over how many links one message may be spread: today's form of MX_BONDING in Nakajima (2009)."""


_OWN = ("layout", "numa", "packing")


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run the program on a number of nodes."""

    nodes: int
    layout: Layout
    numa: str
    packing: str
    """"single" or "threads"; of the solver alone."""
    links: Setting

    @property
    def setting(self) -> Setting:
        """As it is stored: what differs from what happens by itself."""
        values = {"layout": self.layout.name}
        if self.numa != "none":
            values["numa"] = self.numa
        if self.packing != "single":
            values["packing"] = self.packing
        return Setting(values) | self.links

    @classmethod
    def of(cls, nodes: int, setting: Setting) -> Variant:
        """The variant a study stored as this setting. Raises UserError for a setting of another kind of study."""
        numa, packing = setting.get("numa", "none"), setting.get("packing", "single")
        if numa not in ("auto", *POLICIES) or packing not in ("single", "threads"):
            raise UserError(_("{setting}: the value of numa or packing is unknown").format(setting=setting))
        links = {name: value for name, value in setting.items() if name not in _OWN}
        layout = Layout.parse(setting.get("layout", ""), 0)
        return cls(nodes, layout, numa, packing, Setting(links))

    @property
    def cores(self) -> int:
        """Of all nodes."""
        return self.nodes * self.layout.cores

    @property
    def position(self) -> tuple[object, ...]:
        """By which variants are ordered: on each number of nodes flat MPI on most cores first, what is unusual last."""
        numa = ("auto", *POLICIES).index(self.numa)
        links = tuple((len(value), value) for value in self.links.values())
        return (self.nodes, self.layout.threads, -self.layout.processes, numa, self.packing != "single", links)

    @property
    def name(self) -> str:
        """For people: "2 processes of 8 threads (packed by threads)"."""
        words = []
        if self.numa not in ("none", "auto"):
            words.append(self.numa)
        if self.packing == "threads":
            words.append("packed by threads")
        words += links_words(self.links)
        if words == ["packed by threads"]:
            return N_("{layout} (packed by threads)").format(layout=self.layout.words)
        return f"{self.layout.words} ({', '.join(words)})" if words else self.layout.words


def links_words(links: Setting) -> list[str]:
    """ "1 link a message", where both parameters say so."""
    values = set(links.values())
    if set(links) == set(LINKS) and len(values) == 1:
        (number,) = values
        return [f"{number} link{'s' * (number != '1')} a message"]
    return [f"{name}={value}" for name, value in links.items()]


def variants(
    machine: Machine, *, layouts: str, numa: str, packing: str, links: Sequence[str], nodes: Sequence[int], solver: bool
) -> tuple[list[Variant], list[str]]:
    """All combinations that fit and differ, flat MPI first, with a sentence for each that was left out.

    `packing`: "single", "threads" or "both" (the solver alone; threads pack only where there are several). `links`:
    values for how many links a message may use. Raises UserError for what cannot be meant.
    """
    if packing not in ("single", "threads", "both"):
        raise UserError(_("packing: {packing!r} is unknown; write single, threads or both").format(packing=packing))
    for count in nodes:
        if not 1 <= count <= len(machine.nodes):
            raise UserError(
                _("nodes: {count} are asked for, but {name} is described with {count2}").format(
                    count=count, name=machine.name, count2=len(machine.nodes)
                )
            )
    chosen, notes = chosen_layouts(layouts, machine.cores)
    policies, folded = chosen_policies(numa, machine)
    spread = _links(links, machine, max(nodes), folded)
    ways = ["single", "threads"] if packing == "both" else [packing]
    found: list[Variant] = []
    for count in nodes:
        for layout in chosen:
            for policy in policies:
                for way in ways if solver and layout.threads > 1 else ["single"]:
                    found += [Variant(count, layout, policy, way, link) for link in spread]
    return sorted(dict.fromkeys(found), key=lambda variant: variant.position), [*notes, *folded]


def _links(values: Sequence[str], machine: Machine, most_nodes: int, notes: list[str]) -> list[Setting]:
    if not values:
        return [Setting()]
    for value in values:
        whole_number(value, "links", most=64)
    if most_nodes == 1 or not has_fast_network(machine):
        why = N_("everything is on one node") if most_nodes == 1 else N_("there is no RDMA network here")
        notes.append(N_("Numbers of links are not compared: {why}.").format(why=why))
        return [Setting()]
    return [Setting(), *(Setting(dict.fromkeys(LINKS, value)) for value in values)]
