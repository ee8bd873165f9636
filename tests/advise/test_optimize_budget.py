"""How the cycle of `optimize` keeps to its budget."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.advise.made_world import HERE, METRIC, Fake
from unisono.advise.conclude import conclude
from unisono.advise.journal import Round, Trial, open_journal
from unisono.advise.optimize import Optimizer, World
from unisono.advise.story import read_story
from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT
from unisono.report.story import write_story
from unisono.tuning import read


def test_a_budget_that_ends_before_the_trials(tmp_path: Path) -> None:
    """Measuring takes longer than it was told to."""
    fake = Fake(tmp_path)
    now = [0.0]

    def measure(*asked: Any) -> bool:
        now[0] = 3600.0
        return fake.measure(*asked)

    journal = open_journal(fake.files, fake.argv, HERE, metric=METRIC, pairs=3, resume=False)
    world = World(fake.record, measure, fake.say, lambda: now[0])
    Optimizer(journal, HERE, fake.files, 1000.0, world).run()
    assert journal.rounds[0].trials == []
    story = read_story(journal, fake.files)
    assert story.outcome == "undecided"
    assert story.headline.startswith("Undecided, nothing is proven: the program stays as it is, at 1 s. pml=ucx may be")
    assert "but no candidate was tried" in story.markdown()
    assert read(fake.files.tuning).plan[0].launch == DEFAULT


def test_a_trial_ends_with_the_budget_and_goes_on_with_a_larger_one(tmp_path: Path) -> None:
    """Runs that became slower than the first one went on to their last pair, whatever the budget."""
    fake = Fake(tmp_path)

    def clock() -> float:
        return 0.0 if not (tmp_path / "runs").exists() or fake.runs < 3 + 3 else 3600.0

    journal = open_journal(fake.files, fake.argv, HERE, metric=METRIC, pairs=7, resume=False)
    Optimizer(journal, HERE, fake.files, 1000.0, World(fake.record, fake.measure, fake.say, clock)).run()
    assert fake.runs == 3 + 4, "the pair that was begun is the last"
    (trial,) = journal.rounds[0].trials
    assert (trial.verdict, len(trial.runs)) == ("", 4)
    story = read_story(journal, fake.files)
    assert story.outcome == "undecided"
    assert "pml=ucx may be faster, but its trial did not end: 3600 s of the budget" in story.headline
    assert "not finished" in story.markdown() and write_story(story, tmp_path / "story.html").is_file()
    journal = fake.optimize(budget=1e5, resume=True, pairs=7)
    assert (journal.rounds[0].outcome, fake.log.count("profile")) == ("faster", 2)
    assert len(journal.rounds[0].trials[0].runs) == 2 * 7


def test_a_budget_shorter_than_one_run_is_said_to_be_that(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    (tmp_path / "mpirun").write_text("#!/bin/sh\nsleep 30\n")
    with pytest.raises(
        UserError, match=r"--budget 1s: the time passed before the first run .* had ended; give about twenty times"
    ):
        fake.optimize(budget=1.0)


@pytest.mark.parametrize(("high", "said"), [(1.4, "may still be up to 40 % faster"), (38.0, "more than twice as fast")])
def test_what_runs_leave_open_is_a_figure_only_where_it_says_something(high: float, said: str) -> None:
    trial = Trial(
        launch={"pml": "ucx"}, predicted=(0.1, 0.0, 0.2), command="", verdict="no difference", gain=(1.2, 1.0, high)
    )
    round = Round(trials=[trial])
    conclude(round, SimpleNamespace(gaps=[]), [], "")  # type: ignore[arg-type]
    assert round.outcome == "undecided"
    assert said in round.ended and "38" not in round.ended


def test_too_short_a_budget(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--budget 3s is too short: .* a good budget is"):
        Fake(tmp_path).optimize(budget=3.0)


def test_a_run_that_takes_longer_than_it_may(tmp_path: Path) -> None:
    """It need not wait for the whole budget."""
    fake = Fake(tmp_path)
    journal = open_journal(fake.files, ["sleep", "60"], HERE, metric=None, pairs=3, resume=False)
    world = World(fake.record, fake.measure, fake.say)
    with pytest.raises(UserError, match="--timeout 1s: a run of the program as it is had not ended by then"):
        Optimizer(journal, HERE, fake.files, 1000.0, world, timeout=1.0).run()
    with pytest.raises(UserError, match="--budget 1s: the time passed before the first run"):
        Optimizer(journal, HERE, fake.files, 1.0, world).run()
