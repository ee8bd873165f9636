"""Job scripts and what squeue says, without a Slurm; tests/cluster/test_slurm.py has a real one."""

from __future__ import annotations

import json
import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from unisono.inventory.scheduler import parse_left, seconds_left
from unisono.submit.scheduler import Request, Seen
from unisono.submit.slurm import Slurm, parse

WORDS = st.lists(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\r"), max_size=12))
SHOW = "import json, sys; print(json.dumps(sys.argv[1:]))"


@settings(max_examples=20, deadline=None)
@given(WORDS)
def test_every_word_reaches_the_program_as_it_is(words: list[str]) -> None:
    script = Slurm().script(
        Request("unisono-0-2-1", 2, 3600, [sys.executable, "-c", SHOW, "$(x) `y` 'z' \"%j", *words])
    )
    done = subprocess.run(["sh"], input=script.encode(), capture_output=True, check=True, timeout=30)
    assert json.loads(done.stdout) == ["$(x) `y` 'z' \"%j", *words]


def test_nobodys_words_are_in_the_lines_for_sbatch() -> None:
    script = Slurm().script(Request("unisono-0-2-1", 2, 90, ["x", "\n#SBATCH --nodes=99"]))
    options = [line for line in script.splitlines() if line.startswith("#SBATCH")]
    asked = options[: next(i for i, line in enumerate(script.splitlines()[1:]) if not line.startswith("#SBATCH"))]
    assert "#SBATCH --nodes=2" in asked
    assert "#SBATCH --time=2" in asked
    assert "#SBATCH --nodes=99" not in asked


def test_squeue_is_understood() -> None:
    said = (
        "7|PENDING|1:00:00|Resources\n8|RUNNING|59:01|None\n9|TIMEOUT|0:00|TimeLimit\n10|CANCELLED|2:00|None\n"
        "11|COMPLETING|0:10|None\n12|COMPLETED|1:00|None\nslurm_load_jobs error\n"
    )
    assert parse(said, {"7", "8", "9", "11"}) == {
        "7": Seen("waiting", "PENDING", "Resources", "1:00:00"),
        "8": Seen("running", "RUNNING", "", "59:01"),
        "9": Seen("ended", "TIMEOUT", "TimeLimit", "0:00"),
        "11": Seen("running", "COMPLETING", "", "0:10"),
    }


def test_the_end_of_the_job_is_known() -> None:
    assert seconds_left({}) is None
    assert seconds_left({"SLURM_JOB_ID": "7", "SLURM_JOB_END_TIME": "1000"}, now=400) == 600
    assert seconds_left({"SLURM_JOB_ID": "7", "SLURM_JOB_END_TIME": "1000"}, now=1400) == 0
    assert [parse_left(text) for text in ("1-02:03:04\n", "2:03:04", "3:04", "UNLIMITED", "INVALID", "")] == [
        93784, 7384, 184, None, None, None,
    ]  # fmt: skip
