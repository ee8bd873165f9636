"""Calls before and after: what changed, and what did so as a side effect."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from tests.advise.made import Call, profile
from unisono.advise.changes import Changes, changes, profiled
from unisono.cmdline.command import Command
from unisono.core.errors import UserError
from unisono.profile.recorded import Profile


def run(alltoall: float, reduce: float, *, waiting: float = math.nan, wall: float = 100.0) -> Profile:
    return profile(
        [
            Call("MPI_Alltoall", ("main", "transpose_x_yz"), time=alltoall, waiting=0.0),
            Call("MPI_Reduce", ("main", "checksum"), time=reduce, waiting=waiting),
        ],
        wall=wall,
    )


def test_the_documents_example() -> None:
    """C7: alltoall 3631 -> 3378 s, reduce 587 -> 34 s without a change of its own."""
    before = run(3631 / 4, 587 / 4, wall=9123 / 4)
    after = run(3378 / 4, 34 / 4, wall=8200 / 4)
    found = changes([before], [after], tuned=["alltoall"])
    assert [(call.name, call.side_effect) for call in found.changed] == [("Reduce from checksum", True)]
    assert "Reduce from checksum: 587 s before, 34 s after, a side effect." in found.sentences()
    assert found.calls[1].share == pytest.approx((3378 - 3631) / 9123)


def test_rows_that_read_alike_are_told_apart_by_their_line() -> None:
    """Two rows were "Alltoall from rank_keys": one of the timed iterations, one of the warm-up."""
    calls = [Call("MPI_Alltoall", ("main:60", "rank_keys"), time=1.0), Call("MPI_Alltoall", ("main:70", "rank_keys"))]
    made = profile(calls)
    frames = [
        replace(frame, function="main", file="is.c", line=int(frame.label[5:])) if ":" in frame.label else frame
        for frame in made.frames
    ]
    made = replace(made, frames=tuple(frames))
    names = {call.name for call in changes([made], [made]).calls}
    assert names == {"Alltoall from rank_keys (main is.c:60)", "Alltoall from rank_keys (main is.c:70)"}


def test_with_several_runs_noise_is_known() -> None:
    """7 % is a change when runs differ by less, and none when they differ by more."""
    quiet = changes([run(9.0, 1), run(9.05, 1)], [run(8.4, 1), run(8.45, 1)], tuned=["alltoall"])
    loud = changes([run(9.0, 1), run(8.2, 1)], [run(8.4, 1), run(8.45, 1)], tuned=["alltoall"])
    assert [call.name for call in quiet.changed] == ["Alltoall from transpose_x_yz"]
    assert not quiet.changed[0].side_effect
    assert loud.changed == []
    assert loud.sentences()[-1] == "No call changed by more than the difference between runs of the same command."


def test_a_tuned_call_whose_waiting_moved_is_a_side_effect() -> None:
    found = changes([run(9, 9, waiting=8.0)], [run(9, 2, waiting=1.0)], tuned=["alltoall", "reduce"])
    assert [(call.name, call.side_effect) for call in found.changed] == [("Reduce from checksum", True)]


def test_calls_of_one_side_only() -> None:
    more = profile([Call("MPI_Alltoall", ("main", "transpose_x_yz"), time=9.0), Call("MPI_Bcast", time=5.0)], wall=100)
    found = changes([run(9.0, 0.0)], [more])
    assert [(call.function, call.before.mid, call.after.mid) for call in found.changed] == [("MPI_Bcast", 0.0, 20.0)]


def test_too_small_to_be_named() -> None:
    assert changes([run(9, 0.1)], [run(9, 0.2)]).changed == []


def test_json_and_table() -> None:
    found: Changes = changes([run(9, 3)], [run(6, 3)], tuned=["alltoall"])
    document = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert document["calls"][0]["before"]["mid"] == 36
    assert document["calls"][1]["waiting_before"] is None
    stream = StringIO()
    Console(file=stream, width=120).print(found.render())
    assert "faster" in stream.getvalue()
    assert "-3.0 %" in stream.getvalue()


def test_both_sides_are_needed() -> None:
    with pytest.raises(UserError, match="one with the tuning"):
        changes([run(1, 1)], [])


def test_both_sides_are_profiled_in_turns() -> None:
    order: list[str] = []

    def record(line: Command) -> Profile:
        order.append(line.argv[0])
        return run(1, 1)

    as_is, tuned = (Command([name], {}, None, []) for name in ("as-is", "tuned"))
    before, after = profiled(as_is, tuned, record, 4)
    assert (len(before), len(after)) == (4, 4)
    assert all({order[at], order[at + 1]} == {"as-is", "tuned"} for at in range(0, 8, 2))
    assert order[::2].count("tuned") == 2


def test_a_gain_that_is_not_the_programs_own_is_said() -> None:
    """Runs of 4 s became 2 s faster by a shorter start, while the calls of the program took longer."""
    found = changes([run(1.0, 0.5, wall=3.0)], [run(1.5, 0.5, wall=3.5)])
    assert found.inside == (3.0, 3.5)
    said = found.outside_sentence(2.0)
    assert said.startswith("100 % of this gain is in starting and ending the processes")
    assert "takes 3 s before and 3.5 s after; its MPI calls take 6 s before and 8 s after, all ranks together" in said
    slower = changes([run(1.0, 0.5, wall=3.5)], [run(1.0, 0.5, wall=3.0)])
    assert slower.outside_sentence(2.0).startswith("75 % of this gain")
    assert slower.outside_sentence(1.0) == "" == slower.outside_sentence(-1.0)
