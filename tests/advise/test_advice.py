"""The advice: which plan, in which words, with which commands."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from tests.advise.made import Call, profile
from tests.advise.made_world import UCX, keep
from tests.decide.synthetic import Noise, scaled, study, study_data
from tests.tuning.samples import plan, rule, tuning
from unisono.advise.advice import Advice, advise, cut_to
from unisono.advise.differing import differences, made_under, own_settings
from unisono.advise.evidence import StudyEvidence
from unisono.advise.mix import mix_of
from unisono.advise.shown import rendered
from unisono.commands.advising import advise_command
from unisono.core.errors import UserError
from unisono.core.vocabulary import Case, Setting
from unisono.profile.file import save
from unisono.profile.recorded import LATE, UNKNOWN, Comm, Profile
from unisono.study.store import Store
from unisono.tuning import choose, read, write
from unisono.tuning.contents import Tuning

SIZES = (1 << 12, 1 << 16, 1 << 20)
CASES = (Case("alltoall", 1, 4), Case("bcast", 1, 4))
GOOD, BAD = Setting({"pml": "ucx"}), Setting({"pml": "ob1", "UCX_RNDV_THRESH": "4kb"})


def rules(*names: str, gain: float = 1.0) -> tuple:  # type: ignore[type-arg]
    return tuple(rule(name, 0, None, {}, gain=gain, sizes=SIZES) for name in names)


TUNING: Tuning = tuning(
    plan(1, 4, dict(BAD), {"alltoall": 1.1, "bcast": 3.0}, rules("alltoall", "bcast")),
    plan(1, 4, dict(GOOD), {"alltoall": 1.5, "bcast": 1.5}, rules("alltoall", "bcast")),
    plan(1, 4, gain={"alltoall": 1.0, "bcast": 1.0}),
)


def advised(calls: list[Call], good: float = 0.6, bad: float = 1.2, launches: int = 6, **origin: Any) -> Advice:
    """GOOD takes `good` times as long as the default, BAD `bad` times for alltoall and a third for bcast."""

    def seconds(case: Case, size: int, setting: Setting) -> float:
        factor = {GOOD: good, BAD: bad if case.collective == "alltoall" else 0.33}.get(setting, 1.0)
        return scaled({})(case, size, setting) * factor

    samples = study(seconds, [GOOD, BAD], cases=CASES, sizes=SIZES, launches=launches, noise=Noise(0.01, 0, 0.003))
    evidence = StudyEvidence(study_data(samples), TUNING)
    made = profile(calls)
    made = replace(made, origin=replace(made.origin, **origin))
    return advise(mix_of(made), TUNING, [evidence], program="mpirun -n 4 ./app", cpus=4)


FFT = Call("MPI_Alltoall", ("main", "transpose_x_yz"), size=1 << 16, time=4.0, waiting=0.28)
SMALL = Call("MPI_Bcast", ("main", "setup"), size=1 << 12, time=0.2, waiting=0.0)


def test_late_senders_are_named_and_what_was_not_paired_is_not_zero() -> None:
    calls = [FFT, Call("MPI_Recv", ("main", "halo"), time=4.5, waiting=3.6), Call("MPI_Waitall", size=UNKNOWN)]
    made = profile(calls)
    late = np.zeros(1, LATE)
    late["path"], late["function"] = made.cells["path"][4], made.functions.index("MPI_Recv")
    late["rank"], late["peer"], late["time"] = 2, 3, 14.4
    mix = mix_of(replace(made, late=late))
    said = "\n".join(advise(mix, TUNING, [], cpus=4).sentences())
    assert "Recv from halo: 80 % of its time is waiting for senders that came late (rank 2 waits longest, for" in said
    assert "Waitall from main: whether it waits for late senders or late receivers was not measured" in said
    assert "of the time is waiting in collectives" not in said


def test_what_lies_outside_of_the_program_is_said() -> None:
    """Runs of 20 s of which MPI_Init and MPI_Finalize enclose 10 show half of what is saved in between."""
    runs = (20.0, 20.02, 19.98)
    long, by_metric = advised([FFT], as_is=runs), advised([FFT], as_is=runs, metric="Time = (.*)")
    said = [next((s for s in found.sentences() if "lies before MPI_Init" in s), "") for found in (long, by_metric)]
    assert said[0].startswith("50 % of a run's time") and not said[1]
    shown = [
        next(s for s in found.sentences() if "pairs of runs will probably show" in s) for found in (long, by_metric)
    ]
    assert shown[0] != shown[1]


def text(advice: Advice) -> str:
    stream = StringIO()
    Console(file=stream, width=200).print(rendered(advice))
    return "\n".join([stream.getvalue(), *advice.follow_up()])


def test_the_sentence_they_came_for() -> None:
    advice = advised([FFT, SMALL])
    assert advice.headline.startswith(
        "Alltoall from transpose_x_yz, 64 KiB a peer, is 40 % of your time; 7 % of that is waiting;"
        " this tuning should save "
    )
    assert advice.headline in text(advice)
    assert json.loads(json.dumps(advice.as_dict(), allow_nan=False))["sentences"][0] == advice.headline


def test_many_calls_are_counted_in_thousands() -> None:
    many = Call("MPI_Alltoall", ("main", "transpose_x_yz"), size=1 << 16, calls=20000, time=4.0, waiting=0.28)
    assert "20,000" in text(advised([many, SMALL]))


def test_the_whole_mix_decides_not_one_call() -> None:
    """BAD is three times as fast for the broadcast, but costs the alltoall more."""
    advice = advised([FFT, SMALL])
    assert advice.chosen is not None
    assert advice.chosen.launch == GOOD
    assert advised([Call("MPI_Bcast", size=1 << 12, time=4.0, waiting=0.0)]).chosen.launch == BAD  # type: ignore[union-attr]


def test_nothing_is_sure_so_nothing_is_changed() -> None:
    advice = advised([FFT], good=0.995)
    assert advice.chosen is None
    assert advice.plan is None
    assert advice.apply_command == ""
    assert "keep the program as it is" in advice.headline.lower()
    assert advised([FFT], good=1.3).candidates == []


def test_a_likely_gain_is_worth_a_trial() -> None:
    advice = advised([FFT, Call("MPI_Waitall", time=5.0, size=UNKNOWN)], good=0.97)
    assert advice.chosen is None
    assert [p.launch for p in advice.candidates] == [GOOD]
    assert advice.headline.endswith("Keep the program as it is, or try this setting.")
    assert "unisono verify --tuning program.toml -- mpirun -n 4 ./app" in text(advice)


def test_the_command_makes_run_take_the_same_plan() -> None:
    """By its own weights the tuning would take BAD; by this program's it takes GOOD."""
    advice = advised([FFT, SMALL])
    assert choose(TUNING, 1, 4).launch == BAD
    assert "--weights alltoall=0.4,bcast=0.02" in advice.apply_command
    assert advice.apply_command.endswith("-- mpirun -n 4 ./app")
    assert choose(TUNING, 1, 4, advice.weights).launch == GOOD


def test_a_tuning_cut_to_the_chosen_plan_has_no_other_choice() -> None:
    advice = advised([FFT, SMALL])
    assert advice.chosen is not None
    cut = cut_to(TUNING, advice.case, advice.chosen)
    assert [p.launch for p in cut.plan] == [GOOD]
    assert choose(cut, 1, 4, {"bcast": 1.0}).launch == GOOD
    assert advice.plan in cut.plan


def test_what_is_not_known_is_said() -> None:
    waits = Call("MPI_Waitall", time=1.0, size=UNKNOWN)
    gather = Call("MPI_Allgather", size=64, time=0.5)
    said = text(advised([FFT, waits, gather]))
    assert "10 % of the time is in point-to-point calls" in said
    assert "5 % of the time is in calls that this tuning has no measurements for" in said
    assert "unisono tune -o unisono-out/gaps --collective allgather --nodes 1 --ppn 4 --size 64" in said
    assert "unisono advise ... --measure" in said
    assert "Waiting was not measured" not in said
    assert "Waiting was not measured" in text(advised([Call("MPI_Alltoall", size=1 << 16)]))


def test_what_nobody_measured_is_not_predicted() -> None:
    """No figure from an assumption; the commands that find out instead."""
    messages = Call("MPI_Recv", time=7.8, size=1 << 14)
    advice = advised([messages, SMALL], good=0.99, bad=1.01)
    said = text(advice)
    assert "cannot predict" in advice.headline
    assert "7.8 %" not in said and "of the program's time" not in said and "should save" not in said
    assert "unisono tune -o unisono-out/gaps --collective pingpong --nodes 1 --ppn 4 --size 16K" in said
    assert f"unisono verify --tuning {'program' if advice.candidates else 'tuning'}.toml -- mpirun -n 4 ./app" in said
    document = json.loads(json.dumps(advice.as_dict(), allow_nan=False))
    told = {str(Setting(p["launch"])): (p["predictable"], p["saving"] is not None) for p in document["predictions"]}
    assert told == {str(GOOD): (False, False), str(BAD): (False, False), str(Setting()): (True, True)}


def test_what_is_not_predictable_can_be_found_out_though_the_tuning_would_not_choose_it() -> None:
    """The program ran with what the tuning itself chooses; of the others nothing can be said."""
    made = profile([Call("MPI_Recv", time=7.8, size=1 << 14)])
    assert choose(TUNING, 1, 4).launch == BAD
    advice = advise(mix_of(made), TUNING, [], now=BAD, program="mpirun -n 4 ./app", again="unisono advise A", cpus=4)
    assert advice.candidates == [] and advice.worth_writing is not None and advice.worth_writing.launch != BAD
    assert advice.try_command == (
        "unisono advise A -o program.toml && unisono verify --tuning program.toml -- mpirun -n 4 ./app"
    )


def test_an_assumption_in_a_saving_is_stated() -> None:
    said = text(advised([FFT, Call("MPI_Recv", time=2.0, size=1 << 14)], good=0.4))
    assert "should save" in said
    assert "may take 10 % more or less time. That is an assumption" in said
    assert "it widens the interval by 2 % of the program's time at either end" in said
    assert "assumption" not in text(advised([FFT, SMALL]))


def test_too_few_launches_are_no_measurement() -> None:
    advice = advised([FFT], launches=1)
    assert advice.candidates == []
    assert "no measurement of the calls that this program makes" in advice.headline
    assert "were measured in too few launches" in text(advice)
    assert "too few launches" not in text(advised([FFT]))


def test_much_waiting_is_a_warning() -> None:
    reduce = Call("MPI_Reduce", size=16, time=0.8, waiting=0.7)
    assert "9.8 % of the time is waiting in collectives" in text(advised([FFT, reduce]))
    assert "is waiting in collectives" not in text(advised([FFT]))


def test_other_ranks_than_measured() -> None:
    made = profile([FFT], comms=(Comm(4, 2),), hosts=("a", "a", "b", "b"))
    advice = advise(mix_of(made), TUNING, [])
    assert advice.case == (1, 4)
    assert any("2 x 2 ranks were not measured" in note for note in advice.notes)
    assert advice.chosen is None
    assert "no measurement of the calls that this program makes" in advice.headline


def test_unknown_ranks_need_an_answer_only_when_there_is_a_choice() -> None:
    made = profile([FFT], comms=(Comm(4, UNKNOWN),), hosts=())
    assert advise(mix_of(made), TUNING, []).case == (1, 4)
    with pytest.raises(UserError, match="--nodes"):
        advise(mix_of(made), tuning(*TUNING.plan, plan(2, 2)), [])


def test_the_profile_was_made_under_a_setting() -> None:
    launches = [GOOD, GOOD | {"UCX_RNDV_THRESH": "4kb"}, Setting()]
    assert made_under("mpirun --mca pml ucx -n 4 ./app", launches) == GOOD
    assert made_under("mpirun --mca pml ucx -x UCX_RNDV_THRESH=4kb -n 4 ./app", launches) == launches[1]
    assert made_under("mpirun --mca pml ob1 -n 4 ./app", launches) is None
    assert made_under("mpirun 'unbalanced", launches) is None


def test_settings_of_the_programs_own() -> None:
    line = "mpirun --mca pml ob1 -x UCX_TLS=sm -x PATH -n 4 ./app --mca x"
    assert own_settings(line) == ["--mca pml ob1", "-x UCX_TLS=sm"]
    assert own_settings("") == own_settings("./app") == own_settings("mpirun '") == []


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    made: Profile = profile([FFT, SMALL])
    save(made, tmp_path / "app.profile")
    write(TUNING, tmp_path / "tuning.toml")
    return tmp_path / "app.profile", tmp_path / "tuning.toml"


def run(files: tuple[Path, Path], output: Path | None = None, studies: tuple[Path, ...] = ()) -> int:
    return advise_command(*files, studies=studies, output=output, nodes=None, budget=None, json=True)


def test_the_command(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["hot_spots"][0]["call"] == "Alltoall from transpose_x_yz"
    assert document["evidence"] == ["tuning example"]


def test_a_tuning_is_only_written_when_one_is_advised(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(files, tmp_path / "program.toml") == 1
    assert "promises to make this program faster" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "program.toml").exists()
    one = plan(1, 4, dict(GOOD), {"alltoall": 9.0}, rules("alltoall", gain=9.0))
    write(tuning(one, plan(1, 4)), files[1])
    assert run(files, tmp_path / "program.toml") == 0
    assert [p.launch for p in read(tmp_path / "program.toml").plan] == [GOOD]


def test_studies_beside_the_tuning_are_used(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one it was made from, and what was measured for a program; not one of something else."""
    keep(tmp_path / "study.db", {CASES[0]: SIZES}, {UCX: 0.6})
    keep(tmp_path / "gaps.db", {CASES[1]: SIZES}, {UCX: 0.6})
    run(files)
    assert json.loads(capsys.readouterr().out)["evidence"] == ["study program", "tuning example"]
    with Store.open(tmp_path / "study.db") as store:
        document = TUNING.model_copy(update={"study": TUNING.study.model_copy(update={"id": store.meta("id")})})
    write(document, files[1])
    run(files)
    assert json.loads(capsys.readouterr().out)["evidence"] == ["study program", "study program", "tuning example"]
    run(files, studies=(tmp_path / "study.db",))
    document_said = json.loads(capsys.readouterr().out)
    assert document_said["evidence"] == ["study program", "tuning example"]


def test_a_study_that_is_none(files: tuple[Path, Path]) -> None:
    with pytest.raises(UserError, match="is a tuning, not a study"):
        run(files, studies=(files[1],))


def test_the_level_of_reproducible_sums_is_said() -> None:
    made = advised([FFT, Call("MPI_Allreduce", time=3.0), Call("MPI_Scan")])
    assert not any("eproducible sums" in sentence for sentence in made.sentences())
    study = TUNING.study.model_copy(update={"reproducible": "placement"})
    said = replace(made, tuning=TUNING.model_copy(update={"study": study})).sentences()
    assert any(sentence.startswith("Reproducible sums (placement): ") for sentence in said)
    assert any("in the order of the ranks: allreduce. Their savings" in sentence for sentence in said)
    (left,) = [sentence for sentence in said if "do not cover these reductions" in sentence]
    assert left.endswith(": scan.")


def test_another_machine_is_noticed() -> None:
    made = profile([FFT])
    made.origin.machine.update({"CPU": "Another CPU", "kernel": "6.1"})
    assert differences(TUNING, made) == [
        "CPU: Example CPU when the tuning was measured, Another CPU when the profile was made"
    ]
