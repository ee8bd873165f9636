"""subprocess.run for a launcher."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from unisono.launch.failure import STUMBLES, stumbled


def launched(
    argv: Sequence[str | Path], *, cwd: Path | None = None, env: dict[str, str] | None = None, timeout: float
) -> subprocess.CompletedProcess[str]:
    """To its end, as text; asked again, as Unisono does, where mpirun failed by chance before it started anything."""
    for _ in range(STUMBLES):
        done = subprocess.run(
            argv, cwd=cwd, env=env, capture_output=True, text=True, errors="replace", timeout=timeout, check=False
        )
        if done.returncode == 0 or not stumbled(done.stderr):
            break
    return done
