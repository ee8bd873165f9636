"""The benchmark for real: every collective, both MPIs, with and without a CPU for every rank."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.measure.conftest import Launch
from unisono.core.errors import LaunchError
from unisono.core.vocabulary import COLLECTIVES, NEIGHBOURHOODS, PERSISTENT, Condition, blocking
from unisono.machine.description import Machine
from unisono.measure.limits import floor
from unisono.measure.session import Session

pytestmark = [pytest.mark.mpi, pytest.mark.beside]

SIZES = (0, 1, 3, 8, 100, 4096, 100_000)


@pytest.mark.parametrize("ranks", [1, 2, pytest.param(4, marks=pytest.mark.nightly), 8])
def test_every_collective_is_measured_and_right(machine: Machine, launch: Launch, ranks: int) -> None:
    session = launch(machine, ranks)
    assert machine.mpi is not None and session.hello.ranks == ranks
    assert session.hello.oversubscribed == (ranks > len(machine.cpus))
    assert session.hello.sync == ("barrier" if session.hello.oversubscribed else "clock")
    for collective in COLLECTIVES:
        for size in SIZES if blocking(collective) != "barrier" else (0,):
            (timing,) = session.measure(collective, size, [0], seconds=0.001, min_reps=5, max_reps=20, blocks=2)
            if collective in PERSISTENT and not machine.mpi.has_persistent:
                assert timing.refused is not None and "persistent collectives" in timing.refused
                continue
            if blocking(collective) in ("pingpong", "halo26", "exchange", *NEIGHBOURHOODS) and ranks == 1:
                assert timing.refused is not None
                assert "needs two ranks" in timing.refused
                continue
            assert timing.refused is None, (collective, size, timing.refused)
            assert timing.correct is True, (collective, size, timing.reason)
            assert (timing.collective, timing.size, timing.sync) == (collective, size, session.hello.sync)
            assert 5 <= timing.repetitions <= 20
            assert timing.raw.min() > 0


def test_the_documents_own_mean_beside_the_distribution(embedded: Machine, launch: Launch) -> None:
    """Nakajima (2009): 5,000 iterations, the mean of a call (of five allreduces, of a halo)."""
    session = launch(embedded, 2)
    for collective, size in (("allreduce5", 8), ("halo26", 1536)):
        (timing,) = session.measure(collective, size, [0], seconds=0.01, max_reps=5000, loop=5000)
        assert timing.loop == 5000
        assert 0 < timing.loop_mean < 1
        (timing,) = session.measure(collective, size, [0], seconds=0.01)
        assert timing.loop == 0


def test_hello_says_where_ranks_are(embedded: Machine, launch: Launch) -> None:
    hello = launch(embedded, 2).hello
    assert [place.rank for place in hello.where] == [0, 1]
    assert len({place.pid for place in hello.where}) == 2
    known = {cpu.cpu: cpu.numa for cpu in embedded.cpus}
    for place in hello.where:
        assert {known[cpu] for cpu in place.cpus} == set(place.numa)
    assert 0 < hello.memory_available < embedded.memory_bytes
    assert hello.mpi_t


def test_settings_are_interleaved_and_answered_in_order(embedded: Machine, launch: Launch) -> None:
    session = launch(embedded, 2)
    tuned = {"coll_tuned_use_dynamic_rules": "1"}
    ids = [0, session.define(None, {**tuned, "coll_tuned_allreduce_algorithm": "4"}), session.define("basic")]
    assert ids == [0, 1, 2]
    assert session.define("basic") == 2
    assert session.define() == 0
    timings = session.measure("allreduce", 1024, [2, 0, 1], seconds=0.005, max_reps=50)
    assert [timing.id for timing in timings] == [2, 0, 1]
    assert all(timing.correct for timing in timings)


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.nightly)])
def test_ranks_come_as_late_as_they_are_told(embedded: Machine, launch: Launch, ranks: int) -> None:
    session = launch(embedded, ranks)
    (always,) = session.measure("alltoall", 64, [0], seconds=0.01, condition=Condition(late=(0.0, 5e-3)))
    # Where ranks share CPUs, those that should wait may come late, too.
    crowded = session.hello.oversubscribed
    assert always.correct is True and (crowded or always.entry_spread >= 2.5e-3)
    assert crowded or always.inside >= 1.25e-3  # half of the ranks wait for the other half
    (drawn,) = session.measure("barrier", 0, [0], seconds=0.01, condition=Condition(drawn=5e-3, seed=3))
    assert drawn.correct is True and (crowded or drawn.entry_spread >= 2.5e-3)
    assert crowded or drawn.inside >= 1.25e-3


def test_messages_go_between_a_programs_partners(embedded: Machine, launch: Launch) -> None:
    """One message against eight, and a rank that is not there."""
    session = launch(embedded, 2)
    one, many, wrong = (
        session.measure("exchange", 1 << 16, [0], seconds=0.01, condition=Condition(partners=pairs))[0]
        for pairs in (((1, 0),), ((0, 1),) * 4 + ((1, 0),) * 4, ((0, 2),))
    )
    assert one.correct is True and many.correct is True and many.minimum > one.minimum
    assert wrong.refused == "partners: there is no rank 2"
    # A step as it was recorded: sizes of their own, a blocking pair, one that is waited for, one that never is.
    step = (
        *((0, 1, 1, 1 << 16, 0), (0, 0, 1, 8, 1), (0, 4, 0, 0, 0), (0, 3, 1, 1000, 2), (0, 1, 1, 0, 2)),
        *((1, 0, 0, 1 << 16, 0), (1, 1, 0, 8, 1), (1, 2, 0, 1000, 2), (1, 0, 0, 0, 2)),
    )
    own, lost, mad = (
        session.measure("exchange", 1 << 16, [0], seconds=0.01, condition=Condition(step=steps))[0]
        for steps in (step, ((0, 1, 5, 8, 0),), ((0, 5, 1, 8, 0),))
    )
    assert own.correct is True and own.minimum > one.minimum / 2
    assert lost.refused == "step: there is no rank 5" and mad.refused == "step: there is no operation 5"


@pytest.mark.parametrize("cold", ["buffers", "caches"])
def test_cold_calls_are_right(embedded: Machine, launch: Launch, cold: str) -> None:
    (timing,) = launch(embedded, 2).measure(
        "allreduce", 4096, [0], seconds=0.001, min_reps=2, max_reps=3, condition=Condition(cold)
    )
    assert timing.correct is True and timing.repetitions >= 1


def test_off_cache_and_unchecked(embedded: Machine, launch: Launch) -> None:
    session = launch(embedded, 2)
    (cold,) = session.measure("alltoall", 4096, [0], seconds=0.005, condition=Condition("buffers"), check=False)
    assert cold.refused is None
    assert cold.correct is None


@pytest.mark.parametrize(
    ("prefer", "variables", "because"),
    [
        (None, {"no_such_variable": "1"}, "no variable no_such_variable"),
        (None, {"coll_tuned_allreduce_algorithm": "nonsense"}, "not one of its values"),
        (None, {"btl_sm_eager_limit": "a b"}, "spaces"),
        (None, {"mpi_yield_when_idle": "1", "coll_libnbc_priority": "90"}, "cannot be written"),
    ],
)
def test_settings_the_library_refuses(
    embedded: Machine, launch: Launch, prefer: str | None, variables: dict[str, str], because: str
) -> None:
    session = launch(embedded, 2)
    with pytest.raises(ValueError, match=because):
        session.define(prefer, variables)
    (timing,) = session.measure("bcast", 8, [0], seconds=0.001)
    assert timing.correct is True


def test_old_library_cannot_prefer_a_component(system: Machine, launch: Launch) -> None:
    assert system.mpi is not None
    if not system.mpi.version.startswith("4."):
        pytest.skip(f"Open MPI {system.mpi.version} can")
    with pytest.raises(ValueError, match=r"needs Open MPI 5\.0\.4 or later"):
        launch(system, 2).define("basic")


def _messages(folder: Path) -> Counter[int]:
    """Receiver -> how many messages rank 0 sent to it, as Open MPI's monitoring wrote, without who got none."""
    sent: Counter[int] = Counter()
    for line in (folder / "m.0.prof").read_text().splitlines():
        if line.startswith("I\t"):
            fields = line.split("\t")
            sent[int(fields[2])] = int(fields[4].split()[0])
    return sent


@pytest.mark.parametrize(
    ("algorithm", "receivers"), [("ring", {1}), ("recursive_doubling", {1, 2}), ("basic_linear", {1, 2, 3})]
)
def test_forced_algorithm_really_runs(
    machine: Machine, launch: Launch, tmp_path: Path, algorithm: str, receivers: set[int]
) -> None:
    """Whom rank 0 of 4 sends to tells the algorithms apart; the library counts it itself."""
    watch = {"pml_monitoring_enable": "2", "pml_monitoring_enable_output": "3"}
    session = launch(machine, 4, coll_tuned_use_dynamic_rules="1", pml_monitoring_filename=str(tmp_path / "m"), **watch)
    setting = session.define(None, {"coll_tuned_allreduce_algorithm": algorithm})
    session.measure("allreduce", 4000, [setting], seconds=0.001, min_reps=200, max_reps=200, check=False)
    session.close()
    assert {receiver for receiver, count in _messages(tmp_path).items() if count >= 200} == receivers


def test_variables_are_put_back(embedded: Machine, launch: Launch, tmp_path: Path) -> None:
    """A setting defined after a forced one, and setting 0, are the default again."""
    watch = {"pml_monitoring_enable": "2", "pml_monitoring_enable_output": "3"}
    session = launch(embedded, 4, pml_monitoring_filename=str(tmp_path / "m"), **watch)
    tuned = {"coll_tuned_use_dynamic_rules": "1"}
    session.define(None, {**tuned, "coll_tuned_allreduce_algorithm": "basic_linear"})
    after = session.define(None, {"coll_tuned_allreduce_algorithm_segmentsize": "0"})
    session.measure("allreduce", 4000, [after], seconds=0.001, min_reps=200, max_reps=200, check=False)
    session.close()
    assert _messages(tmp_path)[3] < 200


def test_preferred_component_really_runs(embedded: Machine, launch: Launch, tmp_path: Path) -> None:
    """coll/basic reduces and broadcasts linearly; the default does not send from rank 0 to rank 3 at this size."""
    watch = {"pml_monitoring_enable": "2", "pml_monitoring_enable_output": "3"}
    counts = {}
    for name in ("basic", "default"):
        session = launch(embedded, 4, pml_monitoring_filename=str(tmp_path / "m"), **watch)
        setting = session.define("basic") if name == "basic" else 0
        session.measure("allreduce", 4000, [setting], seconds=0.001, min_reps=200, max_reps=200, check=False)
        session.close()
        counts[name] = _messages(tmp_path)[3]
    assert counts["basic"] >= 200 > counts["default"]


def test_more_than_the_memory_is_refused_and_the_session_goes_on(machine: Machine, launch: Launch) -> None:
    session = launch(machine, 4)
    needed = 4 * (2 * 4 << 30)  # four blocks of 1 GiB to send and four to receive, on each of four ranks
    if session.hello.memory_available > needed:
        pytest.skip("this machine has the memory for it")
    (timing,) = session.measure("alltoall", 1 << 30, [0], seconds=0.001)
    assert timing.refused is not None and timing.refused.startswith("memory: needs ")
    (small,) = session.measure("alltoall", 8, [0], seconds=0.001)
    assert small.correct is True


def test_size_mpi_cannot_count_is_refused(embedded: Machine, launch: Launch) -> None:
    session = launch(embedded, 2)
    for collective, size in (("bcast", 1 << 31), ("alltoallv", 2_000_000_000)):
        (timing,) = session.measure(collective, size, [0], seconds=0.001)
        assert timing.refused is not None and timing.refused.startswith("size: ")


def test_wrong_words_are_value_errors_and_harm_nothing(embedded: Machine, launch: Launch) -> None:
    session = launch(embedded, 2)
    with pytest.raises(ValueError, match="not a collective"):
        session.measure("alldance", 8, [0], seconds=0.001)
    with pytest.raises(ValueError, match="setting 7 is not defined"):
        session.measure("bcast", 8, [7], seconds=0.001)
    with pytest.raises(ValueError, match="bytes=-1"):
        session.measure("bcast", -1, [0], seconds=0.001)
    assert session.measure("bcast", 8, [0], seconds=0.001)[0].correct is True


def test_limits_bound_what_is_measured(machine: Machine, launch: Launch) -> None:
    session = launch(machine, 2)
    limits = session.limits(max_bytes=1 << 20)
    if session.hello.oversubscribed:
        assert limits.unavailable is not None
        return
    assert limits.unavailable is None and limits.latency_ns is not None and limits.latency_ns > 0
    assert [rate.bytes for rate in limits.copy_rates] == [4096 << i for i in range(9)]
    assert all(rate.gbps_own is not None and rate.gbps_own > 0 for rate in limits.copy_rates)
    assert [pair[:2] for pair in limits.pairs] == [(0, 1)]
    (timing,) = session.measure("allreduce", 1 << 16, [0], seconds=0.01)
    bound = floor(limits, "allreduce", 1, 2, 1 << 16)
    assert bound is not None and 0 < bound < timing.median


def test_ranks_that_share_cpus_settle_once(embedded: Machine, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what is measured first in a launch, usually the default, looks slower than it is."""
    measure, seconds = Session.measure, []

    def noted(self: Session, *given: Any, **more: Any) -> Any:
        seconds.append(more["seconds"])
        return measure(self, *given, **more)

    monkeypatch.setattr(Session, "measure", noted)
    for ranks in (2, 8):
        session = launch(embedded, ranks)
        session.warm_up("allgather", [64, 8])
        session.warm_up("bcast", [8])
        assert seconds == [0.1 if session.hello.oversubscribed else 0.002, 0.002, 0.002]
        seconds.clear()


def test_limits_of_crowded_ranks_are_unavailable(embedded: Machine, launch: Launch) -> None:
    session = launch(embedded, 4 * len(embedded.cpus))
    limits = session.limits()
    assert limits.unavailable is not None and "more ranks than CPUs" in limits.unavailable


class TestFaults:
    """What the fault switch does, and what becomes of it."""

    @pytest.fixture
    def session(self, embedded: Machine, launch: Launch, monkeypatch: pytest.MonkeyPatch, fault: str) -> Session:
        monkeypatch.setenv("UNISONO_BENCH_FAULT", fault)
        return launch(embedded, 2)

    @pytest.mark.parametrize(
        "fault", [f"wrong:{c}" for c in ("allreduce", "alltoallv", "barrier", "bcast", "pingpong")]
    )
    def test_wrong_result_is_seen_and_still_timed(self, session: Session, fault: str) -> None:
        collective = fault.split(":")[1]
        size = 0 if collective == "barrier" else 1000
        bad = session.define("basic")
        good, wrong = session.measure(collective, size, [0, bad], seconds=0.001)
        assert good.correct is True
        assert wrong.correct is False
        expected = "left the barrier" if collective == "barrier" else "wrong result on rank 1"
        assert expected in wrong.reason
        assert wrong.repetitions >= 10

    @pytest.mark.parametrize("fault", ["wrong:bcast:always"])
    def test_always_means_also_the_default(self, session: Session) -> None:
        assert session.measure("bcast", 8, [0], seconds=0.001)[0].correct is False
        assert session.measure("reduce", 8, [0], seconds=0.001)[0].correct is True

    @pytest.mark.parametrize("fault", ["hang:bcast"])
    def test_hung_rank_ends_itself_at_the_deadline(self, session: Session) -> None:
        setting = session.define("basic")
        assert session.measure("bcast", 8, [0], seconds=0.001)[0].correct is True
        with pytest.raises(LaunchError) as caught:
            session.measure("bcast", 8, [setting], seconds=0.001, deadline=1)
        assert caught.value.status == "hung"
        assert "deadline of 1 s passed while measuring bcast of 8 bytes with setting 1" in caught.value.reason
        assert "unisono-bench" in caught.value.stderr

    @pytest.mark.parametrize("fault", ["crash:bcast"])
    def test_crash_is_told_with_its_signal(self, session: Session) -> None:
        setting = session.define("basic")
        with pytest.raises(LaunchError) as caught:
            session.measure("bcast", 8, [setting], seconds=0.001)
        assert caught.value.status == "crashed"
        assert "SIGABRT" in caught.value.reason

    def test_misspelled_fault_is_refused(
        self, embedded: Machine, launch: Launch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("UNISONO_BENCH_FAULT", "explode:bcast")
        with pytest.raises(LaunchError, match="UNISONO_BENCH_FAULT"):
            launch(embedded, 2)


def test_raw_times_are_whole_nanoseconds_in_order(embedded: Machine, launch: Launch) -> None:
    (timing,) = launch(embedded, 2).measure("barrier", 0, [0], seconds=0.005)
    assert timing.raw.dtype == np.int64
    assert timing.raw.size == timing.repetitions
    assert timing.minimum == pytest.approx(timing.raw.min() * 1e-9)
