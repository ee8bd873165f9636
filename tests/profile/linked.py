"""Programs that are linked with a library of an MPI's name."""

from __future__ import annotations

import subprocess
from pathlib import Path


def linked_with(folder: Path, name: str = "libmpi.so.40") -> Path:
    """A program in a new folder with a RUNPATH of its own to a library of this name beside it, in lib."""
    library, program = folder / "lib" / name, folder / "app"
    library.parent.mkdir(parents=True)
    (folder / "none.c").write_text("int MPI_None(void) { return 0; }\n")
    (folder / "uses.c").write_text("int MPI_None(void);\nint main(void) { return MPI_None(); }\n")
    shared = ["-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", str(library), str(folder / "none.c")]
    linked = [str(folder / "uses.c"), str(library), f"-Wl,-rpath,{library.parent}", "-o", str(program)]
    for words in (shared, linked):
        subprocess.run(["gcc", *words], check=True, timeout=60)
    return program
