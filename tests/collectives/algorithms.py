"""All algorithms by name, and where each of them applies: for tests that try every one."""

from __future__ import annotations

import re
from pathlib import Path

from unisono.core.vocabulary import DISPATCHED

NAMES: list[str] = re.findall(
    r"\((\w+)\)", (Path(__file__).parents[2] / "native" / "collectives" / "algorithms.def").read_text()
)
BLOCKING = [name for name in NAMES if not name.endswith("_posted")]
"""Those of nonblocking calls serve no long messages, nor where the MPI goes on when ranks fail."""
RANKS = 4
"""With so many ranks every algorithm applies in one of places()."""


def parted(algorithm: str) -> tuple[str, str]:
    """The collective, and what the algorithm is called among those of that collective."""
    collective = max((name for name in DISPATCHED if algorithm.startswith(f"{name}_")), key=len)
    return collective, algorithm.removeprefix(f"{collective}_")


def forced(algorithm: str) -> dict[str, str]:
    """The variables with which it serves wherever it applies."""
    collective, name = parted(algorithm)
    ordered = {"UNISONO_REPRODUCIBLE": "placement"} if name.endswith("_ordered") else {}
    return {"UNISONO_FORCE": f"{collective}=unisono/{name}", **ordered}


def places(folder: Path) -> dict[str, dict[str, str]]:
    """Where ranks are made to be, by variables; files of theirs are in `folder`."""
    found: dict[str, dict[str, str]] = {"one node": {}, "domains": {"UNISONO_FAKE_NUMA": "3,1/2,1"}}
    for name, nodes, grid in (("two nodes", "2", "grid 2 torus"), ("four nodes", "1", "grid 2x2 torus")):
        (folder / f"grid{nodes}").write_text(f"{grid}\n")
        found[name] = {"UNISONO_FAKE_NODES": nodes, "UNISONO_TOPOLOGY": str(folder / f"grid{nodes}")}
    return found
