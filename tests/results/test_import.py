"""Imported results decide, report and export as measured ones do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.results.test_readers import SAMPLES, TEXTS, pico_job
from unisono.cli import app
from unisono.commands.importing import import_results
from unisono.core.errors import UserError
from unisono.core.vocabulary import DEFAULT, Case, Setting
from unisono.study.begin import resume
from unisono.study.store import Store
from unisono.tuning import read

RING = Setting({"coll": "tuned", "algorithm": "ring"})


def files(folder: Path, launches: int = 6) -> list[str]:
    """Launches of the default and of an algorithm that is twice as fast in allreduce, from the recorded output."""
    words = []
    for number in range(launches):
        for name, setting, factor in (("default", "", 1.0), ("ring", "coll=tuned,algorithm=ring@", 0.5)):
            path = folder / f"{name}-{number}.txt"
            change = factor * (1 + 0.01 * number)
            path.write_text(_scaled(TEXTS["imb"], change))
            words.append(f"{setting}{path}")
    return words


def _scaled(text: str, factor: float) -> str:
    """The output of a machine that is slower by a factor."""

    def line(row: re.Match[str]) -> str:
        size, repetitions, *times = row[1].split()
        return "   ".join([size, repetitions, *(f"{float(time) * factor:.4f}" for time in times)])

    return re.sub(r"(?m)^( +\d+ +100 .*)$", line, text)


def test_files_of_two_settings_become_a_decided_study(tmp_path: Path) -> None:
    out = tmp_path / "out"
    import_results(files(tmp_path), out, machine=None, nodes=1, ppn=None, name="theirs")
    with Store.open(out / "study.db") as store:
        data = store.data()
    assert {sample.setting for sample in data.samples} == {DEFAULT, RING}
    assert {s.case for s in data.samples} >= {Case("allreduce", 1, 2), Case("barrier", 1, 2)}
    assert not data.machine.is_described
    assert {sample.sync for sample in data.samples} == {"imported"}
    assert {sample.correct for sample in data.samples} == {None}
    tuning = read(out / "tuning.toml")
    rules = [rule for rule in tuning.plan[0].rules if rule.collective == "allreduce"]
    assert [dict(rule.call) for rule in rules] == [dict(RING)]
    assert rules[0].gain.mid == pytest.approx(2.0, rel=0.02)
    assert tuning.machine == {}
    assert any("machine is unknown" in note for note in tuning.conditions.notes)
    page = (out / "report.html").read_text()
    assert "Imported from other benchmarks" in page
    with pytest.raises(UserError, match="imported from other benchmarks and cannot be continued"):
        resume(out / "study.db", data.machine, asked=None, force=True)


def test_a_run_of_imb_is_one_launch_with_all_its_tables(tmp_path: Path) -> None:
    """Its five tables were five launches; and what shows it sent to tune --resume, which refuses it."""
    twice = tmp_path / "twice.txt"
    twice.write_text(TEXTS["imb"] * 2)
    import_results([str(SAMPLES / "imb.txt"), str(twice)], tmp_path, machine=None, nodes=1, ppn=None, name="theirs")
    with Store.open(tmp_path / "study.db") as store:
        data = store.data()
    assert (len(data.launches), data.method) == (3, "imported")
    assert len({sample.case.collective for sample in data.samples if sample.launch == data.launches[0].id}) > 1
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "tuning.toml")]).stdout
    assert "run unisono verify on the machine" in shown and "tune --resume" not in shown


def test_a_job_of_pico_becomes_a_study(tmp_path: Path) -> None:
    import_results([str(pico_job(tmp_path))], tmp_path / "o", machine=None, nodes=None, ppn=None, name="p")
    with Store.open(tmp_path / "o" / "study.db") as store:
        data = store.data()
        assert len(store.raw(data.samples[0].launch, "allgather", 64, DEFAULT)) == 8 * 8
    assert data.machine.mpi is not None
    assert (data.machine.mpi.family, data.machine.mpi.version) == ("openmpi", "4.1.5")
    assert len(data.launches) == 1
    assert data.samples[0].repetitions == 8


def test_a_pattern_behind_a_setting_names_several_files(tmp_path: Path) -> None:
    """No shell expands it there: coll=basic@basic-*.txt could not be read."""
    for number in range(3):
        (tmp_path / f"osu-{number}.txt").write_text((SAMPLES / "osu-5.txt").read_text())
    words = [str(SAMPLES / "osu-5.txt"), f"coll=basic@{tmp_path}/osu-*.txt"]
    import_results(words, tmp_path / "o", machine=None, nodes=1, ppn=2, name="p")
    with Store.open(tmp_path / "o" / "study.db") as store:
        samples = store.data().samples
    basic = Setting({"coll": "basic"})
    assert {(s.setting, s.launch) for s in samples} >= {(DEFAULT, 1), (basic, 4), (basic, 12)}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        # Without -f a broadcast looks twice as fast: its root leaves early.
        ((r"(?m)^(\d+ +\S+|# Size +Avg Latency\(us\)).*", r"\1"), "Avg Latency(us)"),
        ((r"\n# Size", r"\n# Datatype: MPI_SIGNED_CHAR.\n# Size"), "MPI_SIGNED_CHAR"),
        (("OSU MPI", "OSU MPI-CUDA"), "CUDA"),
    ],
)
def test_times_of_different_things_are_not_compared(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    other = tmp_path / "other.txt"
    other.write_text(re.sub(*change, (SAMPLES / "osu-5.txt").read_text()))
    words = [str(SAMPLES / "osu-5.txt"), f"coll=basic@{other}"]
    with pytest.raises(
        UserError, match=r"allreduce.*osu-5.txt has Max Latency.us., MPI_FLOAT, but .*other.txt has"
    ) as no:
        import_results(words, tmp_path / "o", machine=None, nodes=1, ppn=2, name="p")
    assert said in str(no.value) and not (tmp_path / "o" / "study.db").exists()


def test_without_a_file_of_the_default_it_says_what_is_missing(tmp_path: Path) -> None:
    words = [f"coll=basic@{SAMPLES / 'osu-5.txt'}"]
    with pytest.raises(
        UserError,
        match=r"cannot be decided: no file was measured with the default .* such a file, written without SETTING@",
    ):
        import_results(words, tmp_path / "o", machine=None, nodes=1, ppn=2, name="p")


def test_a_file_without_any_collective_says_what_it_holds(tmp_path: Path) -> None:
    """It was asked whether the run was cut off."""
    path = tmp_path / "latency.txt"
    path.write_text("# OSU MPI Latency Test v5.3.2\n# Size          Latency (us)\n0                       0.25\n")
    says = r"no measurement that can be used\. Left out, .*: OSU MPI Latency Test v5"
    with pytest.raises(UserError, match=says):
        import_results([str(path)], tmp_path / "o", machine=None, nodes=1, ppn=2, name="p")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([str(SAMPLES / "imb.txt")], "2 ranks, but does not say on how many nodes"),
        ([str(SAMPLES / "imb.txt"), "--nodes", "3"], "2 ranks, but --nodes and --ppn give another number"),
        ([str(SAMPLES / "osu.txt"), "--nodes", "2"], "does not say how many ranks"),
        ([f"coll=@{SAMPLES / 'osu.txt'}"], "is no setting"),
        (["/nowhere"], "/nowhere"),
    ],
)
def test_what_cannot_be_told_is_asked_for(tmp_path: Path, words: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["import-results", *words, "-o", str(tmp_path / "o")])
    assert isinstance(result.exception, UserError)
    assert said in str(result.exception)
    assert not (tmp_path / "o").exists()
