"""Job scripts, and what qsub, qstat and pbsnodes say, without a PBS: outputs as its documents have them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from unisono.core.errors import UserError
from unisono.inventory.scheduler import seconds_left
from unisono.submit.pbs import Pbs, node_cpus, parse
from unisono.submit.scheduler import Request, Seen

NODES = {
    "timestamp": 1479277336,
    "nodes": {
        "n0": {"state": "free", "resources_available": {"ncpus": 36, "host": "n0"}},
        "n1": {"state": "job-exclusive", "resources_available": {"ncpus": 36}},
        "n2": {"state": "down,offline", "resources_available": {"ncpus": 128}},
        "n3": {"state": "offline", "resources_available": {"ncpus": 128}},
        "gpu": {"state": "free", "resources_available": {"ncpus": 64}},
    },
}
JOBS = {
    "Jobs": {
        "1.vbox": {
            "Job_Name": "unisono-0-2-1",
            "job_state": "Q",
            "comment": "Not Running: Insufficient amount of resource: ncpus ",
            "Resource_List": {"walltime": "01:00:00", "select": "2:ncpus=36"},
        },
        "2.vbox": {
            "job_state": "R",
            "comment": "Job run at Fri Nov 11 at 17:57",
            "Resource_List": {"walltime": "36:00:00"},
            "resources_used": {"walltime": "00:00:59"},
        },
        "3.vbox": {"job_state": "F", "Exit_status": 271},
        "44[].vbox": {"job_state": "B"},
    }
}
QSTAT = """Job Id: 2.vbox
    Job_Name = unisono-0-2-1
    resources_used.cput = 00:10:00
    resources_used.walltime = 00:10:00
    job_state = R
    Resource_List.ncpus = 72
    Resource_List.walltime = 01:00:00
"""


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that answer with the file of their name, and keep what they were asked and where."""
    for name in ("qsub", "qstat", "qselect", "pbsnodes"):
        program = tmp_path / name
        program.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$PWD" "$@" > {tmp_path}/{name}.asked\n'
            f"cat {tmp_path}/{name}.out\ncat {tmp_path}/{name}.err >&2 2>/dev/null\n"
            f"exit $(cat {tmp_path}/{name}.status 2>/dev/null || echo 0)\n"
        )
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "pbsnodes.out").write_text(json.dumps(NODES))
    return tmp_path


def test_the_script_asks_for_whole_nodes_as_most_of_them_are(said: Path) -> None:
    script = Pbs().script(Request("unisono-0-2-1", 2, 5400, ["x", "it's", "\n#PBS -l select=99"]))
    options = script.split("\ncd ")[0].splitlines()
    assert "#PBS -l select=2:ncpus=36:mpiprocs=36" in options
    assert "#PBS -l walltime=01:30:00" in options
    assert not [line for line in options if "99" in line]


@settings(max_examples=10, deadline=None)
@given(st.lists(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\r"), max_size=12)))
def test_every_word_reaches_the_program_as_it_is(words: list[str]) -> None:
    show = "import json, sys; print(json.dumps(sys.argv[1:]))"
    line = Request("unisono-0-2-1", 2, 3600, [sys.executable, "-c", show, "$(x) `y` 'z' \"%j", *words])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unisono.submit.pbs._json", lambda command, words: NODES)
        script = Pbs().script(line)
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"pbs-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    env = {**os.environ, "PBS_O_WORKDIR": str(folder), "PBS_JOBID": "17.vbox"}
    subprocess.run(["sh"], input=script.encode(), env=env, check=True, timeout=30)
    assert json.loads((folder / "job-17.out").read_text()) == ["$(x) `y` 'z' \"%j", *words]


def test_a_job_is_submitted_from_its_folder_with_the_users_options(said: Path) -> None:
    (said / "qsub.out").write_text("1234.vbox\n")
    (said / "job").mkdir()
    script = said / "job" / "job.sh"
    script.write_text("#!/bin/sh\n")
    assert Pbs().submit(script, ["-q", "large one"]) == "1234"
    assert (said / "qsub.asked").read_text().splitlines() == [str(said / "job"), "-q", "large one", str(script)]
    (said / "qsub.status").write_text("188")
    (said / "qsub.err").write_text("qsub: Job violates queue and/or server resource limits\n")
    with pytest.raises(UserError, match="violates queue"):
        Pbs().submit(script, [])


def test_states_are_understood(said: Path) -> None:
    (said / "qstat.out").write_text(json.dumps(JOBS))
    (said / "qstat.err").write_text("qstat: Unknown Job Id 9.vbox\n")
    (said / "qstat.status").write_text("153")
    assert Pbs().look(["1", "2", "3", "9"]) == {
        "1": Seen("waiting", "QUEUED", "Not Running: Insufficient amount of resource: ncpus ", "1:00:00"),
        "2": Seen("running", "RUNNING", "", "35:59:01"),
        "3": Seen("ended", "FINISHED", "", ""),
        "9": Seen("ended", ""),
    }
    (said / "qstat.out").write_text("")
    assert Pbs().look(["9"]) == {"9": Seen("ended", "")}
    (said / "qstat.err").write_text("qstat: invalid option -- 'F'\n")
    with pytest.raises(UserError, match=r"invalid option -- 'F'.*continue later with --resume"):
        Pbs().look(["1"])


_VALUES = st.none() | st.integers() | st.text() | st.lists(st.integers())
_KEYS = st.sampled_from(
    [
        "1",
        "1.vbox",
        "job_state",
        "comment",
        "state",
        "Resource_List",
        "resources_used",
        "resources_available",
        "walltime",
    ]
)


@given(_VALUES | st.recursive(_VALUES, lambda inner: st.dictionaries(_KEYS | st.text(), inner), max_leaves=12))
@example({"": {"resources_available": 1}})
@example({"1": {"Resource_List": 1, "resources_used": "1"}})
def test_no_answer_is_a_traceback(records: object) -> None:
    assert set(parse({"Jobs": records}, ["1"])) <= {"1"}
    with pytest.raises(UserError, match="names no node"):
        node_cpus({"nodes": records})


@pytest.mark.parametrize("ncpus", [0, "0", "-1", "\u00b2", "9" * 5000, [4], None])
def test_what_no_number_of_cpus_can_be_counts_no_node(ncpus: object) -> None:
    with pytest.raises(UserError, match="names no node"):
        node_cpus({"nodes": {"a": {"resources_available": {"ncpus": ncpus}}}})


def test_the_newest_job_of_a_name(said: Path) -> None:
    (said / "qselect.out").write_text("9.vbox\n12.vbox\n")
    assert Pbs().find("unisono-0-2-1") == "12"
    assert "unisono-0-2-1" in (said / "qselect.asked").read_text()
    (said / "qselect.out").write_text("")
    assert Pbs().find("unisono-0-2-1") is None


def test_the_end_of_the_job_is_known(said: Path) -> None:
    (said / "qstat.out").write_text(QSTAT)
    assert seconds_left({"PBS_JOBID": "2.vbox"}) == 3000
    assert seconds_left({"PBS_JOBID": "; rm -rf x"}) is None
    (said / "qstat.out").write_text("qstat: nothing\n")
    assert seconds_left({"PBS_JOBID": "2.vbox"}) is None
