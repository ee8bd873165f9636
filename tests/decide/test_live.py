"""An A/A study on this very machine: the default under a second name, in launches of its own and inside launches."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from unisono.cmdline.command import command
from unisono.core.vocabulary import DEFAULT, Case, Sample, Setting
from unisono.decide.decide import decide
from unisono.machine.description import Machine
from unisono.measure.session import Session

CASES = (Case("allreduce", 1, 2), Case("alltoall", 1, 2))
SIZES = (8, 512, 32768, 262144)
APART = Setting({"alias": "second name"})
INSIDE = Setting({"coll": "tuned"})
"""coll/tuned serves one node anyway, so preferring it changes nothing."""


def launch(machine: Machine, program: Path, number: int, round: int, name: Setting) -> list[Sample]:
    """One launch with nothing set, whatever it is called."""
    line = command(machine, DEFAULT, 1, 2, [str(program)], oversubscribe=True)
    samples = []
    with Session(line.argv, line.env) as session:
        names = {session.define(): name, session.define(prefer="tuned"): name | INSIDE}
        for case in CASES:
            for size in SIZES:
                timings = session.measure(
                    case.collective,
                    size,
                    list(names),
                    seconds=0.02,
                    min_reps=8,
                    max_reps=400,
                    blocks=4,
                    check=True,
                    deadline=30.0,
                )
                samples += [
                    Sample(
                        number,
                        round,
                        case,
                        size,
                        names[t.id],
                        t.repetitions,
                        t.discarded,
                        t.sync,
                        t.minimum,
                        t.q1,
                        t.median,
                        t.q3,
                        t.p95,
                        t.mean,
                        t.trimmed,
                        t.correct,
                    )
                    for t in timings
                ]
    return samples


@pytest.mark.mpi
def test_the_same_setting_under_two_names(embedded: Machine, bench: Path) -> None:
    """Four rounds on whatever this machine is doing meanwhile: no claim, no rule, the default kept."""
    samples: list[Sample] = []
    number = 0
    for round in range(1, 5):
        for name in random.Random(round).sample([DEFAULT, APART], 2):
            number += 1
            samples += launch(embedded, bench, number, round, name)
    decision = decide(samples, method="race")
    cells = {(e.case, e.size) for e in decision.estimates}
    assert len(cells) == len(CASES) * len(SIZES)
    assert len({(e.case, e.size) for e in decision.estimates if e.significant}) <= 1
    assert {finding.kind for finding in decision.findings} <= {"no difference", "singular point", "not told"}
    assert decision.plans[0].launch == DEFAULT
    assert not any(rule.call for rule in decision.plans[0].rules)
