"""Settings that use what libunisono.so knows, measured by the benchmark with the library in its ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from unisono.cmdline.command import command
from unisono.core.errors import LaunchError
from unisono.core.vocabulary import DEFAULT
from unisono.library.recorder import recorder
from unisono.machine.description import Machine
from unisono.measure.session import Session
from unisono.study.ours import preloaded

pytestmark = [pytest.mark.mpi, pytest.mark.beside]


def test_settings_of_our_library(embedded: Machine, bench: Path) -> None:
    assert embedded.mpi is not None
    line = preloaded(command(embedded, DEFAULT, 1, 2, [str(bench)]), recorder(embedded.mpi.mpicc))
    with Session(line.argv, line.env) as session:
        flags = session.define(use="barrier:unisono/flags")
        ring = session.define(use="allreduce:tuned/ring:65536")
        many = session.define(use="allreduce:unisono/cells,bcast:sm")
        for collective, ids in (("barrier", [0, flags]), ("allreduce", [0, ring, many]), ("bcast", [0, many])):
            timings = session.measure(collective, 4096 * (collective != "barrier"), ids, seconds=0.005)
            assert [timing.refused for timing in timings] == [None] * len(ids)
            assert all(timing.correct for timing in timings)
        for wrong in ("bcast:unisono/nope", "bcast:tuned/nope", "pingpong:mpi", "bcast:no", "bcast", "bcast:han"):
            with pytest.raises(ValueError, match="use: "):
                session.define(use=wrong)


def test_rules_that_the_library_cannot_read(embedded: Machine, bench: Path, tmp_path: Path) -> None:
    assert embedded.mpi is not None
    rules = tmp_path / "rules"
    rules.write_text("unisono-rules 1\nbcast 1 2 0 max unisono/nope\n")
    line = preloaded(command(embedded, DEFAULT, 1, 2, [str(bench)]), recorder(embedded.mpi.mpicc))
    with Session(line.argv, {**line.env, "UNISONO_RULES": str(rules)}) as session:
        session.measure("bcast", 8, [0], seconds=0.005)
        with pytest.raises(LaunchError, match=rf"{rules}:2: .*unisono/nope"):
            session.check_library()
    rules.write_text("unisono-rules 1\nbcast 1 2 0 max unisono/inline\n")
    with Session(line.argv, {**line.env, "UNISONO_RULES": str(rules)}) as session:
        session.measure("bcast", 8, [0], seconds=0.005)
        session.check_library()


def test_without_the_library(embedded: Machine, bench: Path) -> None:
    line = command(embedded, DEFAULT, 1, 2, [str(bench)])
    with Session(line.argv, line.env) as session, pytest.raises(ValueError, match=r"libunisono\.so is not preloaded"):
        session.define(use="bcast:unisono/cells")
