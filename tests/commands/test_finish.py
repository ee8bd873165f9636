"""What `tune` writes at the end."""

from __future__ import annotations

from pathlib import Path

from tests.tuning.samples import machine, plan, tuning
from unisono.commands.finish import export_all


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
