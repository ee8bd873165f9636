"""Jobs of Flux, from outputs as its documents have them: no Flux is here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisono.core.errors import UserError
from unisono.inventory.hosts import job_nodes
from unisono.inventory.scheduler import read_scheduler, seconds_left
from unisono.machine.description import Node
from unisono.submit.flux import Flux, parse
from unisono.submit.scheduler import Request, Seen

IN_BATCH = {"FLUX_URI": "local:///run/flux/local", "FLUX_ENCLOSING_ID": "ƒM7Zq9AKHno"}
JOBS = """\
13835058055282163712|RUN|0:59:01|
7|PENDING|0:00:00|no cores available
8|COMPLETED|0:00:00|
9|CANCELED||
10|TIMEOUT||
11|SCHED||
"""


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program `flux`: `flux WORD ...` answers with WORD.out, or fails with WORD.err, and keeps what it was asked."""
    (tmp_path / "flux").write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$PWD" "$@" > {tmp_path}/$1.asked\n'
        f"if [ -e {tmp_path}/$1.err ]; then cat {tmp_path}/$1.err >&2; exit 1; fi\ncat {tmp_path}/$1.out\n"
    )
    (tmp_path / "flux").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


@settings(max_examples=10, deadline=None)
@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\r"), max_size=12)))
def test_every_word_reaches_the_program_as_it_is(words: list[str]) -> None:
    show = "import json, sys; print(json.dumps(sys.argv[1:]))"
    awkward = ["$(x) `y` 'z' \"{{id}}", "\n#flux: --nodes=99", "'\n'"]
    script = Flux().script(Request("unisono-0-2-1", 2, 5400, [sys.executable, "-c", show, *awkward, *words]))
    done = subprocess.run(["sh"], input=script.encode(), capture_output=True, check=True, timeout=30)
    assert json.loads(done.stdout) == [*awkward, *words]
    options = [line for line in script.splitlines() if re.match(r"\W*flux:", line, re.IGNORECASE)]
    assert options == script.splitlines()[1 : len(options) + 1]
    assert {"#flux: --nodes=2", "#flux: --exclusive", "#flux: --time-limit=90m"} < set(options)


def test_a_job_is_submitted_from_its_folder_with_the_users_options(said: Path) -> None:
    (said / "batch.out").write_text("ƒM7Zq9AKHno\n")
    (said / "job.out").write_text("13835058055282163712\n")
    (said / "job").mkdir()
    script = said / "job" / "job.sh"
    assert Flux().submit(script, ["-q", "large one"]) == "13835058055282163712"
    folder = str(said / "job")
    assert (said / "batch.asked").read_text().splitlines() == [
        folder, "batch", "-q", "large one", f"--cwd={folder}", str(script),
    ]  # fmt: skip
    assert (said / "job.asked").read_text().splitlines()[1:] == ["job", "id", "--to=dec", "ƒM7Zq9AKHno"]
    (said / "batch.err").write_text("flux-batch: ERROR: [Errno 22] Requested nodes exceeds available\n")
    with pytest.raises(UserError, match="exceeds available"):
        Flux().submit(script, [])


def test_states_are_understood(said: Path) -> None:
    (said / "jobs.out").write_text(JOBS)
    assert Flux().look(["13835058055282163712", "7", "8", "10", "11", "99"]) == {
        "13835058055282163712": Seen("running", "RUN", "", "0:59:01"),
        "7": Seen("waiting", "PENDING", "no cores available", ""),
        "8": Seen("ended", "COMPLETED"),
        "10": Seen("ended", "TIMEOUT"),
        "11": Seen("waiting", "SCHED"),
        "99": Seen("ended", ""),
    }
    (said / "jobs.out").write_text("9\n12\n")
    assert Flux().find("unisono-0-2-1") == "12"
    assert "--name=unisono-0-2-1" in (said / "jobs.asked").read_text().splitlines()
    (said / "jobs.err").write_text("flux-jobs: ERROR: Unable to connect to Flux\n")
    with pytest.raises(UserError, match=r"Unable to connect.*jobs go on: continue later with --resume"):
        Flux().look(["7"])


@settings(max_examples=20, deadline=None)
@given(st.text(), st.sets(st.text()))
def test_no_answer_is_a_traceback(text: str, ids: set[str]) -> None:
    assert parse(text, ids).keys() <= ids


def test_a_batch_script_knows_its_nodes_and_its_end(said: Path) -> None:
    (said / "resource.out").write_text("n[0-1],login 3 36\n")
    (said / "job.out").write_text("3540\n")
    assert job_nodes(IN_BATCH) == [Node(host=name, slots=12) for name in ("n0", "n1", "login")]
    assert seconds_left(IN_BATCH) == 3540
    assert (read_scheduler(IN_BATCH).name, read_scheduler(IN_BATCH).inside_job) == ("flux", True)
    assert job_nodes({**IN_BATCH, "FLUX_JOB_ID": "ƒ1"}) == []
    (said / "resource.out").write_text("flux-resource: ERROR\n")
    (said / "job.out").write_text("4294967295\n")
    assert job_nodes(IN_BATCH) == []
    assert seconds_left(IN_BATCH) is None
