"""What `tune` writes at the end."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import cast

from rich.console import Console

from tests.tuning.samples import machine, plan, tuning
from unisono.advise.prove import CaseProof, Proof
from unisono.commands.finish import Outcome, export_all, with_proof
from unisono.core.interval import Interval
from unisono.core.vocabulary import Case
from unisono.decide.decision import Decision
from unisono.study.files import Outputs
from unisono.tuning.finding import Finding
from unisono.tuning.show import show


def test_files_a_person_edited_are_kept_and_the_others_written_anew(tmp_path: Path) -> None:
    assert export_all(tuning(), machine(), tmp_path) == []
    first = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert {"openmpi-mca-params.conf", "ucx.conf", "env.sh", "mpirun.txt"} <= set(first)

    edited = tmp_path / "env.sh"
    edited.write_text(first["env.sh"].replace("16kb", "8kb"))
    assert edited.read_text() != first["env.sh"]
    (tmp_path / "ucx.conf").unlink()
    assert export_all(tuning(), machine(), tmp_path) == [edited]
    again = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert "8kb" in again["env.sh"]
    assert {name for name in first if again[name] != first[name]} == {"env.sh"}


def test_an_edited_rules_file_is_kept_although_no_rule_is_left(tmp_path: Path) -> None:
    export_all(tuning(), machine(), tmp_path)
    rules = tmp_path / "openmpi-rules.conf"
    rules.write_text(rules.read_text() + "# mine\n")
    assert export_all(tuning(plan()), machine(), tmp_path) == [rules]
    assert rules.read_text().endswith("# mine\n")


def test_what_is_to_be_reproducible_is_in_the_rules_though_there_is_none(tmp_path: Path) -> None:
    made = tuning(plan())
    made = made.model_copy(update={"study": made.study.model_copy(update={"reproducible": "placement"})})
    assert export_all(made, machine(), tmp_path) == []
    assert "reproducible placement" in (tmp_path / "unisono-rules.conf").read_text().splitlines()


def test_several_cases_have_folders_of_their_own(tmp_path: Path) -> None:
    export_all(tuning(plan(), plan(ppn=2)), machine(), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1x2", "1x4"]


def test_the_end_of_a_study_counts_findings_and_names_what_was_disqualified(tmp_path: Path) -> None:
    case = Case("alltoall", 1, 24)
    found = (
        Finding.of(case, "better", f"{case}: x is faster."),
        Finding.of(case, "worse", f"{case}: y is slower."),
        Finding.of(case, "disqualified", f"{case}: z crashed."),
        Finding("folded", "The machine changed."),
    )
    stream = StringIO()
    files = Outputs(tmp_path)
    made = tuning(plan()).model_copy(update={"finding": found})
    Outcome(files, cast(Decision, None), made, None, True).print(Console(file=stream, width=300))
    text = stream.getvalue()
    assert "z crashed." in text and "The machine changed." in text
    assert "is faster." not in text and "is slower." not in text
    assert f"2 findings on single parameters: unisono show {files.tuning}, or the report" in text


def test_the_proof_at_the_end_is_the_one_that_show_shows(tmp_path: Path) -> None:
    proof = Proof(0.95, (CaseProof("bcast", 1, 4, Interval(1.5, 1.2, 1.8), 15, ()),), (), (), ())
    made = with_proof(tuning(plan()), proof)
    Console(file=(stream := StringIO()), width=300).print(proof.render())
    Console(file=(again := StringIO()), width=300).print(show(made))
    table = [line.rstrip() for line in stream.getvalue().splitlines()]
    assert "1.50x (1.20 to 1.80)" in stream.getvalue()
    assert set(table) <= {line.rstrip() for line in again.getvalue().splitlines()}


def test_what_was_said_before_measuring_is_not_said_again(tmp_path: Path) -> None:
    """It is in the findings and among the conditions' notes; what came up while measuring is still shown."""
    before, later = "UCX_RNDV_THRESH=auto is its default: not measured twice.", "The machine changed."
    made = tuning(plan())
    conditions = made.conditions.model_copy(update={"notes": (before, later)})
    found = (Finding("folded", before), Finding("folded", later))
    made = made.model_copy(update={"finding": found, "conditions": conditions})
    outcome = Outcome(Outputs(tmp_path), cast(Decision, None), made, None, True)

    def printed(said: tuple[str, ...]) -> str:
        outcome.print(Console(file=(stream := StringIO()), width=300), said=said)
        return stream.getvalue()

    assert before in printed(()) and later in printed(())
    assert before not in printed((before,)) and later in printed((before,))
