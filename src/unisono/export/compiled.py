"""Plans compiled into coll/tuned's rules, with a sentence for everything the file cannot say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unisono.core.by_size import WITHOUT_SIZE
from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.version import at_least
from unisono.export.message_bytes import ONE_RULE, has_rules, message_bytes
from unisono.export.tuned_rules import COLLECTIVE_IDS, CollectiveRules, CommRules, MessageRule, RulesFile
from unisono.machine.description import Mpi
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan, Rule

_FIXED = MessageRule(0, 0)
"""What MPI does by itself, from 0 bytes on."""

_CHAIN_FAN = 4
"""coll_tuned_<collective>_algorithm_chain_fanout as it stands while algorithms are forced one by one, i.e. when they
were measured; a rules file with 0 would turn `chain` into `pipeline`."""


KEEPS_ORDER = {
    "reduce": {"linear", "in-order_binary"},
    "allreduce": {"basic_linear", "nonoverlapping", "recursive_doubling"},
    "reduce_scatter": {"non-overlapping"},
    "reduce_scatter_block": {"basic_linear", "recursive_doubling"},
    "scan": {"linear", "recursive_doubling"},
    "exscan": {"linear", "recursive_doubling"},
}
"""Algorithms that combine in the ranks' order. The others Open MPI takes only where an operation commutes when it
chooses by itself, but for every operation when it is told to (4.1.4, 5.0.11; as in native/dispatch/serve.c)."""

_WINDOW = ("alltoall", "linear_sync")
"""The one algorithm whose messages on their way are limited, by the plan's _WINDOW_PARAMETER. Rules overrule that
parameter, so they have to say it again."""

_WINDOW_PARAMETER = "coll_tuned_alltoall_algorithm_max_requests"


def plans_under(tuning: Tuning, plan: Plan) -> list[Plan]:
    """The plan and, for every other number of ranks, the one with the same launch setting: one file serves them all.

    Where several (nodes, ppn) have as many ranks the file cannot tell them apart; the given plan's goes first, then
    the order of the document.
    """
    found = {plan.ranks: plan}
    for other in tuning.plan:
        if other.launch == plan.launch:
            found.setdefault(other.ranks, other)
    return [found[ranks] for ranks in sorted(found)]


def compile_rules(plans: Sequence[Plan], mpi: Mpi) -> tuple[RulesFile, list[str]]:
    """The rules of plans for different numbers of ranks, and what could not be expressed.

    Communicators of a size nobody measured keep the MPI's own decision: every collective begins with an entry for 0
    ranks, and every measured size is followed by an entry for one rank more, that both leave the choice to the MPI.
    """
    notes: list[str] = []
    collectives = []
    named = {rule.collective for plan in plans for rule in plan.rules if not rule.call.is_default}
    for collective in sorted(named & COLLECTIVE_IDS.keys(), key=COLLECTIVE_IDS.__getitem__):
        comms: dict[int, tuple[MessageRule, ...]] = {0: (_FIXED,)}
        for plan in plans:
            rules = _messages(collective, plan, mpi, notes)
            if any(rule.algorithm for rule in rules):
                comms[plan.ranks] = rules
                comms.setdefault(plan.ranks + 1, (_FIXED,))
        if len(comms) > 1:
            collectives.append(
                CollectiveRules(collective, tuple(CommRules(size, comms[size]) for size in sorted(comms)))
            )
    notes += [f"{name}: coll/tuned has no rules for it" for name in sorted(named - COLLECTIVE_IDS.keys())]
    notes += [
        N_(
            "{collective}: with {names}, Open MPI reorders the ranks even for operations that do not commute "
            "(MPI_Op_create with commute = 0), which makes their results wrong: programs with such operations "
            "need the rules of our library (--format rules), which leave these calls to the MPI"
        ).format(collective=each.collective, names=", ".join(names))
        for each in collectives
        if (names := _reordering(each.collective, plans))
    ]
    found = RulesFile(tuple(collectives))
    return (replace(found, version=2) if found.limits_requests else found), notes


def _reordering(collective: str, plans: Sequence[Plan]) -> list[str]:
    """Algorithms that are named for a collective and may combine in another order than that of the ranks."""
    if collective not in KEEPS_ORDER:
        return []
    named = {rule.call.get("algorithm", "") for plan in plans for rule in plan.rules_for(collective)}
    return sorted(name for name in named - KEEPS_ORDER[collective] if name)


def _takes_window(version: str) -> bool:
    """Whether rules of this Open MPI can limit the messages on their way."""
    return at_least(version, "5.0.7") or (at_least(version, "4.1.8") and not at_least(version, "5"))


def _window(rule: Rule, plan: Plan, mpi: Mpi, notes: list[str]) -> int | None:
    """Messages on their way at once with which the rule's algorithm was measured; None: no limit."""
    value = plan.launch.get(_WINDOW_PARAMETER, "0")
    if (rule.collective, rule.call.get("algorithm")) != _WINDOW or value == "0":
        return None
    if not _takes_window(mpi.version):
        notes.append(
            N_(
                "{collective}, {rule} on {nodes} x {ppn} ranks: the limit on outstanding messages ({value}) is "
                "left out, because rules files of Open MPI {version} cannot hold it"
            ).format(
                collective=rule.collective,
                rule=rule.range_text(),
                nodes=plan.nodes,
                ppn=plan.ppn,
                value=value,
                version=mpi.version,
            )
        )
        return None
    return int(value)


def _messages(collective: str, plan: Plan, mpi: Mpi, notes: list[str]) -> tuple[MessageRule, ...]:
    """One communicator size's rules; notes what is left out."""
    rules = sorted(plan.rules_for(collective), key=lambda rule: rule.first)
    if not any(rule.call for rule in rules):
        return ()
    if not has_rules(collective):
        notes.append(N_("{collective}: coll/tuned has no rules for it").format(collective=collective))
        return ()
    if collective in ONE_RULE:
        return _single(collective, plan, rules, mpi, notes)
    out: list[MessageRule] = []
    end = 0
    for rule in rules:
        if rule.first > end:
            out.append(MessageRule(message_bytes(collective, end, plan.ranks), 0))
        out.append(_message(rule, message_bytes(collective, rule.first, plan.ranks), plan, mpi, notes))
        if rule.last is None:
            return _merge(out)
        end = rule.last + 1
    out.append(MessageRule(message_bytes(collective, end, plan.ranks), 0))
    return _merge(out)


def _single(collective: str, plan: Plan, rules: Sequence[Rule], mpi: Mpi, notes: list[str]) -> tuple[MessageRule, ...]:
    """For a collective that may have one rule for all sizes only."""
    calls = {rule.call for rule in rules}
    if len(calls) == 1 and rules[-1].last is None:
        return (_message(rules[0], 0, plan, mpi, notes),)
    why = (
        N_("coll/tuned looks up its rules without a size")
        if collective in WITHOUT_SIZE
        else N_("its ranks may see different sizes, pick different algorithms and hang")
    )
    notes.append(
        N_("{collective} on {nodes} x {ppn} ranks: rules by message size are left out, because {why}").format(
            collective=collective, nodes=plan.nodes, ppn=plan.ppn, why=why
        )
    )
    return ()


def algorithm_number(rule: Rule, mpi: Mpi) -> int:
    """What Open MPI calls the algorithm of a rule. Raises UserError for one that it does not have."""
    known, name = mpi.algorithms.get(rule.collective, {}), rule.call["algorithm"]
    if name not in known:
        raise UserError(
            _("{collective}: coll/{coll} of Open MPI {version} has no algorithm {name!r}; it has {known}").format(
                collective=rule.collective,
                coll=rule.call.get("coll", "tuned"),
                version=mpi.version,
                name=name,
                known=", ".join(known) or "none",
            )
        )
    return known[name]


def _message(rule: Rule, first: int, plan: Plan, mpi: Mpi, notes: list[str]) -> MessageRule:
    call = rule.call
    if call.get("coll", "tuned") != "tuned":
        notes.append(
            N_(
                "{collective}, {rule} on {nodes} x {ppn} ranks: coll={coll} is left out, because a "
                "rules file only chooses among coll/tuned's algorithms"
            ).format(
                collective=rule.collective, rule=rule.range_text(), nodes=plan.nodes, ppn=plan.ppn, coll=call["coll"]
            )
        )
        return MessageRule(first, 0)
    if "algorithm" not in call:
        return MessageRule(first, 0)
    name = call["algorithm"]
    number = algorithm_number(rule, mpi)
    fan = _CHAIN_FAN if name == "chain" else 0
    return MessageRule(first, number, fan, int(call.get("segment", "0")), _window(rule, plan, mpi, notes))


def _merge(rules: Sequence[MessageRule]) -> tuple[MessageRule, ...]:
    """Without entries that repeat the one before."""
    out: list[MessageRule] = []
    for rule in rules:
        if not out or replace(rule, bytes=out[-1].bytes) != out[-1]:
            out.append(rule)
    return tuple(out)
