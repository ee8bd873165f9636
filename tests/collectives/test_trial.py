"""Without rules the library tries its algorithms at the start, and keeps what it found for the next run."""

from __future__ import annotations

import os
import random
import re
import struct
from pathlib import Path

import pytest

from tests.collectives.algorithms import NAMES
from tests.profile.interception import Ran, Toolchain, compiled, run, toolchain

pytestmark = pytest.mark.mpi  # with other processes on the CPUs nothing is tried
PROGRAM = str(Path(__file__).parent / "programs" / "sizes.c")
SIZES, MOST = 8, 320
BYTES = 4 * SIZES * MOST
"""Of the factors, at the end of a file: by size and number of the algorithm."""
STARTS = 3
"""So many starts try, and those that only go on with what there was no time for."""
LAUNCHES = 20


@pytest.fixture(scope="module", params=["openmpi4", "mpich"])
def tools(request: pytest.FixtureRequest) -> Toolchain:
    return toolchain(request.param)


def _run(
    tools: Toolchain,
    folder: Path,
    program: Path,
    cache: Path,
    beside: Path | None = None,
    more: dict[str, str] | None = None,
) -> Ran:
    env = {"UNISONO_COLLECTIVES": "on", "UNISONO_VERBOSE": "1", "XDG_CACHE_HOME": str(cache), **(more or {})}
    if beside is not None:  # and UCX must not take the place of its mmap()
        env |= {"LD_PRELOAD": f"{tools.library}:{beside}", "UCX_MEM_EVENTS": "n"}
    ran = run(tools, folder, program, ranks=2, env=env, record=False)
    assert (ran.status, ran.out.count("right")) == (0, 2), ran.out + ran.error
    return ran


def _tried(tools: Toolchain, folder: Path, program: Path, cache: Path) -> Path:
    """The file of a trial, which takes place as soon as the machine is quiet."""
    for _ in range(LAUNCHES):
        _run(tools, folder, program, cache)
        if files := list((cache / "unisono" / "trials").glob("*")):
            (file,) = files
            return file
    raise AssertionError(f"other processes were running at {LAUNCHES} launches")


def _starts(content: bytes) -> int:
    """At how many the file says that it was tried: behind its key."""
    (starts,) = struct.unpack_from("<i", content, content.index(b"\0") + 1)
    return int(starts)


def _factors(content: bytes) -> list[float]:
    return list(struct.unpack(f"<{SIZES * MOST}f", content[-BYTES:]))


def _forged(content: bytes) -> bytes:
    """As if on this machine one of the algorithms were the best at every size."""
    factors = [
        1e-4 if i < len(NAMES) and NAMES[i] == "bcast_flat_tree" else 1.0 for _ in range(SIZES) for i in range(MOST)
    ]
    last = content.index(b"\0") + 1
    written = content[:last] + struct.pack("<i", STARTS) + content[last + 4 : -BYTES]
    return written + struct.pack(f"<{SIZES * MOST}f", *factors)


def _bcast_by(ran: Ran) -> set[str]:
    return set(re.findall(r"unisono: +bcast +\S+ +(\S+) +\d+$", ran.error, re.MULTILINE))


def test_what_was_found_is_what_the_next_run_goes_by(tools: Toolchain, tmp_path: Path) -> None:
    program = compiled(tools, tmp_path, PROGRAM)
    file = _tried(tools, tmp_path, program, tmp_path / "cache")
    content = file.read_bytes()
    factors = _factors(content)
    found = {name for i, name in enumerate(NAMES) for size in range(SIZES) if factors[size * MOST + i]}
    assert {
        "bcast_cells",
        "allreduce_cells",
        "alltoall_cells",
        "allgather_cells",
        "allgatherv_cells",
        "gather_cells",
        "iallreduce_posted",
    } <= found
    assert all(factor >= 0 for factor in factors)

    written = _forged(content)
    for _ in range(LAUNCHES):
        file.write_bytes(written)
        if _bcast_by(_run(tools, tmp_path, program, tmp_path / "cache")) == {"unisono/flat_tree"}:
            break
    else:
        raise AssertionError("the file was not read")
    assert file.read_bytes() == written


def test_starts_try_again_and_the_least_counts(tools: Toolchain, tmp_path: Path) -> None:
    """What disturbed one start does not stay."""
    program = compiled(tools, tmp_path, PROGRAM)
    file = _tried(tools, tmp_path, program, tmp_path / "cache")
    first = file.read_bytes()
    assert _starts(first) == 1
    rivals = range(len(NAMES), MOST)
    disturbed = [factor if n % MOST in rivals else 1e3 * factor for n, factor in enumerate(_factors(first))]
    before = first[:-BYTES] + struct.pack(f"<{SIZES * MOST}f", *disturbed)
    file.write_bytes(before)
    for starts in range(2, STARTS + 1):
        for _ in range(LAUNCHES):
            _run(tools, tmp_path, program, tmp_path / "cache")
            if _starts(file.read_bytes()) == starts:
                break  # those before came to nothing that had been tried
        after = file.read_bytes()
        assert (_starts(after), len(after)) == (starts, len(before))
        for n, (one, other) in enumerate(zip(_factors(before), _factors(after), strict=True)):
            assert n % MOST in rivals or one == 0 or 0 < other <= one
        before = after
    known = [(one, other) for one, other in zip(disturbed, _factors(before), strict=True) if one > 0]
    assert sum(other < one / 10 for one, other in known) > len(known) / 4, "as far as there was time"
    _run(tools, tmp_path, program, tmp_path / "cache")
    assert file.read_bytes() == before, "later ones go by it"


def test_another_way_to_send_has_a_file_of_its_own(tools: Toolchain, tmp_path: Path) -> None:
    """What a job alone has, as the name of a log, has not: such a run goes by the file that is there."""
    program = compiled(tools, tmp_path, PROGRAM)
    file = _tried(tools, tmp_path, program, tmp_path / "cache")
    written = _forged(file.read_bytes())
    file.write_bytes(written)
    for _ in range(LAUNCHES):
        logged = _run(tools, tmp_path, program, tmp_path / "cache", more={"UCX_LOG_FILE": "12345"})
        assert list(file.parent.glob("*")) == [file]
        if _bcast_by(logged) == {"unisono/flat_tree"}:
            break
    else:
        raise AssertionError("the file was not read")
    for _ in range(LAUNCHES):
        _run(tools, tmp_path, program, tmp_path / "cache", more={"UCX_RNDV_THRESH": "12345"})
        if len(list(file.parent.glob("*"))) > 1:
            break
    assert len(list(file.parent.glob("*"))) == 2
    assert file.read_bytes() == written


def test_a_damaged_file_is_not_believed(tools: Toolchain, tmp_path: Path) -> None:
    program = compiled(tools, tmp_path, PROGRAM)
    cache = tmp_path / "cache"
    file = _tried(tools, tmp_path, program, cache)
    content = _forged(file.read_bytes())
    dice = random.Random(1)
    at = dice.randrange(content.index(b"\0"))  # of what it is of: another library, kernel or processor
    other = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
    for damaged in (b"", content[:-1], content + b"x", other, content[:-4] + struct.pack("<f", float("nan")),
                    content[:-4] + struct.pack("<f", -1)):  # fmt: skip
        for _ in range(LAUNCHES):
            file.write_bytes(damaged)
            ran = _run(tools, tmp_path, program, cache)
            assert _bcast_by(ran) != {"unisono/flat_tree"}, "which the file says, and no trial finds at all sizes"
            if file.read_bytes() != damaged:
                break
        else:
            raise AssertionError("the trial did not take place again")
        assert len(file.read_bytes()) == len(content)
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_where_nothing_can_be_kept(tools: Toolchain, tmp_path: Path) -> None:
    program = compiled(tools, tmp_path, PROGRAM)
    (tmp_path / "file").touch()
    for cache in (tmp_path / "file", Path(os.devnull)):
        assert "unisono: " + str(cache) not in _run(tools, tmp_path, program, cache).error
    folder = tmp_path / "folders"
    file = _tried(tools, tmp_path, program, folder)
    file.unlink()
    file.mkdir()  # where the file should be
    _run(tools, tmp_path, program, folder)
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_rank_that_has_no_memory_for_it(tools: Toolchain, tmp_path: Path) -> None:
    """Nothing is tried, as the others would wait for it."""
    program = compiled(tools, tmp_path, PROGRAM)
    source = str(Path(PROGRAM).parent / "no_scratch.c")
    refusing = compiled(tools, tmp_path, source, "-shared", "-fPIC", name="no_scratch.so", after=["-ldl"])
    for _ in range(LAUNCHES):
        ran = _run(tools, tmp_path, program, tmp_path / "cache", refusing)
        if "refused" in ran.error:
            break
    else:
        raise AssertionError("no algorithm that was tried wanted memory of its own")
    assert not list((tmp_path / "cache").rglob("trials/*"))
