from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unisono.launch.failure import explain, is_lost, is_shared, over

RECORDED = Path(__file__).parent / "stderr"
"""What mpirun of each version wrote, as <case>.<exit status>.txt: real runs of a small MPI program."""

EXPECTED = {
    "abort": ("crashed", "rank 1 called MPI_Abort with error code 7"),
    "exit-before-init": ("crashed", "rank 0 ended with exit status 3"),
    "exit-status": ("crashed", "rank 1 ended with exit status 3"),
    "killed": ("crashed", "rank 1 was ended by SIGKILL"),
    "missing-rankfile": ("refused", "file missing cannot be read"),
    "mpi-error": ("crashed", "MPI_Send failed: MPI_ERR_RANK: invalid rank"),
    "no-cores-left": ("refused", "there are more ranks than CPUs to bind them to"),
    "no-program": ("refused", "./missing does not exist or is not executable"),
    "no-such-cpu": ("refused", "the list of CPUs is too short, or names CPUs that do not exist"),
    "root": ("refused", "mpirun does not run as root without --allow-run-as-root"),
    "same-parameter-twice": ("refused", "MCA parameter pml is given twice"),
    "segmentation-fault": ("crashed", "rank 1 was ended by SIGSEGV"),
    "small-ppr": ("refused", "mapping 'ppr:1:node' holds fewer ranks than were asked for"),
    "too-many-ranks": (
        "refused",
        "not enough slots: 99 ranks were asked for; ask for fewer (--ppn, --layouts, or -n of your own mpirun), "
        "name nodes with more slots (--hosts NODE:SLOTS, or --host of your own mpirun), or let ranks share CPUs "
        "(--oversubscribe, of unisono tune or of your own mpirun)",
    ),
    "unknown-binding": ("refused", "binding 'nothing' is not known to this mpirun"),
    "unknown-component": ("refused", "component nothing of pml is not installed or cannot be used here"),
    "unknown-host": ("refused", "host {host} is not known"),
    "unknown-mapping": ("refused", "mapping 'nothing' is not known to this mpirun"),
    "unknown-option": ("refused", "mpirun does not know the option --nothing"),
    "unknown-ranking": ("refused", "ranking 'nothing' is not known to this mpirun"),
    "unreachable-host": ("refused", "a node was not reached, or lost: Open MPI's daemon does not answer there"),
    "unusable-btl": ("refused", "ranks cannot reach each other: btl self does not connect them"),
    "unusable-pml": ("refused", "none of the pml components asked for can be used here"),
}
DIFFERENT = {
    ("4.1.4", "abort"): ("crashed", "mpirun ended with exit status 7"),  # its help text was lost on the way
    ("4.1.4", "exit-before-init"): ("crashed", "rank 1 ended with exit status 3"),
    ("4.1.4", "unknown-host"): ("refused", "host nowhere is not known"),
    ("5.0.11", "unknown-host"): ("refused", "host nowhere.invalid is not known"),
    ("mpich-5.0.2", "unusable-algorithm"): (
        "crashed",
        "MPI_Init_thread failed: User set collective algorithm is not usable for the provided arguments",
    ),
    ("5.0.11", "unreachable-host"): ("crashed", "mpirun ended with exit status 1"),  # it says nothing at all
}


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*/*.txt")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_recorded_failures_are_explained(path: Path) -> None:
    case, status = path.name.removesuffix(".txt").rsplit(".", 1)
    error = explain(int(status), path.read_text())
    assert (error.status, error.reason) == (DIFFERENT.get((path.parent.name, case)) or EXPECTED[case])


@pytest.mark.parametrize("version", ["4.1.4", "5.0.11"])
def test_a_program_that_is_only_here_names_what_is_not_shared(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (recorded,) = (RECORDED / version).glob("no-program.*")
    (tmp_path / "missing").write_text("#!/bin/sh\n")
    monkeypatch.chdir(tmp_path)
    assert explain(1, recorded.read_text()).reason == "./missing does not exist or is not executable"
    (tmp_path / "missing").chmod(0o755)
    reason = explain(1, recorded.read_text()).reason
    assert reason.startswith("./missing is here, but not on every node: set XDG_CACHE_HOME")
    assert is_shared(reason)


def test_a_job_past_its_time_is_nobodys_fault() -> None:
    said = "-----\nsrun returned non-zero exit status (256) from launching\nthe per-node daemon. You may debug this\n"
    error = explain(250, said)
    assert error.reason.startswith("srun starts nothing on the job's nodes")
    assert is_lost(error.reason), "as with a lost node: no setting is blamed, and the study is not at its end"


def test_every_case_was_recorded_for_both_versions() -> None:
    for version in ("4.1.4", "5.0.11"):
        assert {path.name.split(".")[0] for path in (RECORDED / version).iterdir()} == set(EXPECTED)


def test_reasons_that_no_setting_is_to_blame_for_are_told_from_others() -> None:
    shared = {name for name, (_, reason) in EXPECTED.items() if is_shared(reason)}
    assert shared == {"no-program", "root", "too-many-ranks", "unknown-host", "unreachable-host"}
    assert is_lost("node n3 was lost")
    assert is_lost(explain(1, "unable to reliably start one or more\ndaemons.").reason)
    assert [name for name, (_, reason) in EXPECTED.items() if is_lost(reason)] == ["unreachable-host"]


def test_a_programs_own_last_words_are_kept() -> None:
    stderr = "lattice: cannot open input.dat\n" + (RECORDED / "5.0.11" / "exit-status.3.txt").read_text()
    assert explain(3, stderr).reason == "rank 1 ended with exit status 3: lattice: cannot open input.dat"


def test_a_signal_to_mpirun_is_named() -> None:
    assert explain(-9, "").reason == "mpirun was ended by SIGKILL"


@given(st.integers(-64, 255), st.text())
def test_anything_is_explained_in_one_line(exit_code: int, stderr: str) -> None:
    error = explain(exit_code, stderr)
    assert error.status in ("crashed", "refused")
    assert len(error.reason.splitlines()) == 1


def test_variables_given_in_two_ways_to_open_mpi_4() -> None:
    stderr = (
        "ERROR: You have attempted to pass environment variables to Open MPI\n"
        'with both the "-x" method and by setting the MCA parameter "mca_base_env_list".\n\n'
        "Open MPI does not support mixing these two methods.  Please choose one\n"
        "method and try launching your job again.\n"
    )
    error = explain(1, stderr)
    assert error.status == "refused" and "remove mca_base_env_list from the parameter file" in error.reason
    assert is_shared(error.reason), "no setting is to blame"


def test_a_refusal_whose_text_was_lost_is_still_one() -> None:
    """Seen with both versions, about once in ten runs."""
    stderr = "*** An error occurred in MPI_Init\n*** on a NULL communicator\n"
    assert str(explain(14, stderr)) == "refused: MPI_Init failed; mpirun passed on no reason"


def test_a_component_whose_name_was_lost_still_has_its_framework() -> None:
    """Seen on 4.1.4, when of its two texts only the second arrives."""
    recorded = (RECORDED / "4.1.4" / "unknown-component.1.txt").read_text()
    stderr = recorded[recorded.index("It looks like MPI_INIT failed") :]
    assert str(explain(1, stderr)) == "refused: a component of pml is not installed or cannot be used here"


def test_mpirun_that_stumbles_has_declined() -> None:
    """Over what a killed one left (5.0.11)."""
    error = explain(213, "The PMIx server's listener thread failed to start. We cannot\ncontinue.\n")
    assert str(error) == (
        "refused: mpirun found the folder of an earlier mpirun that had its pid and was killed; "
        "it works when asked again"
    )


def test_a_launch_is_over_once_a_node_is_lost_though_mpirun_stays() -> None:
    said = (
        "ORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[1203,0],0] on node login\n"
        "  Remote daemon: [[1203,0],2] on node n1\n\nThis is usually due to a failure of the TCP network\n"
    )
    found = over(said)
    assert found is not None
    assert (found.status, found.reason) == ("crashed", "node n1 was lost")
    assert is_lost(found.reason)
    assert over("a program's own words\n") is None
