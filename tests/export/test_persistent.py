"""Persistent collectives in exports: what was decided for them serves them, whatever the nonblocking form has."""

from __future__ import annotations

import pytest

from tests.machine.trees import recorded
from tests.tuning.samples import machine, plan, rule, tuning
from unisono.core.vocabulary import NONBLOCKING, PERSISTENT, started
from unisono.export.dispatch import Rules
from unisono.export.serving import compile_serving
from unisono.export.words import plan_words
from unisono.machine.description import Machine
from unisono.mpi.openmpi.ompi_info import parse_algorithms
from unisono.parameters.spelling import require_mpi
from unisono.tuning.plans import Plan, Rule

LIBRARY = {"preload": "unisono"}
POSTED = {"coll": "unisono", "algorithm": "posted"}
CHAIN, LINEAR = ({"coll": "libnbc", "algorithm": name} for name in ("chain", "linear"))


def here() -> Machine:
    """With the algorithms of coll/libnbc, of which a persistent collective has those of the nonblocking one."""
    found = machine("5.0.11")
    nonblocking = parse_algorithms(recorded("ompi_info-libnbc-5.0.11.txt"))
    known = nonblocking | {name: nonblocking[started(name)] for name in PERSISTENT if started(name) in nonblocking}
    mpi = require_mpi(found)
    return found.model_copy(update={"mpi": mpi.model_copy(update={"algorithms": {**mpi.algorithms, **known}})})


def served(*given: Rule) -> Plan:
    return plan(launch=LIBRARY, gain={one.collective: 1.5 for one in given}, rules=given)


def rules(of: Plan) -> Rules:
    return compile_serving(tuning(of, plan()), of, require_mpi(here()))[0]


@pytest.mark.parametrize("collective", PERSISTENT)
def test_what_was_decided_is_what_serves(collective: str) -> None:
    """Each form by itself, though the library goes by the rules of the nonblocking one where there is no other."""
    alone = rules(served(rule(started(collective), 0, None, POSTED)))
    assert alone.find(collective, 1, 4, 8) == ("unisono/posted",), "was not measured, and goes by the other's rule"
    both = rules(served(rule(started(collective), 0, None, POSTED), rule(collective, 0, None, {})))
    assert both.find(started(collective), 1, 4, 8) == ("unisono/posted",)
    assert both.find(collective, 1, 4, 8) == ("mpi",), "was measured, and is the MPI's"
    other = rules(served(rule(started(collective), 0, None, {}), rule(collective, 0, None, POSTED)))
    assert other.find(started(collective), 1, 4, 8) == ("mpi",)
    assert other.find(collective, 1, 4, 8) == ("unisono/posted",)


def test_sizes_without_a_rule_are_the_mpis_where_the_form_was_measured() -> None:
    found = rules(
        served(
            rule("ibcast", 0, None, CHAIN),
            rule("bcast_init", 64, 1023, POSTED),
            rule("bcast_init", 4096, 65535, LINEAR),
        )
    )
    sizes = (8, 64, 1024, 4096, 65536)
    assert [found.find("bcast_init", 1, 4, size) for size in sizes] == [
        ("mpi",),
        ("unisono/posted",),
        ("mpi",),
        ("libnbc/linear",),
        ("mpi",),
    ]
    assert {found.find("ibcast", 1, 4, size) for size in sizes} == {("libnbc/chain",)}


def test_open_mpis_parameter_is_not_for_the_persistent_form() -> None:
    """It holds for both forms."""
    with pytest.raises(ValueError, match='bcast_init: coll = "libnbc" needs preload = "unisono" in the plan\'s launch'):
        tuning(plan(gain={"bcast_init": 1.5}, rules=(rule("bcast_init", 0, None, CHAIN),)))
    for_all = plan(gain={"ibcast": 1.5}, rules=(rule("ibcast", 0, None, CHAIN),))
    assert plan_words(tuning(for_all), for_all, here()).mca == {"coll_libnbc_ibcast_algorithm": "chain"}


def test_the_forms_are_in_the_same_order() -> None:
    assert tuple(map(started, PERSISTENT)) == NONBLOCKING
