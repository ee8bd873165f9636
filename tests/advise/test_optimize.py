"""The cycle on a program whose times are written down beforehand: what is kept, what is not, and going on."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from tests.advise.made import Call
from tests.advise.made_world import HERE, METRIC, UCX, Fake, keep
from tests.study.test_store import META, RAW, STATISTICS
from unisono.advise.journal import Journal, open_journal
from unisono.advise.measuring import adjusted, matrix_for, merged, study_for
from unisono.advise.optimize import Optimizer, World
from unisono.advise.replayed import Subject
from unisono.advise.runs import Run
from unisono.advise.story import read_story
from unisono.commands.optimizing import tell
from unisono.core.errors import UserError
from unisono.core.vocabulary import CALL_SCOPE, DEFAULT, EXACT, Case
from unisono.profile.recorded import UNKNOWN
from unisono.study.begin import begin
from unisono.study.data import StudyData
from unisono.study.matrix import Matrix
from unisono.study.store import Statistics, Store
from unisono.tuning import read

NOISE = tuple(round(math.exp(random.gauss(0, 0.06)), 3) for random in [Random(2)] for _ in range(60))


def test_a_gain_is_found_proven_and_kept(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    journal = fake.optimize()
    first, second = journal.rounds
    assert (first.accepted, second.accepted, journal.finished) == (True, False, True)
    assert [(t.launch, t.verdict) for t in first.trials] == [(dict(UCX), "faster")]
    assert second.trials == []
    assert "no setting saves" in second.ended
    # the second round finds everything measured already
    assert fake.log == ["profile", "measure alltoall, 1 x 4 ranks", "profile"]
    assert [plan.launch for plan in read(fake.files.tuning).plan] == [UCX]
    story = read_story(journal, fake.files)
    assert story.headline.startswith("25 % faster with pml=ucx: 1 s before, 0.8 s after")
    text = story.markdown()
    assert "unisono run --tuning" in text
    assert f"on these ranks of this machine ({HERE.cpu_model}, Open MPI " in text
    assert "| Alltoall from transpose | 1 x 4 | 64 KiB a peer | 10 | 40 % | 5 % |" in text
    assert "Alltoall from transpose: 16 s before, 8 s after" in text


def test_nothing_to_gain_is_said_plainly(tmp_path: Path) -> None:
    fake = Fake(tmp_path, measured=1.1)
    journal = fake.optimize()
    assert [round.accepted for round in journal.rounds] == [False]
    assert fake.runs == 3
    (plan,) = read(fake.files.tuning).plan
    assert (plan.launch, plan.rules) == (DEFAULT, ())
    assert read_story(journal, fake.files).headline.startswith("Nothing is to be gained: the program stays as it is")


def test_calls_unlike_the_benchmarks_are_tried_before_a_no(tmp_path: Path) -> None:
    """The benchmark sees no difference, and its calls take a thousandth of the program's: only the program can say."""
    call = Call("MPI_Alltoall", ("main", "transpose"), size=1 << 16, calls=10, time=4.0, waiting=0.2)
    fake = Fake(tmp_path, measured=1.0, calls=(call,))
    journal = fake.optimize()
    assert journal.rounds[0].accepted and "the benchmark" in read_story(journal, fake.files).markdown()
    (tmp_path / "no").mkdir()
    fake = Fake(tmp_path / "no", measured=1.0, real=1.0, calls=(call,))
    journal = fake.optimize()
    assert [trial.verdict for trial in journal.rounds[0].trials] == ["no difference"]
    assert "Nothing is to be gained" in read_story(journal, fake.files).markdown()


def test_a_trial_in_doubt_goes_on(tmp_path: Path) -> None:
    """Three pairs of runs that differ by 6 % show nothing; twice or four times as many do."""
    fake = Fake(tmp_path, noise=NOISE)
    journal = fake.optimize()
    (trial,) = journal.rounds[0].trials
    assert trial.verdict == "faster" and len(trial.runs) in (12, 24)
    assert trial.gain is not None and trial.gain[1] < 1.25 < trial.gain[2]
    assert f"over {len(trial.runs) // 2} pairs" in read_story(journal, fake.files).markdown()


def test_a_budget_is_spent_before_an_undecided(tmp_path: Path) -> None:
    """Runs differ by 30 %, and at first the candidate seems slower: it may be faster all the same."""
    wild = tuple(round(math.exp(random.gauss(0, 0.3)), 3) for random in [Random(3)] for _ in range(60))
    fake = Fake(tmp_path, real=1.0, noise=wild)
    journal = fake.optimize(budget=1000)
    (trial,) = journal.rounds[0].trials
    assert trial.verdict == "no difference" and len(trial.runs) == 24, "as many as a trial may have"
    assert journal.rounds[0].outcome == "undecided"
    (row,) = [line for line in read_story(journal, fake.files).markdown().splitlines() if line.startswith("| 1 |")]
    assert row.endswith("| undecided |"), "that runs show no difference is not that there is none"


def test_a_trial_without_a_difference_ends(tmp_path: Path) -> None:
    fake = Fake(tmp_path, real=1.0, noise=NOISE)
    journal = fake.optimize()
    (trial,) = journal.rounds[0].trials
    assert trial.verdict == "no difference" and len(trial.runs) in (6, 12, 24)
    assert not journal.rounds[0].accepted


def test_what_is_predicted_but_not_so_is_not_kept(tmp_path: Path) -> None:
    fake = Fake(tmp_path, real=1.05)
    journal = fake.optimize()
    assert [t.verdict for t in journal.rounds[0].trials] == ["slower"]
    assert not journal.rounds[0].accepted
    assert read(fake.files.tuning).plan[0].launch == DEFAULT
    assert "slower" in read_story(journal, fake.files).markdown()


def test_a_program_that_hardly_communicates_is_not_measured(tmp_path: Path) -> None:
    fake = Fake(tmp_path, calls=(Call("MPI_Alltoall", time=0.01), Call("MPI_File_write", time=4.0, size=UNKNOWN)))
    journal = fake.optimize()
    assert fake.log == ["profile"]
    assert "Communication takes 0.1 %" in journal.rounds[0].ended
    assert not fake.files.tuning.exists()
    assert "Nothing is to be gained" in read_story(journal, fake.files).markdown()


@pytest.mark.parametrize("where", ["profile", "measure", "trial"])
def test_it_goes_on_where_it_was_interrupted(where: str, tmp_path: Path) -> None:
    fake = Fake(tmp_path, interrupt=where)
    with pytest.raises(KeyboardInterrupt):
        fake.optimize()
    stopped = Journal.load(fake.files.journal)
    assert not stopped.finished
    assert len(stopped.rounds[0].as_is) == 3
    assert "--resume" in read_story(stopped, fake.files).markdown()
    if where == "measure":
        # what it held is measured on; here the study is begun anew, since the fake does not continue one
        fake.files.study(1).unlink()
    journal = fake.optimize(resume=True)
    assert journal.finished
    assert journal.rounds[0].accepted
    assert fake.runs == 3 + 2 * 3
    assert fake.log.count("profile") == 2


def test_runs_of_an_interrupted_trial_are_not_repeated(tmp_path: Path) -> None:
    fake = Fake(tmp_path, interrupt="profile")
    with pytest.raises(KeyboardInterrupt):
        fake.optimize()
    fake.optimize(resume=True)
    # take the end away: as if the last two runs of the first trial and all behind it had not been made
    journal = Journal.load(fake.files.journal)
    trial = journal.rounds[0].trials[0]
    trial.runs, trial.verdict, trial.gain, trial.improvement = trial.runs[:4], "", None, None
    journal.rounds = journal.rounds[:1]
    journal.rounds[0].accepted, journal.rounds[0].ended, journal.finished = False, "", False
    journal.save(fake.files.journal)
    before = fake.runs
    again = fake.optimize(resume=True)
    assert fake.runs - before == 2
    assert (again.rounds[0].accepted, len(again.rounds[0].trials[0].runs)) == (True, 6)


def test_killed_between_the_last_run_of_a_trial_and_its_verdict(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.optimize()
    journal = Journal.load(fake.files.journal)
    trial = journal.rounds[0].trials[0]
    trial.verdict, trial.gain, trial.improvement = "", None, None
    journal.rounds = journal.rounds[:1]
    journal.rounds[0].accepted, journal.rounds[0].ended, journal.finished = False, "", False
    journal.save(fake.files.journal)
    fake.files.tuning.unlink()
    before = fake.runs
    again = fake.optimize(resume=True)
    assert (fake.runs, again.rounds[0].accepted) == (before, True)
    assert [plan.launch for plan in read(fake.files.tuning).plan] == [UCX]


def test_a_finished_one_is_only_told_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fake = Fake(tmp_path)
    fake.optimize()
    runs = fake.runs
    tell(fake.optimize(resume=True), fake.files, json=True)
    assert fake.runs == runs
    document = json.loads(capsys.readouterr().out)
    assert document["finished"]
    assert document["changes"]["calls"][0]["function"] == "MPI_Alltoall"
    assert fake.files.story.read_text().startswith("# ")
    page = fake.files.story.with_suffix(".html").read_text("utf-8")
    assert "What was tried" in page and "<table>" in page
    assert page.count('<svg class="chart wide"') >= 1, "every run of every trial"
    assert 'id="library"' not in page and len(page.encode()) < 500_000


def keep_replay(path: Path, subjects: Sequence[Subject], cold: float) -> None:
    """Warm calls take 1 ms, those with cold buffers `cold` seconds, in empty caches a second."""
    study = study_for({subject.case: subject.sizes for subject in subjects}, HERE)
    with begin(path, study, HERE, Matrix((), (), CALL_SCOPE)) as store:
        launch = store.begin_launch(DEFAULT, 1, 4, 1, "", False)
        for subject in subjects:
            for condition in subject.conditions:
                took = {"": 1e-3, "buffers": cold, "caches": 1.0}[condition.cold]
                numbers = (5, 0, "clock", took, took, took, took, took, took, took, True)
                kept = Statistics(*numbers, None, condition.key, took)
                store.add_sample(launch, subject.case.collective, subject.sizes[0], DEFAULT, kept, b"")


def test_what_it_uses_is_measured_under_the_conditions_of_the_program(tmp_path: Path) -> None:
    """Its calls take 380 ms without waiting, and so do cold ones."""
    fake = Fake(tmp_path)
    asked: list[float] = []

    def replayed(path: Path, subjects: Sequence[Subject], seconds: float) -> None:
        asked.append(seconds)
        keep_replay(path, subjects, 0.4)

    journal = open_journal(fake.files, fake.argv, HERE, metric=METRIC, pairs=3, resume=False)
    world = World(fake.record, fake.measure, fake.say, replay=replayed)
    Optimizer(journal, HERE, fake.files, 600.0, world).run()
    assert len(asked) == 1 and 0 < asked[0] <= 30
    assert fake.conditions[0][Case("alltoall", 1, 4)].cold == "buffers"
    story = read_story(journal, fake.files)
    assert story.against[0].endswith("0.4 s with cold ones: the program's 0.38 s may be memory bandwidth.")
    assert story.against[-1] in story.markdown() and story.as_dict()["against_benchmark"] == story.against
    assert Journal.load(fake.files.journal).rounds[0].replayed == fake.files.replayed.name


def test_what_was_not_measured_is_no_answer_and_goes_on_with_a_larger_budget(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    measure = fake.measure
    fake.measure = lambda path, wanted, weights, seconds, conditions: False  # type: ignore[method-assign]
    journal = fake.optimize()
    story = read_story(journal, fake.files)
    assert story.outcome == story.as_dict()["outcome"] == "not measured"
    assert story.headline.startswith("Not measured, so nothing is known")
    assert "pairs of runs" not in story.markdown()
    assert tell(journal, fake.files, json=False) == 3
    fake.measure = measure  # type: ignore[method-assign]
    assert fake.optimize(budget=3600.0, resume=True).rounds[0].accepted
    assert fake.optimize(budget=7200.0, resume=True).rounds[0].accepted, "an answer is not asked for again"


def test_each_answer_has_its_exit_status(tmp_path: Path) -> None:
    for name, changed, outcome, status in (
        ("gain", {}, "faster", 0),
        ("none", {"measured": 1.1}, "nothing", 1),
        ("same", {"real": 1.0}, "nothing", 1),
        ("doubt", {"real": 0.97, "noise": (1.0, 1.3, 0.8, 1.1, 0.9)}, "undecided", 3),
    ):
        (tmp_path / name).mkdir()
        fake = Fake(tmp_path / name, **changed)
        journal = fake.optimize()
        assert read_story(journal, fake.files).outcome == outcome, name
        assert tell(journal, fake.files, json=False) == status


def test_runs_of_a_trial_in_doubt_stay_when_another_candidate_comes_first(tmp_path: Path) -> None:
    fake = Fake(tmp_path, real=0.97, noise=(1.0, 1.3, 0.8, 1.1, 0.9))
    before = fake.optimize().rounds[0].trials[0]
    journal = Journal.load(fake.files.journal)
    journal.rounds[0].trials[0].launch = {"pml": "another"}
    journal.save(fake.files.journal)
    fake.measure = lambda path, wanted, weights, seconds, conditions: False  # type: ignore[method-assign]  # the study is there
    trials = fake.optimize(budget=3600.0, resume=True).rounds[0].trials
    assert [trial.launch for trial in trials] == [{"pml": "another"}, dict(UCX)]
    assert trials[0].runs == before.runs


def test_a_long_program_is_measured_and_one_candidate_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 16 s a run, in three minutes; 100 s do not suffice, and what would is said at the start."""
    once = Run(0, False, "done", "", value=1.0, seconds=16.0)
    monkeypatch.setattr("unisono.advise.optimize.timed_run", lambda *_: once)
    fake = Fake(tmp_path)
    for budget in (100.0, 180.0):
        journal = open_journal(fake.files, fake.argv, HERE, metric=METRIC, pairs=7, resume=False)
        optimizer = Optimizer(
            journal, HERE, fake.files, budget, World(fake.record, fake.measure, fake.say, lambda: 0.0)
        )
        if budget == 100.0:
            with pytest.raises(
                UserError, match=r"--budget 100s is too short: .* at least 127 s more; a good budget is 9m"
            ):
                optimizer.run()
            fake.files.journal.unlink(missing_ok=True)
        else:
            optimizer.run()
    first = journal.rounds[0]
    assert fake.log[:2] == ["profile", "measure alltoall, 1 x 4 ranks"]
    assert [(t.launch, t.verdict, sum(r.tuned for r in t.runs)) for t in first.trials] == [(dict(UCX), "faster", 3)]


def test_a_program_that_does_not_run(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    (tmp_path / "mpirun").write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(UserError, match="fails by itself"):
        fake.optimize()
    assert not fake.files.journal.exists()


def test_what_cannot_be_continued(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    fake.optimize()
    with pytest.raises(UserError, match="--resume"):
        fake.optimize()
    with pytest.raises(UserError, match="another command line"):
        open_journal(fake.files, ["mpirun", "./other"], HERE, metric=METRIC, pairs=3, resume=True)
    with pytest.raises(UserError, match="3 or more"):
        fake.optimize(pairs=2, resume=True)
    text = fake.files.journal.read_text()
    for damaged in (text[: len(text) // 2], '{"format": "other"}', "\x00"):
        fake.files.journal.write_text(damaged)
        with pytest.raises(UserError, match="another -o DIR"):
            fake.optimize(resume=True)
    fake.files.journal.unlink()
    with pytest.raises(UserError, match="was not written by unisono optimize"):
        fake.optimize()


WANTED = {Case("alltoall", 1, 4): (1 << 16, 3000), Case("allreduce", 1, 4): (1,), Case("bcast", 1, 2): (64,)}


def test_the_study_measures_what_the_program_uses_and_no_more() -> None:
    found = study_for(WANTED, HERE, {"alltoall": 0.4, "reduce": 0.1})
    matrix = matrix_for(found, HERE, WANTED)
    assert (
        {c.case: c.sizes for c in matrix.cases}
        == adjusted(WANTED)
        == {
            Case("alltoall", 1, 4): (3000, 1 << 16),
            Case("allreduce", 1, 4): (4,),
            Case("bcast", 1, 2): (64,),
        }
    )
    assert found.weights == {"alltoall": 0.4}
    assert not found.cases.oversubscribe
    assert study_for({Case("bcast", 1, 8): (8,)}, HERE).cases.oversubscribe
    with pytest.raises(UserError, match="nothing to measure"):
        study_for({}, HERE)


def test_studies_are_merged_with_launches_of_their_own(tmp_path: Path) -> None:
    keep(tmp_path / "a.db", {Case("alltoall", 1, 4): (1024,)}, {UCX: 0.5})
    keep(tmp_path / "b.db", {Case("bcast", 1, 4): (64,)}, {UCX: 0.5})
    whole: StudyData = merged([tmp_path / "a.db", tmp_path / "b.db"])
    assert {s.case.collective for s in whole.samples} == {"alltoall", "bcast"}
    launches = {s.case.collective: {t.launch for t in whole.samples if t.case == s.case} for s in whole.samples}
    assert launches["alltoall"].isdisjoint(launches["bcast"])
    assert len(whole.launches) == len({row.id for row in whole.launches}) == 24
    with pytest.raises(UserError, match="no study"):
        merged([])


def test_what_is_exact_stays_so_when_studies_are_merged(tmp_path: Path) -> None:
    """A simulation's times have no noise, whatever else is read with them."""
    paths = [tmp_path / "measured.db", tmp_path / "a.db", tmp_path / "b.db"]
    for path, collective, round in zip(paths, ("gather", "alltoall", "bcast"), (3, EXACT, EXACT), strict=True):
        with Store.create(path, name="t", config="{}", method="race", machine=HERE, meta=META) as store:
            launch = store.begin_launch(DEFAULT, 2, 1, round, "line", False)
            store.add_sample(launch, collective, 64, DEFAULT, STATISTICS, RAW)
            store.end_launch(launch, "done", "", 1.0)
    whole = merged(paths)
    assert [sample.round for sample in whole.samples] == [3, EXACT, EXACT]
    assert [row.round for row in whole.launches] == [3, EXACT, EXACT]
    assert [sample.round for sample in merged([paths[0], paths[1], paths[0]]).samples] == [3, EXACT, 6]


def test_that_others_used_the_machine_is_told(tmp_path: Path) -> None:
    fake = Fake(tmp_path)
    journal = fake.optimize()
    assert "Other programs used the machine" not in read_story(journal, fake.files).markdown()
    journal.busy = 8.45
    told = "Other programs used the machine at the start (load average 8.4), which affects the times."
    assert told in read_story(journal, fake.files).markdown()


def test_what_could_not_be_predicted_is_not_shown_as_if_it_had_been(tmp_path: Path) -> None:
    fake = Fake(tmp_path, real=0.8)
    journal = fake.optimize()
    (trial, *_) = journal.rounds[0].trials
    assert "too uncertain" not in read_story(journal, fake.files).markdown()
    trial.predictable = False
    assert "| too uncertain | " in read_story(journal, fake.files).markdown()
