"""Which programs mpirun looks for on this node: where ranks may be elsewhere, only mpirun knows what is there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from unisono.mpi.launchers.lines import Option, UserLine

_HARMLESS = (
    *("n", "np", "c", "N", "npernode", "npersocket", "pernode", "ppr", "map-by", "rank-by", "bind-to", "cpu-list"),
    *("cpu-set", "cpus-per-rank", "cpus-per-proc", "bynode", "byslot", "bycore", "bind-to-core", "bind-to-socket"),
    *("use-hwthread-cpus", "oversubscribe", "nooversubscribe", "allow-run-as-root", "report-bindings", "tag-output"),
    *("display-map", "display", "timeout", "stdin", "output", "quiet", "q", "verbose", "v"),
)
"""Options that leave alone on which nodes, in which directory and by which PATH a program is looked for. All others
might not."""
_OF_RANKS = ("coll", "pml", "btl", "mtl", "osc", "io", "smsc", "topo", "mpi", "opal_common", "mca_base_env_list")
"""How the MCA parameters begin that only the ranks read."""
_HOSTS = ("openmpi-default-hostfile", "prte-default-hostfile")


def sought_here(line: UserLine) -> list[str]:
    """[] where that may be elsewhere."""
    if not all(map(_is_harmless, line.options(*_names(line)))) or _has_hosts(line.argv[0]):
        return []
    return [context.program[0] for context in line.contexts]


def _names(line: UserLine) -> set[str]:
    return {option.name for context in line.contexts for option in context.options}


def _is_harmless(option: Option) -> bool:
    if option.name == "x":
        return option.values[0].partition("=")[0] != "PATH"
    if option.name in ("mca", "omca"):
        return option.values[0].startswith(_OF_RANKS) and "PATH=" not in option.values[1]
    return option.name in _HARMLESS and "file" not in "".join(option.values)  # --map-by rankfile:file=...


def _has_hosts(launcher: str) -> bool:
    """Whether the installation names nodes in a file of its own, or may."""
    found = shutil.which(launcher)
    roots = [Path(found).parents[1], Path(found).resolve().parents[1]] if found else []
    if "OPAL_PREFIX" in os.environ:
        roots.append(Path(os.environ["OPAL_PREFIX"]))
    folders = [*(root / "etc" for root in roots), *(root / "etc/openmpi" for root in roots), Path("/etc/openmpi")]
    return any(_names_some(folder / name) for folder in folders for name in _HOSTS)


def _names_some(path: Path) -> bool:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.partition("#")[0].strip() for line in lines)
