"""Reads damaged files one after the other in a process of its own, which may have only so much memory and time.

    python -m tests.fire.runner FOLDER FIRST COUNT [KIND]

prints a line of JSON for each that was neither read nor refused in one line: its kind, its seed, and what happened.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import signal
import sys
import traceback
import warnings
from collections import Counter
from pathlib import Path
from types import FrameType

from tests.fire.mutations import damage
from tests.fire.originals import ORIGINALS
from tests.fire.readers import NEVER_REFUSED, reader
from unisono.core.errors import UserError

MEMORY = 3 << 30
"""Address space in bytes; the libraries alone take one of them."""
PATIENCE = 60
"""Seconds of CPU time and wall time after which an input has hung us: a thousand times what the slowest takes."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise TimeoutError("it takes too long")


def attempt(name: str, seed: int, folder: Path) -> str:
    """What went wrong; "" when the file was read, "refused" when it was refused in one line, "otherwise" when a file
    that is never refused was not read as if it were whole."""
    path = folder / name.replace(" ", "-")
    original = folder / "original" / path.name
    shutil.copyfile(original, path)
    for left in folder.glob(f"{path.name}-*"):
        left.unlink()  # SQLite's own files
    damage(path, seed)
    before = path.read_bytes()
    signal.alarm(PATIENCE)
    try:
        read = reader(name)(path)
        if name in NEVER_REFUSED and read != NEVER_REFUSED[name](original):
            return "otherwise"
    except UserError as error:
        said = str(error)
        if "\n" in said or not said.strip():
            return f"is not one line: {said!r}"
        return "refused"
    except BaseException:  # noqa: BLE001
        return traceback.format_exc()
    finally:
        signal.alarm(0)
        if path.read_bytes() != before and not name.endswith(".db"):
            return "changed the file"  # noqa: B012
    return ""


def main(place: str, first: str, count: str, *only: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _stop)
    folder = Path(place)
    (folder / "original").mkdir(parents=True)
    names = [name for name in ORIGINALS if not only or name in only]
    for name in names:
        ORIGINALS[name](folder / "original" / name.replace(" ", "-"))
    outcomes: Counter[str] = Counter()
    for number in range(int(first), int(first) + int(count)):
        name = names[number % len(names)]
        found = attempt(name, number, folder)
        fine = {"": "read", "refused": "refused", "otherwise": "otherwise"}
        outcomes[fine.get(found, "failed")] += 1
        if found not in fine:
            print(json.dumps({"kind": name, "seed": number, "what": found}), flush=True)  # noqa: T201
    print(json.dumps(outcomes), flush=True)  # noqa: T201


if __name__ == "__main__":
    random.seed(0)
    main(*sys.argv[1:])
