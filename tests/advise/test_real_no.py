"""That nothing is to be gained is said only where everything was looked at that might gain."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.advise.made import Call
from tests.advise.made_world import HERE, METRIC, UCX, Fake, keep
from unisono.advise.journal import open_journal
from unisono.advise.measuring import Wanted, never_launched
from unisono.advise.optimize import Optimizer, World
from unisono.advise.story import read_story
from unisono.advise.trials import CONFIDENCE, FIRST_TRIALS, LOOKS, confidence
from unisono.commands.optimizing import UNDECIDED, tell
from unisono.core.vocabulary import Case, Condition, Setting
from unisono.study.data import NEVER
from unisono.study.store import Store

MANY = tuple(Setting({"pml": name}) for name in ("one", "two", "three", "four", "five"))
UNLIKE = Call("MPI_Alltoall", ("main", "transpose"), size=1 << 16, calls=10, time=4.0, waiting=0.2)
"""Its calls take a thousand times as long as the benchmark's: any setting may gain."""


def test_every_candidate_is_tried_while_the_budget_lasts(tmp_path: Path) -> None:
    """The benchmark sees no difference between five settings, so that only the program can tell."""
    fake = Fake(tmp_path, measured=1.0, real=1.0, settings=MANY, calls=(UNLIKE,))
    journal = fake.optimize(budget=1000)
    assert {trial.launch["pml"]: trial.verdict for trial in journal.rounds[0].trials} == dict.fromkeys(
        ("one", "two", "three", "four", "five"), "no difference"
    )
    assert journal.rounds[0].outcome == "nothing"


def test_the_more_are_tried_the_surer_one_has_to_be() -> None:
    doubts = [LOOKS * (1 - confidence(number)) for number in range(100 * FIRST_TRIALS)]
    assert doubts[:FIRST_TRIALS] == [LOOKS * (1 - confidence(0))] * FIRST_TRIALS
    assert sum(doubts) <= 2 * FIRST_TRIALS * (1 - CONFIDENCE) + 1e-9


def test_settings_that_were_never_launched_are_no_answer(tmp_path: Path) -> None:
    """The budget for measuring ended after the default's first launch."""
    fake = Fake(tmp_path)

    def measure(
        path: Path,
        wanted: Wanted,
        weights: Mapping[str, float],
        seconds: float,
        conditions: Mapping[Case, Condition],
    ) -> bool:
        if path.exists():
            return False
        keep(path, wanted, {})
        with Store.open(path, write=True) as store:
            store.set_meta(NEVER, [str(UCX), "placement=cyclic"])
        return False

    fake.measure = measure  # type: ignore[method-assign]
    journal = fake.optimize()
    story = read_story(journal, fake.files)
    assert story.outcome == "not measured"
    assert story.headline.startswith(
        "Not measured, so nothing is known: the program stays as it is, at 1 s. The time ended before 2 launch"
    )
    assert story.headline.endswith("continue with --resume --budget 4m.")
    assert tell(journal, fake.files, json=False) == UNDECIDED
    assert never_launched([fake.files.study(1)]) == ["placement=cyclic", "pml=ucx"]


def test_what_is_left_of_the_budget_is_measured_with_before_not_measured_is_said(tmp_path: Path) -> None:
    """Measuring had 19 s, too few for one setting beside the default, and ended with 126 s of 200 left."""
    fake, now, given = Fake(tmp_path), [0.0], []

    def measure(
        path: Path,
        wanted: Wanted,
        weights: Mapping[str, float],
        seconds: float,
        conditions: Mapping[Case, Condition],
    ) -> bool:
        given.append(seconds)
        now[0] += seconds
        if len(given) == 2:
            fake.measure(path, wanted, weights, seconds, conditions)
        return len(given) == 2

    journal = open_journal(fake.files, fake.argv, HERE, metric=METRIC, pairs=3, resume=False)
    Optimizer(journal, HERE, fake.files, 200.0, World(fake.record, measure, clock=lambda: now[0])).run()
    assert len(given) == 2 and sum(given) > 150
    assert journal.rounds[0].accepted, "and what came of it is tried"


def test_what_was_left_untried_is_tried_first_when_it_goes_on(tmp_path: Path) -> None:
    """The budget ended behind the measurement: there is no reason to measure again."""
    fake, now = Fake(tmp_path), [0.0]
    said: list[str] = []

    def measure(*asked: Any) -> bool:
        fake.measure(*asked)
        now[0] += 1000.0
        return True

    for budget, resume in ((1000.0, False), (2000.0, True)):
        journal = open_journal(fake.files, fake.argv, HERE, metric=METRIC, pairs=3, resume=resume)
        world = World(fake.record, measure, said.append, lambda: now[0])
        Optimizer(journal, HERE, fake.files, budget, world).run()
        if not resume:
            assert journal.rounds[0].outcome == "undecided" and journal.rounds[0].trials == []
    assert fake.log.count("measure alltoall, 1 x 4 ranks") == 1
    assert journal.rounds[0].accepted
    assert any("measuring what it uses (alltoall, 1 x 4 ranks)" in sentence for sentence in said)
