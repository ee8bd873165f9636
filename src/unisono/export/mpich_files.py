"""A plan in MPICH's words: variables that force an algorithm, and selection files with the variables that name them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.vocabulary import MPICH, is_ours
from unisono.export.compiled import plans_under
from unisono.export.content import Content
from unisono.export.mpich_selection import Selection, compile_selection, forced, unsayable
from unisono.export.mpich_tables import Tree, tables_of
from unisono.mpi.cvars import algorithm_variable, device_variable
from unisono.tuning.plans import Plan, Rule

ALGORITHMS = "mpich-selection.json"
COMPOSITIONS = "mpich-ch4-selection.json"
FILES = {
    ALGORITHMS: "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE",
    COMPOSITIONS: "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE",
}
"""Name in the directory -> the variable by which MPICH finds it."""
_PAGE = 4096


def selection(content: Content) -> Selection:
    """Of the plan and of others with its launch setting, but for what `by_variables` says and what our library serves;
    without rules MPICH's tables are not looked for."""
    forced_ = by_variables(content)
    plans = [
        replace(plan, rules=tuple(rule for rule in plan.rules if _is_for_files(rule, plan, forced_)))
        for plan in plans_under(content.tuning, content.plan)
    ]
    if not any(rule.call for plan in plans for rule in plan.rules):
        return Selection({}, {}, ())
    return compile_selection(plans, tables_of(content.mpi))


def _is_for_files(rule: Rule, plan: Plan, variables: Mapping[str, str]) -> bool:
    ours = plan.needs_library and is_ours(rule.call)
    return not ours and algorithm_variable(rule.collective) not in variables


def by_variables(content: Content) -> dict[str, str]:
    """Variables for the collectives of the plan that have one algorithm for all sizes, which MPICH's files cannot name.
    They hold for every communicator."""
    out: dict[str, str] = {}
    rules = [rule for rule in content.plan.rules if rule.call.get("coll") == MPICH]
    one_for_all = forced(content.plan)
    for rule in rules:
        known = content.mpi.algorithms.get(rule.collective, {})
        if rule.collective not in one_for_all or rule.call.get("algorithm") not in known:
            continue
        if unsayable(rule, content.plan, tables_of(content.mpi)):
            out |= _forcing(rule.collective, one_for_all[rule.collective])
    return out


def _forcing(collective: str, algorithm: str) -> dict[str, str]:
    return {
        algorithm_variable(collective): algorithm,
        # Else the device decides first, and the algorithm is reached by some calls only.
        device_variable(collective): "0",
    }


def selection_files(found: Selection) -> dict[str, str]:
    """Name -> text; empty where there is nothing to say."""
    if not found.algorithms:
        return {}
    texts = {ALGORITHMS: _text(found.algorithms)}
    return {**texts, COMPOSITIONS: _text(found.compositions)} if found.compositions else texts


def _text(tree: Tree) -> str:
    text = json.dumps(tree, indent=1) + "\n"
    # MPICH maps the file and looks for its end mark, which a text of whole pages would not have.
    return text + "\n" if len(text) % _PAGE == 0 else text


def forced_variables(content: Content) -> dict[str, str]:
    """Variables for all calls of a collective, whatever their size and communicator.

    Raises UserError for an algorithm that this MPICH does not have: it would not start.
    """
    out: dict[str, str] = {}
    for collective, algorithm in forced(content.plan).items():
        known = tables_of(content.mpi).algorithms_of(collective)
        if algorithm not in known:
            raise UserError(
                _("{collective}: MPICH {version} has no algorithm {name!r}; it has {known}").format(
                    collective=collective, version=content.mpi.version, name=algorithm, known=", ".join(known) or "none"
                )
            )
        out |= _forcing(collective, algorithm)
    return {**out, **content.words.env}


def unforced(content: Content) -> list[str]:
    """A sentence about the rules that variables cannot say."""
    rest = {rule.collective for rule in content.plan.rules if rule.call} - forced(content.plan).keys()
    if not rest:
        return []
    return [
        N_("{rest}: a variable forces one algorithm for all sizes; --format mpich-json has rules by size").format(
            rest=", ".join(sorted(rest))
        )
    ]
