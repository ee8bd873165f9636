"""Raw profiles under a coverage-guided fuzzer: python -m tests.native.fuzz_raw, with libFuzzer's own options.

Whatever the bytes are: a profile that is sound, or one line of what is wrong."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["unisono.profile"]):
    from unisono.core.errors import UserError
    from unisono.profile.check import problem
    from unisono.profile.raw import Place, read_raw
    from unisono.profile.rawfile import MAGIC
    from unisono.profile.recorded import Frame


def _named(places: Sequence[Place]) -> list[tuple[Frame, ...]]:
    return [(Frame(f"f{offset:x}", path, offset),) for path, offset in places]


def main() -> None:
    """Runs until libFuzzer's options say so; ends the process."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        path = Path(folder) / "run.raw"

        def judge(data: bytes) -> None:
            path.write_bytes(data if data[:3] == MAGIC[:3] else MAGIC + data)
            try:
                profile = read_raw([path], _named)
            except UserError as error:
                assert "\n" not in str(error) and str(path) in str(error), str(error)
                return
            assert problem(profile) == "", problem(profile)

        atheris.Setup(sys.argv, judge)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
