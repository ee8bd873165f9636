"""Which collectives the library serves is said alike in C, in the generator of its wrappers, and in Python."""

from __future__ import annotations

import re

from unisono.core.vocabulary import DISPATCHED, NONBLOCKING, PERSISTENT, POSTED_MOST, blocking
from unisono.library.native import native_source


def test_the_table_the_wrappers_and_the_vocabulary_name_the_same() -> None:
    table = (native_source() / "collectives" / "table.c").read_text(encoding="utf-8")
    named = re.search(r"collective_names\[COLLECTIVES\] = \{(.*?)\};", table, re.DOTALL)
    assert named is not None and tuple(re.findall(r'"(\w+)"', named[1])) == DISPATCHED
    generator = (native_source() / "intercept" / "mpi_h.py").read_text(encoding="utf-8")
    lists = dict(re.findall(r"^(SERVED|POSTED) = \((.*?)^\)", generator, re.DOTALL | re.MULTILINE))
    served, posted = (
        tuple(word.lower() for word in re.findall(r'"(\w+)"', lists[name])) for name in ("SERVED", "POSTED")
    )
    assert (*served, *posted, *(f"{name}_init" for name in served)) == DISPATCHED
    assert posted == NONBLOCKING and tuple(blocking(name) for name in PERSISTENT) == served


def test_the_longest_nonblocking_message() -> None:
    memory = (native_source() / "collectives" / "node" / "posts_memory.c").read_text(encoding="utf-8")
    arena, share = re.search(r"arena_usual = (\d+) << 10", memory), re.search(r"AT_ONCE = (\d+)", memory)
    assert arena is not None and share is not None
    assert (int(arena[1]) << 10) // int(share[1]) == POSTED_MOST
