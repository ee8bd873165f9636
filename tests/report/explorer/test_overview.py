"""The answer above the panes, the origin, and the tuning's curve."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from tests.report.explorer.test_data import small
from unisono.commands.profile_report import profile_report
from unisono.core.errors import UserError
from unisono.core.vocabulary import Case
from unisono.profile import file
from unisono.profile.hot import hot_spots
from unisono.profile.recorded import UNKNOWN, Comm, Frame, Origin, Profile
from unisono.profile.recorded import Path as CallPath
from unisono.profile.words import main_spot
from unisono.report.explorer import overview
from unisono.report.explorer.curves import curves
from unisono.report.explorer.tree import call_tree
from unisono.report.view import CaseView
from unisono.study.data import StudyData
from unisono.tuning import Tuning, write

KIB = 1024


def transposes() -> Profile:
    """As in Oracle's profiling guide: one alltoall, reached through a wrapper, takes 40 % of the time."""
    rows = [
        {"function": 1, "path": 2, "comm": 0, "size": 512 * KIB, "size_min": 512 * KIB, "size_max": 512 * KIB}
        | {"calls": 25, "time": 4.0, "waiting": 0.28},
        {"function": 0, "time": 6.0},
    ]
    profile = small([dict(row) for row in rows], (CallPath(UNKNOWN, UNKNOWN), CallPath(0, 1), CallPath(1, 2)))
    frames = (Frame(""), Frame("transpose_x_yz", "ft", 64, "ft.f90", 120), Frame("my_alltoall"))
    return dataclasses.replace(profile, frames=frames, comms=(Comm(256, 8),))


def test_the_answer_is_one_sentence_however_long_the_names_are() -> None:
    profile = transposes()
    assert overview.answer(profile, hot_spots(profile)) == (
        "Alltoall called from my_alltoall, 512 KiB a peer, is 40 % of your time; 7 % of that is waiting."
    )
    frames = tuple(dataclasses.replace(frame, function=frame.function * 1000) for frame in profile.frames)
    functions = tuple(name * 1000 for name in profile.functions)
    hostile = dataclasses.replace(profile, frames=frames, functions=functions)
    assert len(overview.answer(hostile, hot_spots(hostile))) < 300


def test_what_is_shown_first_is_no_start_of_mpi() -> None:
    profile = dataclasses.replace(transposes(), functions=("", "MPI_Alltoall", "MPI_Init"))
    rows = np.concatenate([profile.cells, profile.cells[:1]])
    rows[-1]["function"], rows[-1]["time"] = 2, 50.0
    spots = hot_spots(dataclasses.replace(profile, cells=rows))
    assert [spot.function for spot in spots] == ["MPI_Init", "MPI_Alltoall"]
    assert main_spot(spots) == 1


def test_a_hot_spot_knows_its_place_in_the_tree() -> None:
    profile = transposes()
    tree = call_tree(profile)
    (row,) = overview.spot_rows(profile, tree, hot_spots(profile))
    assert tree.function[row["node"]] == 1
    assert row["chain"] == "my_alltoall ← transpose_x_yz"
    assert (row["calls"], row["size"], row["comm"]) == ("25", "512 KiB a peer", "256 ranks on 8 nodes")


def test_long_names_keep_what_tells_them_apart() -> None:
    name = "void bg::function::run<std::vector<int>, 3>(unsigned long, unsigned long) const"
    assert overview.short(name, 70) == "void bg::function::run<…>(unsigned long, unsigned long) const"
    assert overview.short(name) == "void bg::function::run<…>(…) const"
    assert overview.short("bool operator<(Key const&, Key const&)", 20) == "bool operator<(…)"
    assert overview.short("x" * 100, 10) == "xxxxxxxxx…"


def test_what_would_mislead_is_said(profile: Profile) -> None:
    origin = dataclasses.replace(profile.origin, ended="signal SIGTERM", dropped=3, summed=True, profiled=4.1)
    said = overview.warnings(dataclasses.replace(profile, origin=origin))
    assert len(said) == 4
    assert "SIGTERM" in said[0]
    assert "100 % longer" in said[3]
    assert overview.warnings(profile) == []


def test_a_few_runs_say_nothing_of_what_recording_costs(profile: Profile) -> None:
    """A run may well take 39 % less than another without any reason."""
    origin = dataclasses.replace(profile.origin, as_is=(2.0, 2.1), profiled=1.25)
    few = dataclasses.replace(profile, origin=origin)
    assert overview.warnings(few) == [
        "Without the recorder the program took 2.05 s, with it 1.25 s. Too few runs to estimate the noise; use --as-is "
        "3 or more."
    ]
    took = dict(overview.origin_rows(few))["run time profiled"]
    assert took == "1.25 s: -39 % against as it is, too few runs to tell it from noise"


def test_hot_spots_that_read_alike_say_where_they_are(profile: Profile) -> None:
    frames = (Frame("main", "app", 16, "/src/app.c", 7), Frame("norm", "app", 32, "/src/app.c", 5, inlined=True))
    outer = dataclasses.replace(frames[0], offset=24, line=9)
    alike = dataclasses.replace(
        profile,
        frames=(*frames, outer),
        paths=(profile.paths[0], CallPath(0, 0), CallPath(1, 1), CallPath(0, 2), CallPath(3, 1)),
    )
    spots = [dataclasses.replace(hot_spots(profile, 1)[0], path=path, frames=frames[::-1]) for path in (2, 4, 2)]
    spots[2] = dataclasses.replace(spots[2], function="MPI_Bcast")
    assert overview.places(alike, spots) == ["main app.c:7", "main app.c:9", "app.c:5"]


def test_the_origin_states_its_conditions(profile: Profile) -> None:
    rows = dict(overview.origin_rows(profile))
    assert rows["run time as it is"] == "2.00 s, 2.10 s, 2.05 s (3 runs)"
    assert rows["run time profiled"] == "2.06 s: +0.5 % against as it is, within noise"
    assert rows["cost of recording"].startswith("about 80 ns a call, ")
    assert rows["nodes"] == "node0, node1 and node2"


def test_the_root_is_named_after_the_program() -> None:
    def named(command: str) -> str:
        return overview.program(small([], origin=Origin("unisono", command)))

    assert named("mpirun -n 4 ./bin/ft.D.x input") == "ft.D.x"
    assert named("mpirun -n 4 'unbalanced") == "whole program"


def test_a_curve_for_every_collective_the_tuning_knows(
    profile: Profile, measured: tuple[StudyData, Tuning, dict[Case, CaseView]]
) -> None:
    _, tuning, views = measured
    drawn = {(curve["collective"], curve["comm"]): curve for curve in curves(profile, tuning, views)}
    assert {collective for collective, _ in drawn} <= {"allreduce", "alltoall"}
    assert drawn
    for (collective, comm), curve in drawn.items():
        view = views[Case(collective, 3, 4)]
        assert curve["sizes"] == list(view.sizes)
        assert curve["default"][0][0] == pytest.approx(view.default[0].time.mid, rel=1e-3)
        assert curve["gain"][-1][0] == pytest.approx(curve["default"][-1][0] / curve["tuned"][-1][0], rel=0.2), (
            "gains are default / tuned"
        )
        exact = (profile.comms[comm].nodes, profile.comms[comm].ppn) == (3, 4)
        assert (curve["note"] == "") == exact


def test_without_a_study_the_rules_are_there(
    profile: Profile, measured: tuple[StudyData, Tuning, dict[Case, CaseView]]
) -> None:
    curve = curves(profile, measured[1])[0]
    assert "sizes" not in curve
    assert curve["rules"]
    starts = [rule["first"] for rule in curve["rules"]]
    assert starts == sorted(starts)


def test_the_command_writes_the_page(
    profile: Profile, measured: tuple[StudyData, Tuning, dict[Case, CaseView]], tmp_path: Path
) -> None:
    file.save(profile, tmp_path / "run.profile")
    write(measured[1], tmp_path / "tuning.toml")
    page = tmp_path / "profile.html"
    assert profile_report(tmp_path / "run.profile", page, tuning=tmp_path / "tuning.toml") == 0
    assert "http://" not in page.read_text("utf-8").replace("http://www.w3.org/", "")
    with pytest.raises(UserError, match=r"nothing\.profile"):
        profile_report(tmp_path / "nothing.profile", page)


def test_a_page_weighs_what_its_numbers_weigh(pages: dict[str, Path]) -> None:
    assert pages["plain"].stat().st_size < 250_000
    assert pages["large"].stat().st_size < 4_000_000


def test_times_of_no_program_are_no_trouble() -> None:
    profile = small([{"function": 2, "calls": 0, "time": 0.0}])
    assert overview.facts(profile)[0] == ("ranks", "1")
    assert np.isfinite(overview.spot_rows(profile, call_tree(profile), hot_spots(profile))[0]["width"])
