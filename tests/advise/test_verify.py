"""Verifying a program: verdicts, failures and refusals, on a program whose times are written down beforehand."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from unisono.advise.runs import Metric, Run, Verification
from unisono.advise.verify import compare
from unisono.cmdline.command import Command
from unisono.core.errors import UserError

METRIC = "Time in seconds = *([0-9.]+)"


def program(folder: Path, name: str, answers: Sequence[str]) -> Command:
    """A program that takes its next answer at every start: a time it prints, or a shell command."""
    path = folder / name
    path.mkdir()
    for number, answer in enumerate(answers):
        script = f"echo ' Time in seconds =      {answer}'" if answer[0].isdigit() else answer
        (path / str(number)).write_text(script + "\n")
    turn = 'n=$(cat turn 2>/dev/null || echo 0); echo $((n + 1)) > turn; . ./"$n"'
    return Command(["sh", "-c", f"cd '{path}' && {turn}"], {}, None, [])


def verified(
    folder: Path,
    as_is: Sequence[str],
    tuned: Sequence[str],
    *,
    runs: int = 5,
    metric: str | None = METRIC,
    deadline: float = 20,
) -> Verification:
    lines = program(folder, "as-is", as_is), program(folder, "tuned", tuned)
    return compare(*lines, {"UCX_TLS": "self,sm"}, metric=metric, runs=runs, deadline=deadline)


def test_the_documents_example(tmp_path: Path) -> None:
    """C8: 32.6 s against 29.1 s are 12.0 %."""
    found = verified(tmp_path, ["32.9", "32.4", "32.5", "33.1", "32.1"], ["29.4", "28.9", "29.0", "29.6", "28.6"])
    assert found.verdict == "faster"
    assert found.exit_status == 0
    assert found.improvement is not None
    assert f"{found.improvement:.1%}" == "12.0%"
    assert found.sentence().startswith("Faster: as it is / tuned is 1.120 (")
    assert "; the tuned runs save " in found.sentence()
    assert len(found.runs) == 10


def test_slower_and_no_difference(tmp_path: Path) -> None:
    same = ["10.0", "10.3", "9.8", "10.1", "9.9"]
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    slower = verified(tmp_path / "a", same, ["12.0", "12.1", "12.2", "11.9", "12.3"])
    assert (slower.verdict, slower.exit_status) == ("slower", 1)
    assert slower.improvement is not None
    assert slower.improvement < -0.15
    equal = verified(tmp_path / "b", same, ["10.1", "9.8", "10.2", "10.0", "9.9"])
    assert (equal.verdict, equal.exit_status) == ("no difference", 0)
    assert equal.sentence().startswith("No difference shown: ")


def test_runs_that_differ_too_much_show_nothing() -> None:
    """It said "No difference shown: +11.1% (-90.2% to +1162.0% ...)" of three pairs on a busy machine."""
    made = Verification("wall time", "a", "b", {}, runs([0.58, 0.17, 0.61], [0.45, 0.43, 0.22]), 0.95, ())
    assert (made.verdict, made.exit_status) == ("no difference", 3)
    assert made.sentence().startswith("No answer: ") and "%" not in made.sentence().split("with 95%")[0]


def test_one_estimate_with_its_interval() -> None:
    """Two disturbed runs move the means of both sides by a quarter; the pairs' ratio is what is said, and alone."""
    made = Verification("wall time", "a", "b", {}, runs([2, 2, 2, 5, 5], [2.1, 2.1, 2.1, 5, 5.2]), 0.95, ())
    assert made.gain is not None
    stated = [float(text) for text in re.findall(r"[0-9]+\.[0-9]+", made.sentence())]
    assert stated == pytest.approx([made.gain.mid, made.gain.low, made.gain.high], abs=6e-4)
    assert made.as_dict()["improvement"] == pytest.approx(made.gain.mid - 1)
    stream = StringIO()
    Console(file=stream, width=100).print(made.render())
    assert "mean" not in stream.getvalue() and stream.getvalue().count(f"{made.gain.mid:.3f}") == 1


def test_what_a_gain_saves_is_said_as_advise_predicts_it() -> None:
    """Twice as fast saves half of the time; and nothing is said to be saved where no gain is proven."""
    made = Verification("wall time", "a", "b", {}, runs([2, 2, 2, 2, 2], [1, 1, 1, 1, 1]), 0.95, ())
    assert made.sentence().endswith("over 5 pairs of runs; the tuned runs save 50 % of the time.")
    equal = Verification("wall time", "a", "b", {}, runs([2, 2.1, 2, 2.1, 2], [2, 2, 2.1, 2, 2.1]), 0.95, ())
    assert "save" not in equal.sentence()


def test_runs_are_taken_in_turns(tmp_path: Path) -> None:
    order: list[tuple[int, bool]] = []
    lines = program(tmp_path, "a", ["1"] * 6), program(tmp_path, "b", ["1"] * 6)
    compare(*lines, {}, metric=METRIC, runs=6, deadline=20, progress=lambda run: order.append((run.pair, run.tuned)))
    assert [pair for pair, _ in order] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    first = [order[2 * pair][1] for pair in range(6)]
    assert sorted(first) == [False, False, False, True, True, True]
    assert all(order[2 * pair][1] is not order[2 * pair + 1][1] for pair in range(6))


def test_a_failed_run_is_recorded_and_its_pair_left_out(tmp_path: Path) -> None:
    tuned = ["1.0", "echo Boom >&2; exit 3", "1.01", "echo no time", "1.02"]
    found = verified(tmp_path, ["2.0", "2.1", "2.05", "2.0", "2.02"], tuned)
    assert found.verdict == "faster"
    assert [(run.status, run.pair) for run in found.failures] == [("crashed", 1), ("no metric", 3)]
    assert "Boom" in found.failures[0].reason
    assert len(found.values(tuned=False)) == len(found.values(tuned=True)) == 3


def test_a_run_that_hangs_is_killed_and_recorded(tmp_path: Path) -> None:
    found = verified(tmp_path, ["2", "2", "2"], ["1", "sleep 60", "1"], runs=3, deadline=1)
    assert [run.status for run in found.failures] == ["hung"]
    assert found.verdict == "fails"
    assert found.exit_status == 1
    assert "only 2 pairs" in found.sentence()


def test_a_tuned_program_that_never_works_is_given_up(tmp_path: Path) -> None:
    found = verified(tmp_path, ["2"] * 9, ["exit 1"] * 9, runs=9)
    assert (found.verdict, found.exit_status) == ("fails", 1)
    assert found.sentence().startswith("The tuned program fails: only 0 pairs")
    assert len(found.runs) == 4


def test_a_program_that_fails_now_and_then_as_it_is_is_no_answer_about_the_tuning(tmp_path: Path) -> None:
    """It was called a failure, with the exit status of a tuning that makes the program slower."""
    found = verified(tmp_path, ["2", "exit 7", "2"], ["1", "1", "1"], runs=3)
    assert (found.verdict, found.exit_status) == ("fails", 2)
    assert found.sentence().startswith("The program fails as it is: only 2 pairs")


def test_a_program_that_does_not_run_as_it_is_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"fails by itself, without any setting of Unisono \(crashed\): .*exit status 7"
    ):
        verified(tmp_path, ["exit 7"] * 5, ["1"] * 5)


def test_a_metric_that_never_appears_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="matches nothing in the program's output; run the program once"):
        verified(tmp_path, ["echo done"] * 5, ["1"] * 5)


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("Time = ([0-9", "not a regular expression"),
        ("Time in seconds", "has 0 groups"),
        ("(Time) in (seconds)", "has 2 groups"),
    ],
)
def test_metrics_that_cannot_work(metric: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=words):
        verified(tmp_path, ["1"] * 5, ["1"] * 5, metric=metric)


def test_what_the_metric_finds_must_be_a_time() -> None:
    assert Metric("t=(.*)").find("t=1,234.5\nt=2e3") == 2000
    assert Metric("t=(.*)").find("x=1") is None
    with pytest.raises(UserError, match="'fast', which is not a number"):
        Metric("t=(.*)").find("t=fast")
    with pytest.raises(UserError, match="above 0"):
        Metric("t=(.*)").find("t=0.0")


def test_too_few_runs(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="use 3 or more"):
        verified(tmp_path, ["1"] * 2, ["1"] * 2, runs=2)


def test_without_a_metric_it_is_wall_time(tmp_path: Path) -> None:
    found = verified(tmp_path, ["sleep 0.2"] * 3, ["sleep 0.01"] * 3, runs=3, metric=None)
    assert found.metric == "wall time"
    assert all(value > 0.2 for value in found.values(tuned=False))


def runs(as_is: Sequence[float], tuned: Sequence[float]) -> tuple[Run, ...]:
    sides = ((False, as_is), (True, tuned))
    return tuple(Run(n, is_tuned, "done", "", v, v) for is_tuned, values in sides for n, v in enumerate(values))


def test_everything_is_in_the_json_and_the_table() -> None:
    made = Verification(
        "wall time", "mpirun a", "mpirun b", {"pml": "ucx"}, runs([2, 2.1, 2.2], [1, 1.1, 1]), 0.95, ("n",)
    )
    document = json.loads(json.dumps(made.as_dict(), allow_nan=False))
    assert document["verdict"] == "faster"
    assert document["tuned"]["values"] == [1, 1.1, 1]
    assert document["as_is"]["trimmed_mean"] == 2.1
    assert document["setting"] == {"pml": "ucx"}
    assert len(document["runs"]) == 6
    stream = StringIO()
    Console(file=stream, width=100).print(made.render())
    assert "2.1 s" in stream.getvalue()
    assert "Faster" in stream.getvalue()
