"""Late senders and late receivers: pairing the ranks' logs, and programs of known delays with each MPI."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from tests.profile.interception import compiled, run, toolchain
from tests.profile.interception import waited as known_wait
from tests.profile.raw_samples import cell, part, raw_file, section
from unisono.core.errors import UserError
from unisono.profile.file import load, save
from unisono.profile.hot import hot_spots
from unisono.profile.late import LateMessages, late_sentence
from unisono.profile.messages import waited
from unisono.profile.raw import read_raw
from unisono.profile.rawfile import RAW_MESSAGE, RECEIVE, SEND, Part, read_parts
from unisono.profile.words import late_sentences

END = section("END ", b"")
Message = tuple[int, int, int, int, int, int, int, int]
"""As in the file: posted, begin, end, comm, cell, peer, tag, kind."""


def _parts(path: Path, logs: list[list[Message]], nodes: list[int], time: int = 10**6) -> list[Part]:
    written = []
    for rank, log in enumerate(logs):
        cells = [cell(time=time, function=2, size=-1, path=at) for at in (0, 1)]
        body = part(rank, len(logs), cells=cells, node=nodes[rank]).removesuffix(END)
        rows = [(*message[:4], 0, *message[4:]) for message in log]
        written.append(body + section("MSGS", np.asarray(rows, RAW_MESSAGE).tobytes()) + END)
    path.write_bytes(raw_file(*written))
    return read_parts(path)


@pytest.mark.parametrize("seed", range(20))
def test_random_schedules(seed: int, tmp_path: Path) -> None:
    """Each message's delay is its own, so that one wrong pair changes the sum. The node of rank 3 answers nothing:
    its clock cannot be compared."""
    chance = random.Random(seed)
    ranks, nodes = 4, [0, 0, 0, 1]
    messages = []
    for _ in range(chance.randrange(1, 60)):
        source = chance.randrange(ranks - 1)
        target = chance.choice([rank for rank in range(ranks) if rank != source])
        messages.append((source, target, chance.randrange(2), chance.randrange(2), chance.randrange(1, 5000)))
    logs: list[list[Message]] = [[] for _ in range(ranks)]
    expected: dict[int, int] = defaultdict(int)
    alone: set[int] = set()
    sent = dict.fromkeys(range(len(messages)), 0)
    for number, (source, target, tag, comm, _) in enumerate(messages):
        sent[number] = 10_000 * (number + 1)
        logs[source].append((sent[number], sent[number], sent[number] + 1, comm, 0, target, tag, SEND))
    # The receiver may take channels in any order, but each channel's messages in theirs.
    channels: dict[tuple[int, int, int, int], list[int]] = defaultdict(list)
    for number, (source, target, tag, comm, _) in enumerate(messages):
        channels[source, target, tag, comm].append(number)
    while channels:
        channel = chance.choice(sorted(channels))
        number = channels[channel].pop(0)
        if not channels[channel]:
            del channels[channel]
        source, target, tag, comm, late = messages[number]
        begin = sent[number] - late
        logs[target].append((begin, begin, sent[number] + 50, comm, 1, source, tag, RECEIVE))
        if nodes[source] == nodes[target]:
            expected[target] += late
        else:
            alone.add(target)
    found = waited(_parts(tmp_path / "run.raw", logs, nodes, time=1))
    for rank in range(ranks):
        if rank in expected:  # what was not paired has no share in it
            assert found.rows[rank][1] <= 1e-9
        else:
            assert np.isnan(found.rows[rank][1])
    assert found.late_sender == pytest.approx(sum(expected.values()) / 1e9)
    assert found.late_receiver == 0


def test_rules(tmp_path: Path) -> None:
    """A late receiver; an eager send, which waited for none; the longest wait of a Waitall; too little paired."""
    first: list[Message] = [
        (1000, 1000, 901_000, 7, 0, 1, 1, SEND),
        (2_000_000, 2_000_000, 2_100_000, 7, 0, 1, 2, SEND),
        (5_000_500, 5_000_500, 5_000_500, 7, 0, 1, 3, SEND),
        (5_300_000, 5_300_000, 5_300_000, 7, 0, 1, 4, SEND),
    ]
    second: list[Message] = [
        (801_000, 801_000, 901_000, 7, 0, 0, 1, RECEIVE),
        (3_000_000, 3_000_000, 3_000_100, 7, 0, 0, 2, RECEIVE),
        (4_000_000, 5_000_000, 5_400_000, 7, 1, 0, 4, RECEIVE),
        (4_000_000, 5_000_000, 5_400_000, 7, 1, 0, 3, RECEIVE),
    ]
    found = waited(_parts(tmp_path / "run.raw", [first, second], [0, 0]))
    assert found.late_receiver == pytest.approx(800e-6) and found.late_sender == pytest.approx(300e-6)
    assert found.rows[0][0] == pytest.approx(800e-6)
    assert np.isnan(found.rows[1][0]) and np.isnan(found.rows[1][1])  # 100 and 400 of 1000 us
    assert found.waits[0].tolist() == [(0, 1, True, pytest.approx(800e-6))] and not len(found.waits[1])
    with pytest.raises(UserError, match="logged message"):
        _parts(tmp_path / "bad.raw", [[(1, 1, 2, 7, 9, 0, 1, SEND)]], [0])


def test_what_is_said() -> None:
    """What was not measured is said to be, and is not zero."""
    assert late_sentence("MPI_Recv", 1.0, None) == late_sentence("MPI_Recv", 1.0, LateMessages(0.04, 0, 0)) == ""
    assert "was not measured" in late_sentence("MPI_Recv", 1.0, LateMessages(0, 0, 1.0))
    partly = late_sentence("MPI_Recv at halo.c:42", 2.0, LateMessages(1.0, 0.1, 0.5, rank=3, peer=0))
    assert partly.startswith("MPI_Recv at halo.c:42: 55 % of its time is waiting for senders that came late (rank 3 ")
    assert partly.endswith("25 % of the time of this call was not measured.")


WAITS = ["Waitall", "Waitany", "Waitsome"]


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("name", ["openmpi5", "openmpi4", "mpich"])
def test_known_delays(name: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, "late.c")
    split = {"UNISONO_PROFILE_SPLIT_WAITING": "1"}
    assert run(tools, tmp_path, program, ranks=2, env=split).status == 0
    profile = read_raw([tmp_path / "profile.raw"])
    # From any source and by persistent requests, too. The ranks sleep 20 ms each time, and know how much it became.
    waits = {name: known_wait(tmp_path, name, 0 if name == "Ssend" else 1) for name in ("Ssend", "Recv", *WAITS)}
    for rank, functions in ((0, ["Ssend"]), (1, ["Recv"]), (1, ["Waitsome"]), (1, ["Waitany"]), (1, WAITS)):
        rows = profile.cells[(profile.cells["rank"] == rank) & (profile.cells["size"] != 0)]
        rows = rows[np.isin(rows["function"], [profile.functions.index(f"MPI_{name}") for name in functions])]
        assert np.nansum(rows["waiting"]) >= 0.9e-9 * sum(waits[name] for name in functions) > 0, functions
    assert any("late senders" in note for note in profile.notes)
    save(profile, tmp_path / "late.profile")
    spots = hot_spots(load(tmp_path / "late.profile"))
    known = [(spot.function, spot.late) for spot in spots if spot.late is not None and spot.late.rank >= 0]
    # Several places call MPI_Waitall, and most find their messages there.
    late = dict(sorted(known, key=lambda found: found[1].sender))
    send, wait = late["MPI_Ssend"], late["MPI_Waitall"]
    assert send.receiver >= 0.9e-9 * waits["Ssend"] and (send.rank, send.peer) == (0, 1)
    assert wait.sender >= 0.9e-9 * waits["Waitall"] and (wait.rank, wait.peer) == (1, 0)
    said = late_sentences(spots)
    assert any(s.startswith("MPI_Ssend at ") and "receivers that came late (rank 0 waits" in s for s in said)
    assert any(
        "senders that came late (rank 1 waits longest, for rank 0). The cause is load imbalance" in s for s in said
    )
    # After a request that was freed under way nothing is paired, and without the option nothing is logged.
    assert run(tools, tmp_path, program, "free", ranks=2, env=split, name="freed").status == 0
    freed = {p.rank: p for p in read_parts(tmp_path / "freed.raw")}
    unpaired = late_sentences(hot_spots(read_raw([tmp_path / "freed.raw"])))
    assert any("was not measured: its messages could not be paired" in s for s in unpaired)
    assert len(freed[1].messages) == 4 and len(freed[0].messages) == 30
    assert run(tools, tmp_path, program, ranks=2, name="plain").status == 0
    assert not any(len(p.messages) for p in read_parts(tmp_path / "plain.raw"))


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("name", ["openmpi4", "mpich"])
def test_known_delay_in_fortran(name: str, tmp_path: Path) -> None:
    tools = toolchain(name)
    program = compiled(tools, tmp_path, "late.f90", "-fallow-argument-mismatch")
    assert run(tools, tmp_path, program, ranks=2, env={"UNISONO_PROFILE_SPLIT_WAITING": "1"}).status == 0
    profile = read_raw([tmp_path / "profile.raw"])
    rows = profile.cells[profile.cells["function"] == profile.functions.index("MPI_Waitall")]
    assert rows["waiting"].max() >= 0.9e-9 * known_wait(tmp_path, "Waitall", 1) > 0
