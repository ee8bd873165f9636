"""A plan in the words of one machine's MPI: what every exporter, `run` and `verify` have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from unisono.cmdline.command import launch_scope_words
from unisono.core.language import N_
from unisono.core.version import at_least
from unisono.core.vocabulary import of_libnbc
from unisono.export.compiled import algorithm_number, compile_rules, plans_under
from unisono.export.dispatch import Rules
from unisono.export.serving import compile_serving, other_collectives
from unisono.export.tuned_rules import RulesFile
from unisono.machine.description import Machine, Mpi
from unisono.parameters.spelling import require_mpi, sweep_words
from unisono.tuning.contents import Tuning
from unisono.tuning.plans import Plan

RULES_FILE = "coll_tuned_dynamic_rules_filename"
"""The MCA parameter that names coll/tuned's rules file."""

_HAN_SERVES = frozenset({"allgather", "allreduce", "barrier", "bcast", "gather", "reduce", "scatter"})


@dataclass(frozen=True, slots=True)
class PlanWords:
    mca: Mapping[str, str]
    """Without those that name the rules file: see `mca_with_rules`."""
    env: Mapping[str, str]
    placement: str | None
    """The policy; its words for mpirun depend on the hosts."""
    rules: RulesFile | None
    """Of coll/tuned. None: no collective needs any."""
    serving: Rules | None
    """Of our own library, which has to be preloaded then."""
    serving_mca: Mapping[str, str]
    """Those of `mca` without which our library could not switch coll/tuned's algorithms."""
    nonblocking: Mapping[str, str]
    """Those of `mca` that give nonblocking collectives an algorithm of coll/libnbc each."""
    notes: tuple[str, ...]
    """One sentence for each thing these words cannot or may not do."""

    def mca_with_rules(self, path: Path) -> dict[str, str]:
        """The MCA parameters when the rules file is at `path`."""
        return {**self.mca, **(rules_words(path) if self.rules else {})}


def rules_words(path: Path) -> dict[str, str]:
    """MCA parameters with which coll/tuned reads a rules file."""
    return {"coll_tuned_use_dynamic_rules": "1", RULES_FILE: str(path)}


def plan_words(tuning: Tuning, plan: Plan, machine: Machine) -> PlanWords:
    """Raises UserError when this MPI has no word for a setting, or not the algorithm a rule names."""
    mpi = require_mpi(machine)
    words = launch_scope_words(plan.launch, machine)
    plans = plans_under(tuning, plan)
    serving: Rules | None = None
    notes: list[str] = []
    serving_mca: dict[str, str] = {}
    if plan.needs_library:
        serving, notes = compile_serving(tuning, plan, mpi)
        plans = other_collectives(plans)
        if any(use.startswith("tuned/") for rule in serving.rules for use in rule.use):
            serving_mca = sweep_words(machine)
    elif tuning.study.reproducible:
        serving = Rules(())
    if serving is not None:
        serving = replace(serving, reproducible=tuning.study.reproducible)
    # coll/tuned's are Open MPI's alone; what others make of rules is said where they are written.
    rules, more = compile_rules([_for_tuned(each) for each in plans] if mpi.traits.MCA else [], mpi)
    notes += more
    nonblocking = {} if plan.needs_library else _nonblocking(plan, mpi)
    notes += _han_in_front(rules, plan, mpi)
    return PlanWords(
        mca={**serving_mca, **nonblocking, **words.mca},
        env=words.env,
        placement=plan.launch.get("placement"),
        rules=rules if rules.collectives else None,
        serving=serving,
        serving_mca=serving_mca,
        nonblocking=nonblocking,
        notes=tuple(notes),
    )


def _for_tuned(plan: Plan) -> Plan:
    """Without what is coll/libnbc's."""
    return replace(plan, rules=tuple(rule for rule in plan.rules if not of_libnbc(rule.call)))


def _nonblocking(plan: Plan, mpi: Mpi) -> dict[str, str]:
    """coll/libnbc's parameters for the nonblocking collectives of the plan, each of which has one algorithm for all
    sizes there. Raises UserError for one that this MPI does not have."""
    words: dict[str, str] = {}
    for rule in plan.rules:
        if of_libnbc(rule.call):
            algorithm_number(rule, mpi)  # or it is refused
            words |= mpi.traits.forcing(rule.collective, rule.call["algorithm"])
    return words


def _han_in_front(rules: RulesFile, plan: Plan, mpi: Mpi) -> list[str]:
    """On several nodes Open MPI 5 puts coll/han before coll/tuned, unless the plan asks for tuned."""
    shadowed = [c.collective for c in rules.collectives if c.collective in _HAN_SERVES]
    has_han = at_least(mpi.version, "5") and "han" in mpi.components.get("coll", [])
    if not shadowed or plan.nodes == 1 or not has_han or "coll" in plan.launch:
        return []
    return [
        N_(
            "on several nodes coll/han serves {shadowed} before coll/tuned is asked, so these "
            'rules are not reached there; a plan with coll = "tuned" would reach them'
        ).format(shadowed=", ".join(shadowed))
    ]
