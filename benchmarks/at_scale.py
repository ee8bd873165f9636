"""What the native library costs at a scale that is not launched here: memory of a rank and of a node.

    python -m benchmarks.at_scale                       1,000 nodes of 128 ranks, and 100,000 of one
    python -m benchmarks.at_scale 4000x64 200000x1      others
    python -m benchmarks.at_scale --mpicc PATH          with another MPI than the first one found

Builds `native/tests/at_scale.c`, which calls the library's own set-up and every algorithm on one rank of a world that
is pretended: functions of MPI are stand-ins, memory is counted where it is taken. Status 1 where a bound does not hold:
64 MiB a rank (288 MiB where it has a node to itself), 4 GiB a node, comparisons of ranks in proportion to them.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from unisono.core.errors import UserError
from unisono.inventory.describe import describe
from unisono.library.native import native_source

SHAPES = ("1000x128", "100000x1")
MEBIBYTE = 2**20


def shape(text: str) -> tuple[int, int]:
    """Nodes and ranks of each."""
    match = re.fullmatch(r"([1-9]\d{0,6})x([1-9]\d{0,3})", text)
    if match is None:
        raise UserError(f"{text!r} is no shape: write NODESxRANKS, for example {SHAPES[0]}")
    return int(match[1]), int(match[2])


def build(folder: Path, mpicc: str) -> Path:
    """The program."""
    configure = ["cmake", "-S", str(native_source()), "-B", str(folder), f"-DCMAKE_C_COMPILER={mpicc}"]
    configure.append("-DUNISONO_TESTS=ON")
    for argv in (configure, ["cmake", "--build", str(folder), "--target", "at_scale", "--parallel", "2"]):
        done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise UserError(f"at_scale could not be built with {mpicc}: {said[-1] if said else 'nothing was said'}")
    return folder / "tests" / "at_scale"


def measure(program: Path, nodes: int, ppn: int) -> tuple[list[tuple[str, int, int]], str]:
    """What, bytes a rank, bytes a node; and what did not hold, or nothing."""
    argv = [str(program), str(nodes), str(ppn)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False)
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 2]
    if not rows:
        raise UserError(f"{' '.join(argv)} ended with status {done.returncode}: {done.stderr.strip()[-200:]}")
    failed = done.stderr.strip() or f"status {done.returncode}" if done.returncode else ""
    return [(what, int(rank), int(node)) for what, rank, node in rows], failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", default=list(SHAPES), metavar="NODESxRANKS")
    parser.add_argument("--mpicc", help="the MPI's compiler (default: of the first MPI found)")
    options = parser.parse_args()
    console = Console(highlight=False)
    status = 0
    try:
        wanted = [shape(text) for text in options.shapes]
        mpi = describe().mpi
        mpicc = options.mpicc or (mpi.mpicc if mpi else None)
        if mpicc is None or shutil.which(mpicc) is None:
            raise UserError("no mpicc beside this machine's mpirun: name one with --mpicc")
        with tempfile.TemporaryDirectory() as folder:
            program = build(Path(folder), mpicc)
            for nodes, ppn in wanted:
                rows, failed = measure(program, nodes, ppn)
                table = Table("", "MiB a rank", "MiB a node", title=f"{nodes:,} nodes of {ppn} ranks")
                for what, rank, node in rows:
                    table.add_row(what, f"{rank / MEBIBYTE:.3f}", f"{node / MEBIBYTE:.1f}")
                console.print(table)
                if failed:
                    console.print(failed)
                    status = 1
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
