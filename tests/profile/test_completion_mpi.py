"""How long real programs wait for their nonblocking collectives, and that no second of it is counted twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.profile.interception import Sum, Toolchain, compiled, run, sums, toolchain, waited
from unisono.profile.check import problem
from unisono.profile.hot import hot_spots
from unisono.profile.raw import read_raw
from unisono.profile.rawfile import Part

pytestmark = [pytest.mark.mpi, pytest.mark.beside]
ALL = ["openmpi5", "openmpi4", "mpich", "mpich5"]
ROUNDS, MANY, ROOM = 5, 2100, 2048
"""Of programs/later.c, and of native/intercept/pending.h."""


Sums = Mapping[tuple[str, str], Sum]
"""By phase and function."""


@pytest.fixture(scope="module", params=ALL)
def tools(request: pytest.FixtureRequest) -> Toolchain:
    return toolchain(request.param)


def alike(one: int, other: int, rows: int = 1) -> bool:
    """But for what is lost where ticks are divided, and where they become nanoseconds."""
    return abs(one - other) <= 20 * rows


BEGIN, END = (
    ("Iallreduce", "Ibarrier"),
    ("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome"),
)


def balanced(found: Sums) -> None:
    """What is waited for is in calls that wait, once."""
    for phase in {phase for phase, _name in found}:
        begun = [found[phase, name] for name in BEGIN if (phase, name) in found]
        ended = [found[phase, name] for name in END if (phase, name) in found]
        assert sum(one.completed for one in begun) == sum(one.completed for one in ended), phase
        assert alike(sum(one.completion for one in begun), sum(one.completion for one in ended), 20), phase
        assert all(one.completion <= one.time for one in ended), phase


@pytest.fixture(scope="module")
def recorded(tools: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Sequence[Part]]:
    folder = tmp_path_factory.mktemp(tools.name)
    ran = run(tools, folder, compiled(tools, folder, "later.c", "-pthread"), ranks=2)
    assert ran.status == 0, ran.error
    return folder, ran.whole()


@pytest.fixture(scope="module")
def parts(recorded: tuple[Path, Sequence[Part]]) -> Sequence[Part]:
    return recorded[1]


@pytest.fixture(params=[0, 1], ids=["rank 0", "rank 1"])
def found(request: pytest.FixtureRequest, parts: Sequence[Part]) -> Sums:
    return sums(parts[request.param])


def test_every_wait_is_in_a_call_once(found: Sums) -> None:
    balanced(found)


def test_a_rank_that_comes_late_is_waited_for(recorded: tuple[Path, Sequence[Part]]) -> None:
    folder, parts = recorded
    found, known = sums(parts[0]), waited(folder, "Iallreduce", 0)
    begun = found["late", "Iallreduce"]
    assert (begun.calls, begun.completed) == (ROUNDS, ROUNDS)
    # Some MPIs may wait in the call itself; between the two rank 0 is nowhere else.
    assert begun.completion + begun.time >= 0.99 * known > 0
    assert alike(begun.completion, found["late", "Wait"].time, ROUNDS)


def test_all_tests_until_it_is_complete(found: Sums) -> None:
    assert found["polled", "Iallreduce"].completed == ROUNDS
    assert alike(found["polled", "Iallreduce"].completion, found["polled", "Test"].time, ROUNDS)
    assert found["tested", "Iallreduce"].completed == 3
    tested = sum(found["tested", name].time for name in ("Testall", "Testany", "Testsome"))
    assert alike(found["tested", "Iallreduce"].completion, tested, 3)


@pytest.mark.parametrize(("phase", "name"), [("any", "Waitany"), ("some", "Waitsome")])
def test_others_that_wait(found: Sums, phase: str, name: str) -> None:
    assert found[phase, "Iallreduce"].completed == found[phase, name].completed == 1
    assert alike(found[phase, "Iallreduce"].completion, found[phase, name].time)


def test_two_of_them_share_a_wait(found: Sums) -> None:
    one, other = found["two", "Iallreduce"], found["two", "Ibarrier"]
    assert one.completed == other.completed == ROUNDS
    assert alike(one.completion, other.completion, ROUNDS)
    assert alike(2 * one.completion, found["two", "Waitall"].time, 2 * ROUNDS)


def test_a_message_has_its_part_of_a_wait(found: Sums) -> None:
    assert found["mixed", "Iallreduce"].completed == ROUNDS
    assert alike(2 * found["mixed", "Iallreduce"].completion, found["mixed", "Waitall"].time, 2 * ROUNDS)
    assert alike(3 * found["persistent", "Iallreduce"].completion, found["persistent", "Waitall"].time, 3 * ROUNDS)


def test_a_wait_for_a_message_is_not_theirs(parts: Sequence[Part]) -> None:
    found = sums(parts[0])
    assert found["first", "Waitany"].time > 0
    assert found["first", "Waitany"].completion == 0
    assert alike(found["first", "Iallreduce"].completion, found["first", "Wait"].time, ROUNDS)


def test_requests_that_are_none_of_them(found: Sums) -> None:
    assert found["freed", "Iallreduce"].completed == 1
    assert alike(found["freed", "Iallreduce"].completion, found["freed", "Wait"].time)
    unseen = found["unseen", "Iallreduce"]
    assert (unseen.calls, unseen.completed, unseen.completion) == (ROUNDS, 0, 0)
    assert found["unseen", "Wait"].calls == ROUNDS and found["unseen", "Wait"].completion == 0
    assert found["alone", "Wait"].calls == 2 * ROUNDS
    assert found["alone", "Ibarrier"].completed <= ROUNDS


def test_more_than_there_is_room_for(found: Sums, parts: Sequence[Part]) -> None:
    assert [part.number("pending_lost") for part in parts] == [MANY - ROOM] * 2
    many = found["many", "Ibarrier"]
    assert (many.calls, many.completed) == (MANY, ROOM)
    assert alike(many.completion * MANY // ROOM, found["many", "Waitall"].time, MANY)
    assert found["later", "Iallreduce"].completed == 1


def test_the_profile_of_it(tools: Toolchain, tmp_path: Path) -> None:
    program = compiled(tools, tmp_path, "later.c", "-pthread")
    for _ in range(3):  # a rank that loses its CPU between the program's clock and the recorder's is not in the call
        ran = run(tools, tmp_path, program, ranks=2)
        assert ran.status == 0, ran.error
        profile = read_raw([ran.prefix.with_suffix(".raw")])
        late = next(spot for spot in hot_spots(profile) if (spot.phase, spot.function) == ("late", "MPI_Iallreduce"))
        known = waited(tmp_path, "Iallreduce", 0)
        if late.time >= 0.99e-9 * known:
            break
    assert problem(profile) == ""
    assert any(f"{2 * (MANY - ROOM)} nonblocking collectives were begun while" in note for note in profile.notes)
    found = hot_spots(profile)
    spots = {(spot.phase, spot.function): spot for spot in found}
    assert sum(spot.time for spot in found) == pytest.approx(float(profile.mpi_rows["time"].sum()))
    assert late.time >= 0.99e-9 * known > 0 and late.name == "iallreduce"
    assert late.called == pytest.approx(late.time - late.completion)
    assert ("late", "MPI_Wait") not in spots  # nothing is left of it
    assert spots["mixed", "MPI_Waitall"].time > 0


def test_several_threads_and_what_another_began(tools: Toolchain, tmp_path: Path) -> None:
    ran = run(tools, tmp_path, compiled(tools, tmp_path, "later.c", "-pthread"), "threads", ranks=2)
    if ran.status == 77:
        pytest.skip("this MPI was built without MPI_THREAD_MULTIPLE")
    assert ran.status == 0, ran.error
    for part in ran.whole():
        found = sums(part)
        balanced(found)
        assert found["threads", "Iallreduce"].calls == found["threads", "Iallreduce"].completed == 6 * 200
        assert alike(found["threads", "Iallreduce"].completion, found["threads", "Wait"].time, 6 * 200)


def test_what_is_left_out_is_not_anothers(tools: Toolchain, tmp_path: Path) -> None:
    """Completions by functions that a filter excludes are not timed; the requests are no more all the same."""
    rules = tmp_path / "filter"
    rules.write_text("exclude MPI_Test*\nexclude MPI_Waitall\n")
    program = compiled(tools, tmp_path, "later.c", "-pthread")
    ran = run(tools, tmp_path, program, ranks=2, env={"UNISONO_PROFILE_FILTER": str(rules)})
    assert ran.status == 0, ran.error
    for part in ran.whole():
        found = sums(part)
        balanced(found)
        for phase in ("polled", "tested", "two", "mixed"):
            assert found[phase, "Iallreduce"].completed == found[phase, "Iallreduce"].completion == 0, phase
        assert found["late", "Iallreduce"].completed == found["late", "Wait"].completed == ROUNDS
        assert found["later", "Iallreduce"].completed == 1


def test_what_began_before_recording_began_anew(tools: Toolchain, tmp_path: Path) -> None:
    ran = run(tools, tmp_path, compiled(tools, tmp_path, "later.c", "-pthread"), "forgotten", ranks=2)
    assert ran.status == 0, ran.error
    for part in ran.whole():
        found = sums(part)
        balanced(found)
        begun, wait = found["", "Iallreduce"], found["", "Wait"]
        assert (begun.calls, begun.completed, wait.calls, wait.completed) == (1, 1, 2, 1)


def test_those_that_our_library_serves(tools: Toolchain, tmp_path: Path) -> None:
    """Their requests are MPI's generalised ones, which the same calls complete."""
    force = {"UNISONO_FORCE": "iallreduce=unisono/posted", "UNISONO_VERBOSE": "1"}
    ran = run(tools, tmp_path, compiled(tools, tmp_path, "later.c", "-pthread"), ranks=2, env=force)
    assert ran.status == 0, ran.error
    assert "unisono/posted" in ran.error
    for part in ran.whole():
        found = sums(part)
        balanced(found)
        assert found["late", "Iallreduce"].completed == found["polled", "Iallreduce"].completed == ROUNDS
        assert alike(found["polled", "Iallreduce"].completion, found["polled", "Test"].time, ROUNDS)
        assert found["first", "Iallreduce"].completed == found["mixed", "Iallreduce"].completed == ROUNDS
        assert found["unseen", "Iallreduce"].completed == 0


@pytest.mark.parametrize("first", ["unisono", "tool"])
def test_beside_another_tool(tools: Toolchain, tmp_path: Path, first: str) -> None:
    """Then calls are recorded as they come to PMPI_X."""
    source = Path(__file__).parents[1] / "collectives" / "programs" / "tool.c"
    tool = compiled(tools, tmp_path, str(source), "-O2", "-shared", "-fPIC", name="tool")
    both = [str(tools.library), str(tool)]
    env = {"LD_PRELOAD": ":".join(both if first == "unisono" else reversed(both))}
    ran = run(tools, tmp_path, compiled(tools, tmp_path, "later.c", "-pthread"), ranks=2, env=env)
    assert ran.status == 0, ran.error
    for part in ran.whole():
        found = sums(part)
        balanced(found)
        assert sum(one.completed for (_, name), one in found.items() if name == "Iallreduce") >= 6 * ROUNDS
