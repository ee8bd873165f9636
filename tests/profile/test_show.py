"""What people read: the sentence, the tables at several widths, and the document for --json."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from tests.profile.ft import ft
from tests.profile.synthetic import synthetic
from tests.profile.test_hot import posted, profile, row, sized
from unisono.commands import profile_reading
from unisono.core.errors import UserError
from unisono.profile.document import as_dict
from unisono.profile.file import load, save
from unisono.profile.hot import hot_spots
from unisono.profile.importers import import_profile
from unisono.profile.recorded import Frame, Origin, Profile
from unisono.profile.recorded import Path as CallPath
from unisono.profile.show import overhead, show
from unisono.profile.words import answer, caller, posted_sentences, short

SAMPLES = Path(__file__).parent / "samples"


def said(whole: Profile) -> str:
    return answer(whole, hot_spots(whole))


def shown(whole: Profile, width: int = 100, hot: int = 10) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False, highlight=False)
    console.print(show(whole, width=width, hot=hot))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_sentence_scientists_come_for() -> None:
    assert said(ft()) == (
        "Alltoall called from transpose_x_yz, 512 KiB a peer, is 37 % of your time; 6.8 % of that is waiting."
    )


def test_the_sentence_says_what_was_not_measured_or_is_assumed() -> None:
    not_split = profile(sized(8, 1, 1.0, path=2), row(time=1.0))
    assert said(not_split).endswith("; how much of that is waiting was not measured (--split-waiting does).")
    assert said(import_profile(SAMPLES / "ft_as_is.score")) == (
        "Alltoall is 40 % of your time; how much of that is waiting is not in this profile."
    )
    assert "512 KiB" not in said(import_profile(SAMPLES / "ft_as_is.score"))
    assert ", on average 512 KiB a peer (sizes assumed uniform), is 37 %" in said(
        import_profile(SAMPLES / "ft_p4.cubex")
    )
    split = dataclasses.replace(not_split, origin=Origin("unisono", split_waiting=True))
    assert "cannot be measured for this call" in said(split)


def test_the_sentence_about_several_sizes_calls_without_one_and_no_calls() -> None:
    several = profile(sized(1024, 5, 1.0, path=2), sized(4096, 5, 1.0, path=2), row(time=2.0))
    assert "Alltoall called from transpose, 1 KiB to 4 KiB a peer, is 50 %" in said(several)
    ranged = profile(row(size=1500, size_min=1024, size_max=2000, calls=3, time=1.0, function=2, path=3))
    assert "Reduce called from norm, 1 KiB to 1.95 KiB, is 100 %" in said(ranged)
    nearly_one = profile(sized(64, 100, 9.7, path=2), sized(8, 1, 0.3, path=2))
    assert ", 64 B a peer, is" in said(nearly_one)
    assert said(profile(row(calls=3, time=1.0, function=2, path=3))).startswith("Reduce called from norm is 100 %")
    assert said(profile(row(time=1.0))) == "There are no MPI calls in this profile."


def test_a_function_without_a_name_is_shown() -> None:
    whole = profile(row(calls=3, time=1.0, function=2, path=3))
    nameless = dataclasses.replace(whole, functions=("",) * len(whole.functions))
    assert " is 100 % of your time" in said(nameless)
    assert shown(nameless)


def wrapped() -> Profile:
    """main -> transpose_a and transpose_b -> exchange -> MPI_Alltoall."""
    base = profile(sized(8, 1, 3.0, path=4), sized(8, 1, 1.0, path=5))
    names = ("main", "transpose_a", "transpose_b", "exchange")
    paths = (CallPath(-1, -1), CallPath(0, 0), CallPath(1, 1), CallPath(1, 2), CallPath(2, 3), CallPath(3, 3))
    return dataclasses.replace(base, frames=tuple(Frame(name) for name in names), paths=paths)


def test_a_wrapper_is_not_the_answer_but_its_caller_is() -> None:
    assert "called from transpose_a (through exchange), 8 B a peer, is 75 %" in said(wrapped())
    spots = hot_spots(wrapped())
    assert [caller(wrapped(), spot, spots) for spot in spots] == [
        ("transpose_a", "exchange"),
        ("transpose_b", "exchange"),
    ]
    alone = hot_spots(dataclasses.replace(wrapped(), cells=sized(8, 1, 3.0, path=4)))
    assert caller(wrapped(), alone[0], alone) == ("exchange", "")


def called_twice(line: int = 812, offset: int = -1) -> Profile:
    """main -> rank -> MPI_Alltoall from two lines of main: once for warming up, and ten times."""
    base = profile(sized(8, 1, 3.0, path=3), sized(8, 10, 2.0, path=4))
    frames = tuple(
        Frame(name, "is", n if offset < 0 else offset + n, "is.c" if line else "", at if line else 0)
        for n, (name, at) in enumerate([("main", 900), ("main", line), ("rank", 700)])
    )
    paths = (CallPath(-1, -1), CallPath(0, 0), CallPath(0, 1), CallPath(1, 2), CallPath(2, 2))
    return dataclasses.replace(base, frames=frames, paths=paths)


def test_the_sentence_is_of_what_is_repeated() -> None:
    assert "is 40 % of your time" in said(called_twice())
    once = profile(sized(8, 1, 9.0, path=2), sized(8, 10, 2.0, path=3))
    assert "is 82 % of your time" in said(once)  # nothing that is repeated comes near it


def test_rows_that_read_alike_say_which_line_calls() -> None:
    text = shown(called_twice())
    assert "rank (is.c:700) < main is.c:900" in text
    assert "rank (is.c:700) < main is.c:812" in text
    assert "rank < main is+0x41" in shown(called_twice(line=0, offset=0x40))
    assert " < main is" not in shown(wrapped())


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_tables_fit_and_keep_their_numbers(width: int) -> None:
    for whole in (ft(), synthetic(64, 40, nodes=4, sizes=4), import_profile(SAMPLES / "ft_as_is.score"), wrapped()):
        text = shown(whole, width)
        assert max(len(line) for line in text.splitlines()) <= width
        for spot in hot_spots(whole)[:10]:
            assert f"{100 * spot.share:.1f} " in text
            assert f"{spot.calls.mean:,.0f}" in text
    text = shown(ft(), width)
    for part in ("8 x 32", "512 KiB", "transpose_x_yz (ft.f90:500)", "256 on 8 nodes", "90 ns a", "9,139.63", "7 %"):
        assert part in text
    assert ("800 GiB" in text) == (width >= 100)


def test_the_flat_table_says_its_unit() -> None:
    """In brackets, which are markup for rich: it would take [s] for struck out."""
    (header,) = (line for line in shown(ft()).splitlines() if line.startswith("group"))
    assert " time [s] " in header


@pytest.mark.parametrize("width", [80, 100, 120])
def test_long_names_give_way_to_numbers(width: int) -> None:
    whole = synthetic(8, 20)
    name = "void solver::Transpose<std::complex<double>, 3>::{}(solver::Field const&, unsigned long)"
    frames = tuple(dataclasses.replace(frame, function=name.format(frame.function)) for frame in whole.frames)
    own = row(path=1, time=50.0, calls=1)
    whole = dataclasses.replace(whole, frames=frames, cells=np.concatenate([whole.cells, own]))
    text = shown(whole, width)
    assert max(len(line) for line in text.splitlines()) <= width
    hot = text[text.index("Hot spots") :].splitlines()
    rows = [line.split() for line in hot if re.match(r" *\d", line)]
    for spot in hot_spots(whole)[:10]:
        numbers = {f"{100 * spot.share:.1f}", f"{spot.calls.mean:,.0f}", spot.function.removeprefix("MPI_")}
        assert any(numbers <= set(words) for words in rows)
    assert "…" in text
    assert "solver::Transpose::part_" in text
    assert ("imbal." in hot[1]) == (width >= 100)


def test_what_is_left_out_is_counted() -> None:
    whole = synthetic(8, 60)
    text = shown(whole, hot=3)
    assert f"{len(hot_spots(whole)) - 3} others" in text
    assert "11 other regions" in shown(import_profile(SAMPLES / "ft_as_is.score"))


def test_what_a_reader_must_know_is_shown() -> None:
    whole = ft(4, 1)
    cut = dataclasses.replace(whole.origin, ended="signal SIGTERM", dropped=1234)
    text = shown(dataclasses.replace(whole, origin=cut, notes=("a note [bold]with brackets[/bold]",)))
    assert "by signal SIGTERM: the profile is of the time until then" in text
    assert "1,234 calls did not fit" in text
    assert "a note [bold]with brackets[/bold]" in text
    assert "4 on 1 node" in text


def test_names_with_markup_are_shown_as_they_are() -> None:
    whole = wrapped()
    frames = (Frame("[red]main"), *(Frame("a[/]b<T>") for _ in range(3)))
    assert "a[/]b<T>" in shown(dataclasses.replace(whole, frames=frames))


def test_as_is_profiled_and_the_cost_of_recording() -> None:
    assert overhead(ft()).startswith(
        "32.41 s without the recorder, 32.74 s with it (+1 %); recording costs 90 ns a call"
    )
    assert overhead(profile(row(time=1))) == ""
    three = dataclasses.replace(ft().origin, as_is=(3.0, 1.0, 2.0), profiled=1.9, overhead_ns=math.nan)
    assert (
        overhead(dataclasses.replace(ft(), origin=three))
        == "2 s without the recorder (median of 3), 1.9 s with it (-5 %)"
    )


def test_the_document_holds_everything_and_is_json() -> None:
    whole = synthetic(8, 60)
    document = json.loads(json.dumps(as_dict(whole), allow_nan=False))
    assert len(document["hot_spots"]) == len(hot_spots(whole))
    first = document["hot_spots"][0]
    assert first["path"][-1]["function"].startswith("part_")
    assert sum(entry["calls"] for entry in first["sizes"]) == first["calls"]
    assert {entry["kind"] for entry in first["sizes"]} <= {"exact", "none"}
    assert document["groups"][0]["region"] == "ALL"
    assert document["other"]["count"] == 0
    assert document["answer"] == said(whole)
    score = as_dict(import_profile(SAMPLES / "ft_as_is.score"))
    assert score["hot_spots"][0]["waiting_share"] is None
    assert score["hot_spots"][0]["communicator"] is None
    json.dumps(score, allow_nan=False)


def test_an_empty_profile_is_shown() -> None:
    assert "There are no MPI calls" in shown(profile())
    json.dumps(as_dict(profile()), allow_nan=False)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("transpose_x_yz", "transpose_x_yz"),
        ("void bg::F<double>(unsigned long, bg::Vector<double>&)", "bg::F"),
        ("solver::Field<std::vector<int>, 3>::exchange(int) const", "solver::Field::exchange"),
        ("bg::Vector<double>::operator()(int)", "bg::Vector<double>::operator()(int)"),
        ("!$omp parallel (main) @a.f90:3", "!$omp parallel (main) @a.f90:3"),
        ("(outside MPI)", "(outside MPI)"),
        ("main program", "main program"),
        ("f(", "f"),
        ("f>(", "f>("),
    ],
)
def test_short_names(name: str, text: str) -> None:
    assert short(name) == text


def test_bytes_that_nobody_knows_are_not_none() -> None:
    got = shown(profile(sized(8, 10, 1.0, path=2, sent=0)), width=120)  # a nonblocking receive: `received` is unknown
    assert " ? " in got and "the bytes of a nonblocking receive are" in got and "0 B" not in got
    known = shown(profile(sized(8, 10, 1.0, path=2, sent=0, received=80)), width=120)
    assert "80 B" in known and "nonblocking" not in known


def test_show_import_and_export_as_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    assert profile_reading.import_(SAMPLES / "ft_as_is.score", None) == 0
    written = capsys.readouterr()
    assert written.out == ""
    assert "Note: scorep.score holds times summed over ranks" in written.err
    assert load(tmp_path / "ft_as_is.profile").ranks == 256
    assert profile_reading.show(tmp_path / "ft_as_is.profile", json=False, hot=2) == 0
    assert "6 others" in capsys.readouterr().out
    assert profile_reading.show(SAMPLES / "ft_p4.cubex", json=True, hot=10) == 0
    assert json.loads(capsys.readouterr().out)["ranks"] == 4
    save(ft(4, 2), tmp_path / "ft.profile")
    for format, name in (("cubex", "ft.cubex"), ("speedscope", "ft.speedscope.json"), ("json", "ft.json")):
        assert profile_reading.export(tmp_path / "ft.profile", format=format, output=None) == 0
        assert (tmp_path / name).stat().st_size > 0
    assert "Note: a flame graph holds time only" in capsys.readouterr().err


def test_names_of_files_that_a_tool_always_names_alike_come_from_their_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "scorep_ft_256_sum"
    run.mkdir()
    (run / "profile.cubex").write_bytes((SAMPLES / "ft_p4.cubex").read_bytes())
    for given in (run, run / "profile.cubex"):
        assert profile_reading.import_(given, None) == 0
        assert profile_reading.export(given, format="json", output=None) == 0
        assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == [
            "scorep_ft_256_sum.json",
            "scorep_ft_256_sum.profile",
        ]


def test_commands_refuse_what_makes_no_sense(tmp_path: Path) -> None:
    save(ft(4, 2), tmp_path / "ft.profile")
    with pytest.raises(UserError, match="give cubex, speedscope, json"):
        profile_reading.export(tmp_path / "ft.profile", format="otf2", output=None)
    with pytest.raises(UserError, match="is the profile itself"):
        profile_reading.export(tmp_path / "ft.profile", format="json", output=tmp_path / "ft.profile")
    with pytest.raises(UserError, match="1 or more"):
        profile_reading.show(tmp_path / "ft.profile", json=False, hot=0)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(UserError, match="in no format that can be read"):
        profile_reading.show(tmp_path / "text", json=False, hot=10)
    with pytest.raises(UserError, match="is a directory without"):
        profile_reading.show(tmp_path, json=False, hot=10)
    (tmp_path / "scorep.score").write_bytes((SAMPLES / "ft_as_is.score").read_bytes())
    assert profile_reading.show(tmp_path, json=True, hot=1) == 0


def test_waiting_that_is_known_for_some_is_not_said_for_others() -> None:
    whole = profile(sized(8, 1, 2.0, path=2, waiting=1.0), sized(8, 1, 1.0, path=3))
    assert np.isnan(hot_spots(whole)[1].waiting)
    lines = [line for line in shown(whole).splitlines() if line.lstrip().startswith(("66.7", "33.3"))]
    assert "50 %" in lines[-2] and " - " in lines[-1]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Open MPI v5.0.11, package: Open MPI root@x Distribution, ident: 5.0.11", "Open MPI v5.0.11"),
        ("MPICH Version:      5.0.2\nMPICH Release date: Thu", "MPICH 5.0.2"),
        ("Intel(R) MPI Library 2021.18 for Linux* OS", "Intel(R) MPI Library 2021.18 for Linux* OS"),
        ("", ""),
    ],
)
def test_the_mpi_is_named_in_one_line(said: str, name: str) -> None:
    assert Origin(source="unisono", mpi=said).library == name


def overlapping(completed: int = 10) -> Profile:
    """Two ranks that sum and wait: 1 s and 3 s of their 10."""
    ranks = [
        part
        for rank in range(2)
        for part in (
            sized(8, 10, 1.0, rank=rank, path=2, comm=0, sent=160, received=160, completion=3.0, completed=completed),
            row(function=2, path=2, rank=rank, calls=10, time=3.5, completion=3.0),
            row(time=5.5, rank=rank),
        )
    ]
    return posted(*ranks)


def test_a_nonblocking_collective_is_said_with_its_wait() -> None:
    assert said(overlapping()) == (
        "Iallreduce called from transpose, 8 B, is 40 % of your time; 75 % of that is in calls that wait for it, the "
        "rest in the call itself."
    )
    assert said(overlapping(9)).endswith("; for 2 of its calls the waiting time is not known.")
    assert posted_sentences(hot_spots(overlapping())) == [
        (
            "MPI_Iallreduce at transpose: 2 s in the call itself, 6 s in the calls that complete it; where "
            "calls are shown one by one, that second part counts with those calls."
        )
    ]


@pytest.mark.parametrize("width", [80, 100, 120])
def test_the_table_of_nonblocking_collectives(width: int) -> None:
    text = shown(overlapping(), width=width)
    assert max(map(len, text.splitlines())) <= width
    row = next(line for line in text.splitlines() if line.startswith("Iallreduce < transpose"))
    assert row.split()[3:] == ["10", "320", "B", "2", "s", "6", "s", "0.4", "s"]
    assert re.search(r"40\.0 +- +Iallreduce", text) and re.search(r" 5\.0 +- +Wait", text)
    assert "nonblocking collectives: the time includes the wait" in " ".join(text.split())
    assert "Nonblocking collectives" not in shown(profile(sized(8, 10, 1.0)))


def test_the_document_has_the_call_and_the_wait() -> None:
    begun, wait = as_dict(overlapping())["hot_spots"]
    assert (begun["seconds"], begun["call_seconds"], begun["completion_seconds"]) == (8.0, 2.0, 6.0)
    assert begun["completed_calls"] == begun["calls"] == 20
    assert (wait["seconds"], wait["call_seconds"], wait["completion_seconds"]) == (1.0, None, None)
    (other,) = as_dict(profile(sized(8, 10, 1.0)))["hot_spots"]
    assert other["completion_seconds"] is None and other["completed_calls"] is None
