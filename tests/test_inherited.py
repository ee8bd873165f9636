"""The tests hold wherever they are started: also where signals are ignored."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.inherited import NEEDED

STARTS = (
    "import subprocess, sys\n"
    "from tests.inherited import receive_ignored_signals\n"
    "receive_ignored_signals()\n"
    "import os; os.kill(os.getpid(), {number})\n"
    "sys.exit(subprocess.run(['sh', '-c', 'kill -{number} $$; exit 7']).returncode != -{number})\n"
)


@pytest.mark.parametrize("number", NEEDED)
def test_a_program_receives_what_we_ignore(number: signal.Signals) -> None:
    line = f"trap '' {int(number)}; exec \"$@\""
    code = STARTS.format(number=int(number))
    done = subprocess.run(["sh", "-c", line, "sh", sys.executable, "-c", code], timeout=60, check=False)
    assert done.returncode == 0
