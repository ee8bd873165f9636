"""The library's own list of who served what, against what the rules want."""

from __future__ import annotations

from unisono.export.served import Row, items, rows

LISTED = """\
noise of the program
unisono: collectives of rank 0: which implementation served its calls of which message size (bytes)
unisono:   collective  size                      implementation                         calls
unisono:   allreduce   8..4096                   unisono/slices                            12
unisono:   allreduce   8192                      mpi                                        1
unisono:   alltoallv   any                       unisono/pull:16384                         2
unisono:   barrier     any                       mpi                                        3
"""


def test_the_list_is_read() -> None:
    assert rows(LISTED) == [
        Row("allreduce", 8, 4096, "unisono/slices", 12),
        Row("allreduce", 8192, 8192, "mpi", 1),
        Row("alltoallv", None, None, "unisono/pull:16384", 2),
        Row("barrier", None, None, "mpi", 3),
    ]
    assert rows("nothing of ours") == []


def test_what_was_wanted_and_what_served() -> None:
    wanted = {
        ("allreduce", 8): "unisono/slices",
        ("allreduce", 4096): "mpi",
        ("allreduce", 8192): "tuned/ring",
        ("allreduce", 1 << 20): "mpi",
        ("alltoallv", 1): "unisono/pull:16384",
    }
    found = {item.what: (item.taken, item.found) for item in items(wanted, rows(LISTED), True)}
    assert found == {
        "allreduce of 8 B": (True, "unisono/slices"),
        "allreduce of 4 KiB": (False, "unisono/slices"),
        "allreduce of 8 KiB": (False, "mpi"),
        "allreduce of 1 MiB": (True, "mpi"),
        "alltoallv": (True, "unisono/pull:16384"),
    }


def test_a_library_that_lists_nothing_did_not_take_the_rules() -> None:
    (item,) = items({("bcast", 8): "unisono/tree"}, [], True)
    assert item.taken is False
    assert "was not in the ranks" in item.reason
