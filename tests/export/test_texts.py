"""The small formats: MCA and UCX configuration, shell script, mpirun arguments."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unisono.core.errors import UserError
from unisono.export import arguments, keyval, shell

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,15}", fullmatch=True)
VALUES = st.text(st.characters(exclude_categories=("C", "Zl", "Zp")), max_size=20)
COMMENTS = st.lists(VALUES, max_size=3)
NASTY = {"A": "a b", "B": "it's", "C": '"$HOME"`id`;\\', "D": "", "E": "*", "F": "~"}


@pytest.mark.parametrize("write", [keyval.write_mca, keyval.write_ucx])
@given(values=st.dictionaries(NAMES, VALUES.map(str.strip)), comments=COMMENTS)
def test_key_value_files_are_read_back_the_same(
    write: Callable[[Mapping[str, str], Sequence[str]], str], values: dict[str, str], comments: list[str]
) -> None:
    assert keyval.read(write(values, comments), "f") == values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = 1\nb\n", "line 2: 'b' is not `name = value`"),
        ("a = 1\n# x\na = 2\n", "line 3: a is there twice"),
        ("= 2", "line 1"),
    ],
)
def test_a_key_value_file_broken_by_hand(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        keyval.read(text, "f")


@given(values=st.dictionaries(NAMES, VALUES), comments=COMMENTS)
def test_what_a_script_exports_is_read_back(values: dict[str, str], comments: list[str]) -> None:
    assert shell.read(shell.write(values, comments), "f") == values


@given(words=st.lists(VALUES), comments=COMMENTS)
def test_arguments_are_read_back(words: list[str], comments: list[str]) -> None:
    assert arguments.read(arguments.write(words, comments), "f") == words


@given(st.text())
def test_any_text_is_read_or_refused_with_its_line(text: str) -> None:
    for read in (keyval.read, shell.read, arguments.read):
        try:
            read(text, "f")
        except UserError as error:
            assert str(error).startswith("f: line ")


def test_arguments_broken_by_hand() -> None:
    with pytest.raises(UserError, match="line 3: there is one line of arguments"):
        arguments.read("# x\n--a\n--b\n", "f")
    with pytest.raises(UserError, match="line 1: No closing quotation"):
        arguments.read("--a 'b\n", "f")


def test_a_script_broken_by_hand() -> None:
    with pytest.raises(UserError, match=r"line 2: .*more than one word"):
        shell.read("# x\nexport A=b c\n", "f")


SHELLS = [name for name in ("sh", "bash", "dash", "zsh", "ksh") if shutil.which(name)]


def run_in(shell_name: str, script: str, env: dict[str, str]) -> str:
    done = subprocess.run(
        [shell_name, "-u", "-e", "-c", script], env={"PATH": os.environ["PATH"], **env}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("shell_name", SHELLS)
def test_sourcing_sets_exactly_these_values(shell_name: str, tmp_path: Path) -> None:
    path = tmp_path / "env.sh"
    path.write_text(shell.write(NASTY, ["it's $(touch hacked)"]))
    out = run_in(shell_name, f". '{path}'; env -0", {"A": "old"})
    found = dict(item.split("=", 1) for item in out.split("\0") if "=" in item)
    assert {name: found[name] for name in NASTY} == NASTY


@pytest.mark.parametrize("shell_name", SHELLS)
@pytest.mark.parametrize("times", [1, 2])
def test_it_can_be_undone_also_after_sourcing_it_twice(shell_name: str, times: int, tmp_path: Path) -> None:
    path = tmp_path / "env.sh"
    path.write_text(shell.write({"A": "1", "B": "2", "C": "3"}))
    source = f". '{path}'; " * times
    script = (
        f"set; echo ----; {source} unisono_off; echo $A/$B/${{C-unset}}; set\n"
        "if command -v unisono_off; then exit 1; fi"
    )
    before, after = run_in(shell_name, script, {"A": "old one", "B": ""}).split("----\n", 1)
    assert after.splitlines()[0] == "old one//unset"
    # Values are of no interest: folders have any name, this project's too.
    # The shells' own; _AST_FEATURES is the Korn shell's.
    assert _names(after) - _names(before) <= {"_", "PIPESTATUS", "_AST_FEATURES"}


def _names(listed: str) -> set[str]:
    """Of the variables and functions that `set` lists."""
    return {match[1] for match in re.finditer(r"^(\w+)(?:=| *\(\))", listed, re.MULTILINE)}


def test_a_missing_rules_file_is_announced_when_sourcing(tmp_path: Path) -> None:
    path = tmp_path / "env.sh"
    path.write_text(shell.write({"A": "1"}, needs=[str(tmp_path / "it's gone")]))
    done = subprocess.run(["sh", "-c", f". '{path}'; echo $A"], capture_output=True, text=True)
    assert done.stdout == "1\n"
    assert "it's gone cannot be read" in done.stderr
