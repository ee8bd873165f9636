"""`unisono hybrid --dry-run`: lines and nothing else, and a mesh that fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.program import refused, unisono
from tests.launch.machines import machine
from unisono.core.errors import UserError
from unisono.hybrid.solver import check_memory


def test_nothing_is_built(tmp_path: Path) -> None:
    """A build takes minutes."""
    done = unisono("hybrid", "--dry-run", "--layouts", "1x1", "--rounds", "3", env={"XDG_CACHE_HOME": str(tmp_path)})
    if done.returncode == 2:
        pytest.skip(done.stderr.strip())
    head, line = done.stdout.splitlines()
    assert head == "# 1 line, launched again in each of --rounds 3"
    assert " unisono-solver --nodes 64 --threads 1 " in line
    assert "Building" not in done.stderr and list(tmp_path.iterdir()) == []


def test_a_mesh_that_no_memory_holds_is_refused_first() -> None:
    """Also by --dry-run; it is likely that the number was meant as something else."""
    said = refused(unisono("hybrid", "--size", "5000", "--dry-run"))
    assert "--size 5000: 125,000,000,000 nodes of the mesh take at least 243,000 GB" in said


def test_only_what_cannot_be_is_refused() -> None:
    here = machine(1, 1, 2).model_copy(update={"memory_bytes": 10**9})
    check_memory("80", here, 1)
    check_memory("100", here, 2)
    check_memory("10x10x5000", here, 1)
    check_memory("9999", here.model_copy(update={"memory_bytes": 0}), 1)
    for size in ("81", "100x100x100"):
        with pytest.raises(UserError, match=f"--size {size}: .* there are 1 GB"):
            check_memory(size, here, 1)
