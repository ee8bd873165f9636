"""What reads texts that others write, under libFuzzer with the address and undefined-behaviour sanitizers.

UNISONO_FUZZ_SECONDS: for each target (600). UNISONO_FUZZ_CORPUS: where inputs that reach new code are kept from night
to night, and those that fail (a folder `unisono-fuzz` in the user's cache). native/tests/fuzz/corpus has the first."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.profile.interception import toolchain
from tests.tally import Tally
from unisono.library.native import native_source, tool

SECONDS = int(os.environ.get("UNISONO_FUZZ_SECONDS", "600"))
pytestmark = [pytest.mark.nightly, pytest.mark.timeout(SECONDS + 900)]

TARGETS = ["rules", "topology", "switches", "filter", "environment", "system"]
CORPUS = native_source() / "tests" / "fuzz" / "corpus"
ROOT = Path(__file__).parents[2]
_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "unisono-fuzz"
KEPT = Path(os.environ.get("UNISONO_FUZZ_CORPUS", _CACHE))
_PIECE = 120
"""Seconds after which Atheris begins anew: what it counts in Python code takes 700 B more with every input, and without
it the same inputs take none, so the limit of memory would be its own."""
_EACH = ("-max_len=4096", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the targets, compiled by clang behind an MPI's mpicc."""
    if shutil.which("clang") is None:
        pytest.skip("no clang; `apt-get install clang libclang-rt-14-dev` brings it and libFuzzer")
    tools = toolchain("openmpi5")
    folder = tmp_path_factory.mktemp("fuzz")
    configure = [tool("cmake"), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", "-DUNISONO_FUZZ=ON"]
    configure += [f"-DCMAKE_C_COMPILER={tools.mpicc}", "-S", str(native_source()), "-B", str(folder)]
    for argv in (configure, [tool("cmake"), "--build", str(folder), "--target", "fuzz"]):
        environment = {**os.environ, "OMPI_CC": "clang", "CFLAGS": ""}  # those of tests/conftest.py are for GCC
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=800, check=False)
        if "libclang_rt.fuzzer" in done.stdout:
            pytest.skip("this clang has no libFuzzer; `apt-get install libclang-rt-14-dev` brings that of clang 14")
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return folder / "tests" / "fuzz"


@pytest.mark.parametrize("target", TARGETS)
def test_no_input_does_harm(target: str, built: Path, tally: Tally) -> None:
    _fuzz(tally, target, [str(built / f"fuzz_{target}")])


@pytest.mark.skipif(find_spec("atheris") is None, reason="no atheris; `pip install atheris` brings it")
def test_no_raw_profile_does_harm(tally: Tally) -> None:
    _fuzz(tally, "raw", [sys.executable, "-m", "tests.native.fuzz_raw"], _PIECE)


def _fuzz(tally: Tally, target: str, program: list[str], piece: int = SECONDS) -> None:
    kept, failed = KEPT / target, KEPT / f"{target}-failed"
    for folder in (kept, failed):
        folder.mkdir(parents=True, exist_ok=True)
    inputs = new = 0
    for begun in range(0, SECONDS, piece):
        seconds = min(piece, SECONDS - begun)
        argv = [*program, *_EACH, f"-max_total_time={seconds}", f"-artifact_prefix={failed}/"]
        argv += [str(kept), str(CORPUS / target)]
        done = subprocess.run(
            argv, cwd=ROOT, capture_output=True, text=True, errors="replace", timeout=seconds + 600, check=False
        )
        said = done.stdout + done.stderr
        assert done.returncode == 0, said[-8000:]
        runs = re.findall(r"stat::number_of_executed_units: (\d+)", said)
        added = re.findall(r"stat::new_units_added: +(\d+)", said)
        assert runs and added, said[-2000:]
        inputs, new = inputs + int(runs[0]), new + int(added[0])
    tally(f"fuzz {target}", inputs=inputs, kept_for_the_next_night=new)
    assert inputs > 10 * SECONDS
