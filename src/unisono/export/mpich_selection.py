"""Plans compiled into MPICH's selection files, with a sentence for everything these cannot say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from unisono.core.language import N_
from unisono.core.vocabulary import MPICH
from unisono.export.message_bytes import ONE_RULE
from unisono.export.mpich_tables import Tables, Tree
from unisono.tuning.plans import Plan, Rule

_LARGEST = (1 << 31) - 1
"""A threshold is a C int."""

COUNTED = {
    "allreduce": "avg_msg_size",
    "bcast": "avg_msg_size",
    "reduce": "avg_msg_size",
    "alltoall": "avg_msg_size",
    "allgather": "total_msg_size",
    "allgatherv": "total_msg_size",
    "reduce_scatter_block": "total_msg_size",
}
"""The condition on message sizes that MPICH's reader takes for a collective; total: all ranks' together."""

_FLAT = {
    "allreduce": "beta",
    "reduce": "gamma",
    "bcast": "gamma",
    "barrier": "beta",
    "alltoall": "beta",
    "allgather": "beta",
}
"""The composition that goes to the algorithms at once; the others have alpha alone."""

_ANY_ORDER = {
    "allreduce": ("recursive_doubling",),
    "reduce": ("binomial",),
    "reduce_scatter_block": ("noncommutative", "recursive_doubling"),
}
"""What keeps the order of a reduction; all others need a commutative operation."""

_BLOCKWISE = (("allreduce", "reduce_scatter_allgather"), ("reduce", "reduce_scatter_gather"))
"""These cut the vector: not for operations of the user, nor for fewer elements than ranks."""

_POWER_OF_TWO = (
    ("allgather", "recursive_doubling"),
    ("allgatherv", "recursive_doubling"),
    ("bcast", "scatter_recursive_doubling_allgather"),
    ("reduce_scatter_block", "noncommutative"),
)
_HALF_READ = ("barrier", "recexch")
_IN_PLACE = "pairwise_sendrecv_replace"

_TREE = (("tree_type", "TREE_TYPE"), ("k", "TREE_KVAL"))
_TOPOLOGY = tuple(
    (f"topo_{name}", f"TOPO_{name.upper()}") for name in ("overhead", "diff_groups", "diff_switches", "same_switches")
)
_RECEXCH = (("k", "RECEXCH_KVAL"), ("single_phase_recv", "RECEXCH_SINGLE_PHASE_RECV"))
_CHUNK = ("chunk_size", "TREE_PIPELINE_CHUNK_SIZE")

_PARAMETERS = {
    ("allgather", "k_brucks"): (("k", "BRUCKS_KVAL"),),
    ("allgather", "recexch_doubling"): _RECEXCH,
    ("allgather", "recexch_halving"): _RECEXCH,
    ("alltoall", "k_brucks"): (("k", "BRUCKS_KVAL"),),
    ("barrier", "k_dissemination"): (("k", "DISSEM_KVAL"),),
    ("allreduce", "recursive_multiplying"): (("k", "RECURSIVE_MULTIPLYING_KVAL"),),
    ("allreduce", "recexch"): _RECEXCH,
    ("allreduce", "k_reduce_scatter_allgather"): _RECEXCH,
    ("allreduce", "tree"): (*_TREE, _CHUNK, ("buffer_per_child", "TREE_BUFFER_PER_CHILD"), *_TOPOLOGY),
    ("bcast", "tree"): (*_TREE, ("is_non_blocking", "IS_NON_BLOCKING"), *_TOPOLOGY),
    ("bcast", "pipelined_tree"): (
        *_TREE,
        ("is_non_blocking", "IS_NON_BLOCKING"),
        _CHUNK,
        ("recv_pre_posted", "RECV_PRE_POST"),
    ),
}
"""What a leaf has to say in full, as MPICH's reader leaves the rest undefined: its word there, and the variable
(MPIR_CVAR_<COLLECTIVE>_...) by which it was measured."""

_DEFAULTS = {
    "ALLREDUCE_TREE_TYPE": "knomial_1",
    "BCAST_TREE_TYPE": "kary",
    "ALLREDUCE_TREE_PIPELINE_CHUNK_SIZE": "0",
    "BCAST_TREE_PIPELINE_CHUNK_SIZE": "8192",
    "TREE_BUFFER_PER_CHILD": "0",
    "TOPO_OVERHEAD": "200",
    "TOPO_DIFF_GROUPS": "2800",
    "TOPO_DIFF_SWITCHES": "1900",
    "TOPO_SAME_SWITCHES": "1600",
    "RECEXCH_SINGLE_PHASE_RECV": "0",
    "IS_NON_BLOCKING": "1",
    "RECV_PRE_POST": "0",
}
"""Of MPICH 5.0; every *_KVAL is 2."""


@dataclass(frozen=True, slots=True)
class Selection:
    algorithms: Tree
    """Empty: there is nothing to say."""
    compositions: Tree
    notes: tuple[str, ...]


def compile_selection(plans: Sequence[Plan], tables: Tables) -> Selection:
    """The two files' contents for plans on different numbers of ranks; empty where no plan has a rule they can say.

    Communicators of other sizes, and on MPICH 4.1 and newer of other ranks a node, keep what this MPICH does by itself.
    """
    notes: list[str] = []
    tuned: dict[str, list[tuple[Plan, list[Stretch]]]] = {}
    for plan in plans:
        for collective in dict.fromkeys(rule.collective for rule in plan.rules):
            stretches = _stretches(collective, plan, tables, notes)
            if any(stretch.leaf for stretch in stretches):
                tuned.setdefault(collective, []).append((plan, stretches))
    if not tuned:
        return Selection({}, {}, tuple(notes))
    algorithms, compositions = dict(tables.algorithms), dict(tables.compositions)
    for collective, found in tuned.items():
        key = f"collective={collective}"
        algorithms[key] = _grafted(
            algorithms[key],
            [(plan, _algorithm_tree(collective, plan, s, algorithms[key])) for plan, s in found],
            tables,
        )
        if key in compositions:
            compositions[key] = _grafted(
                compositions[key],
                [(plan, _composition_tree(collective, plan, s, compositions[key], tables)) for plan, s in found],
                tables,
            )
    return Selection(algorithms, compositions, tuple(notes))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Message sizes up to `last` (bytes as IMB counts them; None: no end); `algorithm` None: MPICH's own choice."""

    last: int | None
    algorithm: str | None = None
    leaf: Tree | None = None


def _stretches(collective: str, plan: Plan, tables: Tables, notes: list[str]) -> list[Stretch]:
    rules = sorted(plan.rules_for(collective), key=lambda rule: rule.first)
    where = N_("{collective} on {nodes} x {ppn} ranks").format(collective=collective, nodes=plan.nodes, ppn=plan.ppn)
    if not any(rule.call for rule in rules):
        return []
    if collective not in COUNTED and (len({rule.call for rule in rules}) > 1 or rules[-1].last is not None):
        why = N_("its ranks may see different sizes") if collective in ONE_RULE else N_("MPICH's file has none for it")
        notes.append(N_("{where}: rules by message size are left out, because {why}").format(where=where, why=why))
        return []
    out: list[Stretch] = []
    end = 0
    for rule in rules:
        if rule.first > end:
            out.append(Stretch(rule.first - 1))
        algorithm, leaf = _leaf(rule, plan, tables, where, notes)
        out.append(Stretch(rule.last, algorithm, leaf))
        if rule.last is None:
            return out
        end = rule.last + 1
    return [*out, Stretch(None)]


def _leaf(rule: Rule, plan: Plan, tables: Tables, where: str, notes: list[str]) -> tuple[str | None, Tree | None]:
    collective, algorithm = rule.collective, rule.call.get("algorithm", "")
    if rule.call.is_default:
        return None, None
    wrong = unsayable(rule, plan, tables)
    if wrong:
        notes.append(
            N_("{where}, {range}: {call} is left out, because {wrong}").format(
                where=where, range=rule.range_text(), call=rule.call, wrong=wrong
            )
        )
        return None, None
    parameters: Tree = {
        f"{word}={_value(collective, variable, plan)}": {}
        for word, variable in _PARAMETERS.get((collective, algorithm), ())
        if tables.knows(word)
    }
    return algorithm, {f"algorithm={tables.name_of(collective, algorithm)}": parameters}


def unsayable(rule: Rule, plan: Plan, tables: Tables) -> str:
    """Why MPICH's file cannot give a rule's call to its algorithm; "" where it can."""
    collective, algorithm = rule.collective, rule.call.get("algorithm", "")
    if rule.call.get("coll") != MPICH or not algorithm:
        return N_("MPICH's file only chooses among its own algorithms")
    if not tables.has(collective, algorithm):
        return N_("this MPICH's file has no such algorithm")
    if (collective, algorithm) == _HALF_READ:
        return N_("MPICH's reader leaves a parameter of it undefined")
    if algorithm == _IN_PLACE:
        return N_("it serves calls in place alone")
    if (collective, algorithm) in _POWER_OF_TWO and plan.ranks & (plan.ranks - 1):
        return N_("it needs a power of two ranks")
    return ""


def _value(collective: str, variable: str, plan: Plan) -> str:
    """What it was measured with: the plan's own, else the default."""
    name = f"{collective.upper()}_{variable}"
    return plan.launch.get(f"MPIR_CVAR_{name}", _DEFAULTS.get(name, _DEFAULTS.get(variable, "2")))


def _algorithm_tree(collective: str, plan: Plan, stretches: Sequence[Stretch], own: Tree) -> Tree:
    default = _for_ranks(_intra(own), plan)
    return _by_size(collective, plan, stretches, lambda stretch: _guarded(collective, stretch, default))


def _composition_tree(collective: str, plan: Plan, stretches: Sequence[Stretch], own: Tree, tables: Tables) -> Tree:
    default = _for_ranks(_intra(own), plan)
    begin = f"MPIDI_{collective.capitalize()}_intra_composition_"
    name = begin + _FLAT.get(collective, "alpha")
    if name.encode() not in tables.words:
        name = begin + "alpha"  # in MPICH 4.0 the only one of some collectives
    flat: Tree = {f"composition={name}": {}}
    return _by_size(collective, plan, stretches, lambda stretch: flat if stretch.leaf else default)


def _by_size(collective: str, plan: Plan, stretches: Sequence[Stretch], subtree: Callable[[Stretch], Tree]) -> Tree:
    """A chain of conditions on the message size, ended by `any`; without one where there is a single stretch."""
    if len(stretches) == 1:
        return subtree(stretches[0])
    counted = COUNTED[collective]
    factor = plan.ranks if counted == "total_msg_size" else 1
    chain: Tree = {}
    for stretch in stretches:
        if stretch.last is None or stretch.last * factor > _LARGEST:
            chain[f"{counted}=any"] = subtree(stretch)
            break
        chain[f"{counted}<={stretch.last * factor}"] = subtree(stretch)
    return chain


def _guarded(collective: str, stretch: Stretch, default: Tree) -> Tree:
    """The leaf where MPICH may use it; nothing in MPICH itself checks that."""
    leaf, algorithm = stretch.leaf, stretch.algorithm
    if leaf is None or algorithm is None:
        return default
    if (collective, algorithm) in _BLOCKWISE:
        return {"is_op_built_in=yes": {"count<pow2": default, "count=any": leaf}, "is_op_built_in=no": default}
    if collective in _ANY_ORDER and algorithm not in _ANY_ORDER[collective]:
        leaf = {"is_commutative=yes": leaf, "is_commutative=no": default}
    if collective.startswith("alltoall"):
        leaf = {"is_sendbuf_inplace=yes": default, "is_sendbuf_inplace=no": leaf}
    if algorithm.startswith("smp"):
        leaf = {"comm_hierarchy=parent": leaf, "comm_hierarchy=any": default}
    return leaf


def _intra(own: Tree) -> Tree:
    """Of one collective: what holds for intra-communicators."""
    intra: Tree = own.get("comm_type=intra", own)
    return intra


def _for_ranks(tree: Tree, plan: Plan) -> Tree:
    """The tree with conditions on the communicator's size decided: below one on the message size MPICH reads
    `comm_size<N` as `<=N`."""
    if not any(key.startswith("comm_size") for key in tree):
        return {key: _for_ranks(below, plan) for key, below in tree.items()}
    return next(_for_ranks(below, plan) for key, below in tree.items() if holds_for(key, plan.nodes, plan.ppn))


def holds_for(key: str, nodes: int, ppn: int) -> bool:
    """Whether a condition on the communicator's size holds for so many ranks."""
    ranks = nodes * ppn
    if key == "comm_size=pow2":
        return ranks & (ranks - 1) == 0
    if key == "comm_size=node_comm_size":
        return nodes == 1
    if key.startswith("comm_size<="):
        return ranks <= int(key.removeprefix("comm_size<="))
    if key.startswith("comm_size<"):
        return ranks < int(key.removeprefix("comm_size<"))
    return key in ("comm_size=any", "any")


def _grafted(own: Tree, found: Sequence[tuple[Plan, Tree]], tables: Tables) -> Tree:
    """One collective's tree with other branches for the plans' communicators."""
    default = _intra(own)
    chain: Tree = {}
    below = 0
    for plan, tree in sorted(found, key=lambda one: one[0].ranks):
        if plan.ranks > below + 1:
            chain[f"comm_size<={plan.ranks - 1}"] = default
        chain[f"comm_size<={plan.ranks}"] = _for_ppn(plan, tree, default) if tables.knows_ppn else tree
        below = plan.ranks
    chain["comm_size=any"] = default
    inter = {key: below for key, below in own.items() if key == "comm_type=inter"}
    return {"comm_type=intra": chain, **(inter or ({} if "comm_type=intra" in own else {"comm_type=inter": own}))}


def _for_ppn(plan: Plan, tree: Tree, default: Tree) -> Tree:
    fewer = {f"comm_avg_ppn<={plan.ppn - 1}": default} if plan.ppn > 1 else {}
    return {**fewer, f"comm_avg_ppn<={plan.ppn}": tree, "comm_avg_ppn=any": default}


def forced(plan: Plan) -> Mapping[str, str]:
    """Collective -> the one algorithm of MPICH that the plan has for all its sizes."""
    out = {}
    for collective in dict.fromkeys(rule.collective for rule in plan.rules):
        rules = plan.rules_for(collective)
        if len(rules) == 1 and rules[0].last is None and rules[0].call.get("coll") == MPICH:
            out[collective] = rules[0].call.get("algorithm", "")
    return {collective: algorithm for collective, algorithm in out.items() if algorithm}
