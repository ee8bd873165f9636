"""Writes the wrappers of libunisono.so: functions.txt says what to record, the compiler's mpi.h how it is declared.

    generate.py --table functions.txt --out DIRECTORY -- mpicc [options]

writes functions.h (a number for each function), functions.c (their names), wrappers.c (the C symbols), below.c (PMPI_X,
for the shared library only, with wrap.txt for its linker) and fortran_wrappers.c (the Fortran symbols; Open MPI only).
Python 3.10 or later, standard library only.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from c_wrappers import below, entry, wrapper
from fortran_wrappers import fortran_wrapper, has_08_symbol
from mpi_h import Function, declarations, functions

LIFE = ("Init", "Init_thread", "Finalize", "Abort")
"""What life.c wraps."""
GENERATED = "/* Made by generate.py from functions.txt and mpi.h. */\n"


def write(out: Path, found: list[Function], life: list[Function]) -> None:
    numbers = "".join(f"    F_{function.name},\n" for function in found)
    (out / "functions.h").write_text(
        f"{GENERATED}#ifndef UNISONO_FUNCTIONS_H\n#define UNISONO_FUNCTIONS_H\n\n"
        f"enum function {{\n    F_NONE,\n{numbers}    FUNCTIONS\n}};\n\n"
        '/* Their C names; [F_NONE] is "". */\nextern const char *const function_names[FUNCTIONS];\n\n#endif\n'
    )
    names = "".join(f'    "MPI_{function.name}",\n' for function in found)
    (out / "functions.c").write_text(
        f'{GENERATED}#include "functions.h"\n\nconst char *const function_names[FUNCTIONS] = {{\n    "",\n{names}}};\n'
    )
    wrappers = "".join(map(wrapper, found)) + "".join(map(entry, life))
    (out / "wrappers.c").write_text(f'{GENERATED}#include "intercept.h"\n#include "life.h"\n{wrappers}')
    profiled = "".join(map(below, [*found, *life]))
    (out / "below.c").write_text(f'{GENERATED}#include "intercept.h"\n{profiled}')
    (out / "wrap.txt").write_text("".join(f"-Wl,--wrap=PMPI_{function.name}\n" for function in [*found, *life]))
    small = [function for function in found if not function.name.endswith("_c")]
    bindings = "".join(fortran_wrapper(function, False) for function in small)
    f08 = "".join(fortran_wrapper(function, True) for function in small if has_08_symbol(function))
    (out / "fortran_wrappers.c").write_text(
        f'{GENERATED}#include "fortran.h"\n#include "intercept.h"\n\n#ifdef OPEN_MPI\n{bindings}#endif\n{f08}'
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--table", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("compiler", nargs="+")
    given = options.parse_args()
    declared = declarations(given.compiler)
    if "Send" not in declared:
        sys.exit(f"{' '.join(given.compiler)}: its mpi.h declares no MPI_Send")
    given.out.mkdir(parents=True, exist_ok=True)
    life = [Function(name, "life", name.lower(), declared[name]) for name in LIFE]
    write(given.out, functions(given.table.read_text(), declared), life)


if __name__ == "__main__":
    main()
