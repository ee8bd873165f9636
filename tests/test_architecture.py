"""docs/architecture.md is true: no package imports one above it, and every arrow of the picture is an import."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from fnmatch import fnmatch
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "unisono"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
OF_PACKAGES = PAGE.partition("## Packages")[2].partition("Folders inside")[0]
"""The part with their picture and their table."""


def layers() -> list[tuple[str, ...]]:
    """The table's rows, top to bottom."""
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", OF_PACKAGES, re.MULTILINE)
    return [tuple(re.findall(r"`(\w+)`", row)) for row in rows]


def package(path: Path) -> str:
    """Of a module: its folder in src/unisono, or itself where it stands there."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


PACKAGES = sorted({package(path) for path in SOURCE.rglob("*.py")} - {"__init__"})


@cache
def imports() -> dict[str, set[str]]:
    """Package -> the packages it imports, also inside functions. Seconds: not for whoever only collects tests."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        imported = found[package(path)]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                whole = node.module == "unisono"
                names = [f"unisono.{name.name}" for name in node.names] if whole else [node.module]
            elif isinstance(node, ast.Import):
                names = [name.name for name in node.names]
            parts = [name.split(".") for name in names]
            imported.update(p[1] for p in parts if p[0] == "unisono" and len(p) > 1)
    return {name: others - {name, "__version__"} for name, others in found.items() if name != "__init__"}


def test_every_package_has_its_place() -> None:
    named = [name for row in layers() for name in row]
    assert sorted(named) == PACKAGES


def _files() -> list[Path]:
    """Of the repository: those that Git has, or in a copy without Git what its .gitignore leaves."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [Path(name) for name in listed.stdout.splitlines()]
    ignored = [".git", *(line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines())]
    found: list[Path] = []
    for folder, inside, files in os.walk(ROOT):
        here = Path(folder).relative_to(ROOT)
        hidden = [name for name in inside for rule in ignored if fnmatch(name, rule) or fnmatch(str(here / name), rule)]
        inside[:] = [name for name in inside if name not in hidden]
        found += [here / name for name in files]
    return found


def test_every_folder_of_files_is_named_once() -> None:
    """Of C, of what lies within the packages, and of the repository. Deeper folders belong to one of these."""
    folders = {path.parts[:-1] for path in _files()}
    native = {"/".join(each[:depth]) for each in folders if each[:1] == ("native",) for depth in (2, 3)} - {"native"}
    within = {"/".join(each[2:4]) for each in folders if each[:2] == ("src", "unisono") and len(each) > 3}
    others = {each[0] for each in folders if each} - {"native", "src", ".ci"}
    rows = re.findall(r"^\| (`[\w/]+`(?:, `[\w/]+`)*) \|", PAGE, re.MULTILINE)
    named = Counter(name for row in rows for name in re.findall(r"`([\w/]+)`", row))
    for name in sorted(native | within | others):
        assert named[name] == 1, f"docs/architecture.md names the folder {name} {named[name]} times"


@pytest.mark.parametrize("name", PACKAGES)
def test_no_package_imports_one_above_it(name: str) -> None:
    height = {name: -number for number, row in enumerate(layers()) for name in row}
    above = {other for other in imports()[name] if height[other] > height[name]}
    assert not above, f"{name} imports {', '.join(sorted(above))}, which docs/architecture.md has above it"


def test_rows_of_several_packages_have_no_circle() -> None:
    for row in layers():
        reached = {name: set(imports()[name]) & set(row) for name in row}
        for _ in row:
            reached = {
                name: set().union(others, *(reached[other] for other in others)) for name, others in reached.items()
            }
        assert not [name for name in row if name in reached[name]]


def test_no_name_of_a_module_says_nothing() -> None:
    """Several files of one such name are told apart by their folders alone."""
    empty = ("model", "models", "utils", "common", "build", "rules", "copies", "state")
    named = [str(path) for path in SOURCE.rglob("*.py") if path.stem in empty]
    assert named == [str(SOURCE / "export" / "formats" / "rules.py")]  # as --format calls it


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("core", set()),
        ("launch", {"core"}),
        ("machine", {"core", "mpi"}),  # `mpi` for the description alone, see below
    ],
)
def test_packages_of_one_thing_import_no_other(name: str, allowed: set[str]) -> None:
    """The vocabulary needs nothing, launches know processes alone, and the machine is hardware."""
    assert imports()[name] <= allowed


def test_hardware_asks_no_software() -> None:
    """Programs are asked, and MPIs looked for, in `inventory`; a machine's description only has a place for them."""
    words = ("unisono.mpi", "unisono.core.asking", "subprocess")
    asking = [
        path.name
        for path in (SOURCE / "machine").glob("*.py")
        if any(f"import {word}" in text or f"from {word}" in text for text in [path.read_text()] for word in words)
    ]
    assert asking in ([], ["description.py"])


def test_files_are_short_enough_to_be_read() -> None:
    kinds = ("*.py", "*.c", "*.h")
    found = {
        str(path.relative_to(ROOT))
        for folder in ("src", "native", "tests", "tools", "benchmarks")
        for kind in kinds
        for path in (ROOT / folder).rglob(kind)
        if len(path.read_text(encoding="utf-8").splitlines()) > 400
    }
    assert not found


def test_arrows_of_the_picture_are_imports() -> None:
    picture = re.search(r"```mermaid\n(.*?)```", OF_PACKAGES, re.DOTALL)
    assert picture is not None
    count = 0
    for line in picture[1].splitlines():
        stations = [re.findall(r"\w+", part) for part in line.split(" --> ")]
        if len(stations) < 2 or "-." in line:
            continue
        for sources, targets in pairwise(stations):
            for source in sources:
                assert set(targets) <= imports()[source], f"{source} imports no {targets}"
                count += 1
    assert count > 10


def test_what_is_added_to_is_there() -> None:
    """Files that a newcomer is sent to: of the repository, or of src/unisono."""
    how = PAGE.partition("## How to add")[2]
    named = re.findall(r"`([\w.*/]+/[\w.*]+)`", how)
    assert len(named) > 15
    missing = [name for name in named if not [*ROOT.glob(name), *SOURCE.glob(name)]]
    assert not missing


def test_commands_start_without_scipys_statistics() -> None:
    """They take half a second to import, which every command would take longer to start."""
    names = sorted(path.stem for path in (SOURCE / "commands").glob("[a-z]*.py"))
    assert len(names) > 20
    imports = "; ".join(f"import unisono.commands.{name}" for name in names)
    line = f"import sys; {imports}; sys.exit('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", line], timeout=60, check=False).returncode == 0


@pytest.mark.parametrize("module", ["reading", "looking_up", "applying", "profiling"])
def test_short_commands_do_without_numpy(module: str) -> None:
    """It takes as long to load as they take altogether."""
    code = f"import sys, unisono.commands.{module}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
