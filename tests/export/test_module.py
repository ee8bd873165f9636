"""Modulefiles: read back by our reader, and by Lua and Tcl themselves with a module system's words defined."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tuning.samples import machine, tuning
from unisono.core.errors import UserError
from unisono.export import edited, export, modulefile
from unisono.export.carried import carried
from unisono.export.content import content_of
from unisono.parameters.spelling import require_mpi

NAMES = st.from_regex(r"[A-Z_][A-Z0-9_]{0,9}", fullmatch=True)
VALUES = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), max_size=20)
NASTY = {"A": 'a "b" c', "B": "$HOME [exit] {", "C": "}\\", "D": "", "E": "it's; ~*"}

_LUA = """
local set = {}
function mode() return "load" end
function help() end
whatis, family = help, help
function isFile(path) local f = io.open(path); if f then f:close() end; return f ~= nil end
function capture(line) local p = io.popen(line); local said = p:read("*a"); p:close(); return said end
function LmodError(text) io.stderr:write(text, "\\n"); os.exit(1) end
function pushenv(name, value) io.write(name, "\\0", value, "\\0") end
dofile(arg[1])
"""

_TCL = """
fconfigure stdout -encoding utf-8
proc module-whatis {args} {}
proc conflict {args} {}
proc module-info {args} { return 1 }
proc setenv {name value} { puts -nonewline "$name\\0$value\\0" }
if {[catch {source -encoding utf-8 [lindex $argv 0]} said]} { puts stderr $said; exit 1 }
"""


def loaded(language: str, file: Path, folder: Path, path: str) -> tuple[int, dict[str, str], str]:
    """Exit status, what was set, and what was said, by the language itself; `path` has the launcher."""
    program = shutil.which("tclsh" if language == "tcl" else "lua")
    if program is None:
        pytest.skip(f"no {'tclsh' if language == 'tcl' else 'lua'} on PATH to load a modulefile with")
    words = folder / f"words.{language}"
    words.write_text(_TCL if language == "tcl" else _LUA)
    done = subprocess.run([program, words, file], capture_output=True, env={"PATH": path}, timeout=60, check=False)
    fields = done.stdout.decode().split("\0")
    return done.returncode, dict(zip(fields[:-1:2], fields[1::2], strict=True)), done.stderr.decode()


def a_launcher(folder: Path, said: str) -> str:
    """A PATH on which mpirun answers so."""
    folder.mkdir()
    (folder / "mpirun").write_text(f"#!/bin/sh\necho '{said}'\n")
    (folder / "mpirun").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@given(values=st.dictionaries(NAMES, VALUES), comments=st.lists(VALUES, max_size=2))
def test_what_loading_sets_is_read_back(values: Mapping[str, str], comments: list[str]) -> None:
    mpi = require_mpi(machine())
    assert modulefile.read_lua(modulefile.write_lua(values, mpi, comments, ["/a b"]), "f") == values
    assert modulefile.read_tcl(modulefile.write_tcl(values, mpi, comments, ["/a b"]), "f") == values


@pytest.mark.parametrize(("language", "file"), [("lua", "unisono-tuning.lua"), ("tcl", "unisono-tuning")])
def test_the_measured_mpi_gets_it_and_others_are_refused(language: str, file: str, tmp_path: Path) -> None:
    document, directory = tuning(), tmp_path / "it's [a] $place"
    one = document.plan[0]
    export(document, "module", one, machine(), directory)
    wanted = carried(content_of(document, one, machine(), directory)).variables
    same = a_launcher(tmp_path / "same", "mpirun (Open MPI) 5.0.11")
    other = a_launcher(tmp_path / "other", "mpirun (Open MPI) 5.0.1")
    status, found, said = loaded(language, directory / file, tmp_path, same)
    assert (status, found) == (0, wanted), said
    status, found, said = loaded(language, directory / file, tmp_path, other)
    # Outside of a module system Tcl's `break` is an error of its own: what matters is that nothing was set.
    assert (status, found) == (1, {})
    assert "this tuning is of Open MPI 5.0.11; load that MPI first: mpirun is of version 5.0.1" in said
    (directory / "openmpi-rules.conf").unlink()
    status, found, said = loaded(language, directory / file, tmp_path, same)
    assert (status, found) == (1, {})
    assert "openmpi-rules.conf cannot be read" in said


@pytest.mark.parametrize("language", ["lua", "tcl"])
def test_values_are_what_the_language_itself_reads(language: str, tmp_path: Path) -> None:
    mpi = require_mpi(machine())
    write = modulefile.write_tcl if language == "tcl" else modulefile.write_lua
    file = tmp_path / "module"
    file.write_text(write(NASTY, mpi, ["{ it's ]] \\"], []))
    path = a_launcher(tmp_path / "bin", "mpirun (Open MPI) 5.0.11")
    status, found, said = loaded(language, file, tmp_path, path)
    assert (status, found) == (0, NASTY), said


def test_an_edited_modulefile_is_noticed_and_one_broken_by_hand_is_refused(tmp_path: Path) -> None:
    document = tuning()
    export(document, "module", document.plan[0], machine(), tmp_path)
    assert edited("module", tmp_path) == []
    path = tmp_path / "unisono-tuning.lua"
    path.write_text(path.read_text().replace("16kb", "32kb"))
    assert edited("module", tmp_path) == [path]
    with pytest.raises(UserError, match=r"f: line 2: .*does not set one variable"):
        modulefile.read_lua('--\npushenv("A", b)\n', "f")
    with pytest.raises(UserError, match=r"f: line 1: .*does not set one variable"):
        modulefile.read_tcl("setenv A $b\n", "f")


def test_every_launcher_says_its_version_as_scripts_look_for_it() -> None:
    import re

    from unisono.mpi import FAMILIES, family

    said = {
        "openmpi": ["mpirun (Open MPI) 5.0.11", "mpirun.openmpi (OpenRTE) 5.0.11"],
        "mpich": ["HYDRA build details:\n    Version:                                 5.0.11\n    Release Date: x"],
        "intel": [
            "Intel(R) MPI Library for Linux* OS, Version 5.0.11 Build 20260626 (id: b44796a)\nCopyright 2003-2026"
        ],
    }
    assert sorted(said) == sorted(one.FAMILY for one in FAMILIES)
    for name, answers in said.items():
        regexp, sed = family(name).VERSION_IN_TCL, family(name).VERSION_IN_SED
        for answer in answers:
            match = re.search(regexp, answer)
            assert match is not None and match[1] == "5.0.11", answer
            done = subprocess.run(
                ["sed", "-n", f"s/{sed}/\\1/p"], input=answer, capture_output=True, text=True, check=True
            )
            assert done.stdout.split("\n")[0] == "5.0.11", json.dumps(answer)
