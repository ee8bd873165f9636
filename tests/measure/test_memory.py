"""The benchmark in a memory cgroup much smaller than the machine: it refuses in time, and is never killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.measure.conftest import bench_command
from unisono.machine.description import Machine
from unisono.measure.session import Session

pytestmark = pytest.mark.mpi

_LIMIT = 1 << 30


def _own_group() -> tuple[Path, str]:
    """Our own memory cgroup and the name of its limit file."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return Path("/sys/fs/cgroup/memory") / path.lstrip("/"), "memory.limit_in_bytes"
        if controllers == "" and Path("/sys/fs/cgroup/cgroup.controllers").exists():
            return Path("/sys/fs/cgroup") / path.lstrip("/"), "memory.max"
    pytest.skip("no memory cgroup")


@pytest.fixture
def small_group() -> Iterator[Path]:
    own, limit = _own_group()
    group = own / "unisono-test"
    try:
        group.mkdir()
        (group / limit).write_text(str(_LIMIT))
    except OSError as error:
        if group.exists():
            group.rmdir()
        pytest.skip(f"memory cgroups cannot be made here: {error}")
    yield group
    group.rmdir()


def test_a_cgroup_limit_refuses_what_does_not_fit(embedded: Machine, small_group: Path) -> None:
    line = bench_command(embedded, 2)
    inside = ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', str(small_group), *line.argv]
    outcomes = {}
    with Session(inside, line.env) as session:
        assert session.hello.memory_available < _LIMIT
        for power in range(20, 31):
            (timing,) = session.measure("alltoall", 1 << power, [0], seconds=0.001, min_reps=1, max_reps=1)
            outcomes[power] = timing.refused
            assert timing.refused is None or timing.refused.startswith("memory: needs ")
    refused = [power for power, reason in outcomes.items() if reason is not None]
    assert outcomes[20] is None
    assert refused == list(range(min(refused), 31))  # from some size on, always
    # A GiB holds, for two ranks, two buffers of twice 32 MiB and the library's own copy of one.
    assert min(refused) > 25
