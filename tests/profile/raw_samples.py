"""Raw files as libunisono.so writes them, made by hand."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from unisono.profile.rawfile import MAGIC, RAW_CELL, RAW_COMPLETION, RAW_PAIR

BASE = 0x555500000000
LIBRARY = 0x7F0000000000


def section(tag: str, payload: bytes) -> bytes:
    return struct.pack("<4sIQ", tag.encode(), 0, len(payload)) + payload + b"\0" * (-len(payload) % 8)


def cell(path: int = 0, function: int = 1, comm: int = 0, size: int = 1024, calls: int = 10, **other: int) -> Any:
    """One row: `calls` calls of `size` bytes, 1 us each."""
    row = np.zeros(1, RAW_CELL)
    values = {
        "path": path,
        "function": function,
        "comm": comm,
        "size_min": size,
        "size_max": size,
        "size_sum": max(size, 0) * calls,
        "calls": calls,
        "sent": 2 * max(size, 0) * calls,
        "received": 2 * max(size, 0) * calls,
        "time": 1000 * calls,
        "time_min": 900,
        "time_max": 1100,
        "waiting": -1,
        **other,
    }
    for name, value in values.items():
        row[name] = value
    return row


def part(
    rank: int,
    ranks: int,
    *,
    base: int = BASE,
    paths: Sequence[Sequence[int]] = ((), (0x1100, 0x1200), (0x1100, 0x1300)),
    cells: Sequence[Any] = (),
    pairs: Sequence[tuple[int, int, int]] = (),
    functions: Sequence[str] = ("", "MPI_Alltoall", "MPI_Wait"),
    phases: Sequence[str] = ("",),
    comms: Sequence[tuple[int, int, int]] = ((2, 1, 1),),
    modules: Sequence[tuple[str, int, int]] | None = None,
    completions: Sequence[tuple[int, int, int]] | None = None,
    **about: Any,
) -> bytes:
    """One rank's part. Addresses of `paths` are relative to `base`, where the program `/opt/app` is, 1 MiB long;
    `completions` are (row of `cells`, calls, ns)."""
    said = {"rank": rank, "ranks": ranks, "host": f"n{rank // 2}", "wall_ns": 10**9, "ended": "finalize", **about}
    said = {"overhead_ns": 100, "depth": 8, "dropped": 0, "mpi": "Open MPI v5", "started": 1_800_000_000, **said}
    objects = modules if modules is not None else [("/opt/app", base, base + (1 << 20))]
    words = b"".join(struct.pack(f"<{1 + len(p)}Q", len(p), *(base + address for address in p)) for p in paths)
    rows = np.concatenate(cells) if cells else np.zeros(0, RAW_CELL)
    messages = np.array([(target, 0, calls, size) for target, calls, size in pairs], RAW_PAIR)
    sections = {
        "RANK": json.dumps(said).encode(),
        "MODS": json.dumps([{"path": p, "base": b, "end": e} for p, b, e in objects]).encode(),
        "FUNC": json.dumps(list(functions)).encode(),
        "PATH": words,
        "COMM": json.dumps([{"size": s, "nodes": n, "created": c} for s, n, c in comms]).encode(),
        "PHAS": json.dumps(list(phases)).encode(),
        "CELL": rows.tobytes(),
        "PAIR": messages.tobytes(),
    }
    if completions is not None:
        done = np.array([(cell, 0, calls, time) for cell, calls, time in completions], RAW_COMPLETION)
        sections["DONE"] = done.tobytes()
    return b"".join(section(tag, payload) for tag, payload in sections.items()) + section("END ", b"")


def raw_file(*parts: bytes) -> bytes:
    return MAGIC + b"".join(parts)
