"""The files of each format: what is in them, where they say they come from."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import unisono.export
from tests.tuning.samples import machine, plan, rule, tuned, tuning
from unisono.commands.applying import how_much
from unisono.core.errors import UserError
from unisono.core.interval import Interval
from unisono.core.vocabulary import DISPATCHED
from unisono.export import arguments, caveats, dispatch, edited, export, formats, keyval, offered, shell, unsaid
from unisono.export import tuned_rules as rules
from unisono.tuning.contents import Tuning

FORMATS = formats(machine())


def made() -> Tuning:
    return tuning(name="night run\nof \x1b[31mTuesday")


@pytest.mark.parametrize("format", FORMATS)
def test_every_file_says_what_it_was_made_from_and_stays_the_same(format: str, tmp_path: Path) -> None:
    document = tuning()
    paths = export(document, format, document.plan[0], machine(), tmp_path / "a b")
    first = [path.read_text() for path in paths]
    assert paths
    for text in first:
        for words in ("unisono 0.1.0", "'example'", "2026-03-01 12:00 UTC", "abc123", "1 x 4 ranks", "1.40x"):
            assert words in text
    again = export(document, format, document.plan[0], machine(), tmp_path / "a b")
    assert [path.read_text() for path in again] == first


@pytest.mark.parametrize("format", FORMATS)
def test_comments_stay_short_however_many_collectives_there_are(format: str, tmp_path: Path) -> None:
    document = tuning()
    many = replace(document.plan[0], gain={name: Interval(1.4, 1.3, 1.5) for name in DISPATCHED})
    for path in export(document, format, many, machine(), tmp_path):
        text = path.read_text()
        assert max(len(line) for line in text.splitlines() if "1.40x" in line) <= 120
        assert all(f"{name} 1.40x (1.30 to 1.50)" in text for name in many.gain)


@pytest.mark.parametrize("format", FORMATS)
def test_an_edit_since_the_export_is_noticed(format: str, tmp_path: Path) -> None:
    document = tuning()
    paths = export(document, format, document.plan[0], machine(), tmp_path)
    assert edited(format, tmp_path) == []
    export(document, format, document.plan[0], machine("4.1.4"), tmp_path)
    assert edited(format, tmp_path) == []
    paths[-1].write_text(paths[-1].read_text().replace("16kb", "32kb") + "# a line of mine\n")
    assert edited(format, tmp_path) == [paths[-1]]
    paths[-1].write_text("nothing of ours\n")
    assert edited(format, tmp_path) == []


@pytest.mark.parametrize("format", FORMATS)
def test_a_name_with_line_breaks_stays_a_comment(format: str, tmp_path: Path) -> None:
    document = made()
    for path in export(document, format, document.plan[0], machine(), tmp_path):
        assert "of Tuesday" not in [line.strip("# ") for line in path.read_text().splitlines()]
        readers[path.name](path.read_text(), path.name)


readers = {
    "openmpi-rules.conf": rules.read,
    "openmpi-mca-params.conf": keyval.read,
    "ucx.conf": keyval.read,
    "env.sh": shell.read,
    "mpirun.txt": arguments.read,
    "unisono-rules.conf": dispatch.read,
}


def test_openmpi(tmp_path: Path) -> None:
    document = tuning()
    rules_path, mca_path = export(document, "openmpi", document.plan[0], machine(), tmp_path)
    values = keyval.read(mca_path.read_text(), "f")
    assert values == {
        "pml": "ucx",
        "opal_common_ucx_tls": "any",
        "opal_common_ucx_devices": "any",
        "coll_tuned_use_dynamic_rules": "1",
        "coll_tuned_dynamic_rules_filename": str(rules_path),
    }
    assert "Not in here: UCX_RNDV_THRESH" in mca_path.read_text()
    found = rules.read(rules_path.read_text(), "f")
    assert [c.collective for c in found.collectives] == ["allreduce", "alltoall"]
    assert not rules_path.read_text().startswith("rule-file-version")


def test_ucx(tmp_path: Path) -> None:
    document = tuning()
    (path,) = export(document, "ucx", document.plan[0], machine(), tmp_path)
    assert keyval.read(path.read_text(), "f") == {"UCX_RNDV_THRESH": "16kb"}
    assert "Not in here: what is Open MPI's" in path.read_text()


def test_shell(tmp_path: Path) -> None:
    document = tuning()
    rules_path, path = export(document, "shell", document.plan[0], machine(), tmp_path)
    values = shell.read(path.read_text(), "f")
    assert values["OMPI_MCA_pml"] == "ucx"
    assert values["UCX_RNDV_THRESH"] == "16kb"
    assert values["OMPI_MCA_coll_tuned_dynamic_rules_filename"] == str(rules_path)


def test_mpirun_and_its_placement(tmp_path: Path) -> None:
    document = tuning(plan(launch={"placement": "block", "UCX_TLS": "self,sm"}))
    (path,) = export(document, "mpirun", document.plan[0], machine(), tmp_path)
    words = arguments.read(path.read_text(), "f")
    assert words[-2:] == ["-x", "UCX_TLS=self,sm"]
    assert any("bind-to" in word or "map-by" in word for word in words)
    (comments, *_) = export(document, "openmpi", document.plan[0], machine(), tmp_path)
    assert "Not in here: placement=block; give mpirun --" in comments.read_text()


def test_the_default_plan_needs_no_rules(tmp_path: Path) -> None:
    document = tuning(plan())
    (path,) = export(document, "openmpi", document.plan[0], machine(), tmp_path)
    assert keyval.read(path.read_text(), "f") == {}


def test_rules_of_an_earlier_export_do_not_stay(tmp_path: Path) -> None:
    with_rules, without = tuning(), tuning(plan())
    rules_path, _ = export(with_rules, "openmpi", with_rules.plan[0], machine(), tmp_path)
    export(without, "openmpi", without.plan[0], machine(), tmp_path)
    assert not rules_path.exists()
    rules_path.write_text("0\n")  # somebody's own
    export(without, "openmpi", without.plan[0], machine(), tmp_path)
    assert rules_path.exists()


def test_what_cannot_be_said_is_said() -> None:
    document = tuning(plan(2, 4, rules=(rule("allreduce", 0, None, tuned("ring")),)))
    reordered, note = caveats(document, document.plan[0], machine(nodes=2))
    assert "coll/han serves allreduce" in note
    asked = tuning(plan(2, 4, {"coll": "tuned"}, rules=(rule("allreduce", 0, None, tuned("ring")),)))
    assert caveats(asked, asked.plan[0], machine(nodes=2)) == [reordered]
    assert caveats(document, document.plan[0], machine("4.1.4", nodes=2)) == [reordered]


def test_a_component_preferred_for_the_launch_is_an_mca_word(tmp_path: Path) -> None:
    document = tuning(plan(launch={"coll": "han"}))
    (path,) = export(document, "openmpi", document.plan[0], machine(), tmp_path)
    assert keyval.read(path.read_text(), "f") == {"coll_han_priority": "100"}


def test_an_unknown_format_and_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    document = tuning()
    with pytest.raises(UserError, match="known: openmpi, openmpi-json, han, ucx, shell, mpich-env"):
        export(document, "mpich", document.plan[0], machine(), tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot be written"):
        export(document, "ucx", document.plan[0], machine(), tmp_path / "file" / "x")


@pytest.mark.parametrize("format", unisono.export.FORMATS)
def test_a_plan_of_which_a_format_can_say_nothing_is_said(format: str, tmp_path: Path) -> None:
    default = tuning(plan())
    if format == "reframe":  # the default takes time, too
        assert unsaid(default, format, default.plan[0], machine(), tmp_path) == []
    elif format in FORMATS:
        (sentence,) = unsaid(default, format, default.plan[0], machine(), tmp_path)
        assert "set nothing" in sentence
    else:
        with pytest.raises(UserError, match=r"cannot express the plan|does not read this format"):
            unsaid(default, format, default.plan[0], machine(), tmp_path)


def test_what_could_say_it_is_named(tmp_path: Path) -> None:
    document = tuning(plan(launch={"UCX_TLS": "self,sm"}))
    with pytest.raises(
        UserError, match=r"-json: cannot express the plan for 1 x 4 ranks, .*; formats that can: .*"
    ) as caught:
        unsaid(document, "openmpi-json", document.plan[0], machine(), tmp_path)
    named = str(caught.value).split("formats that can: ")[1].split(", ")
    assert {"ucx", "shell", "mpirun", "module", "slurm"} <= set(named)
    assert not {"openmpi", "openmpi-json", "han", "rules", "intel", "mpich-env", "mpich-json", "reframe"} & set(named)


def test_every_format_is_on_its_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "exports.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w[\w-]*)` \|", page, re.MULTILINE)
    assert sorted(rows) == sorted(unisono.export.FORMATS)


def test_the_list_says_which_formats_can_say_a_plan() -> None:
    document = tuning(plan(launch={"pml": "ob1"}))
    listed = {name: says for name, _label, says in offered(document, document.plan[0], machine())}
    assert listed["openmpi"] and listed["module"]
    assert not listed["ucx"] and not listed["rules"] and not listed["library"]


def test_the_list_offers_nothing_that_this_version_would_refuse(tmp_path: Path) -> None:
    document = tuning(plan(launch={"pml": "ob1"}))
    for version, says in (("5.0.11", False), ("6.0.0", True)):
        here = machine(version)
        listed = {name: found for name, _label, found in offered(document, document.plan[0], here)}
        assert listed["openmpi-json"] is says
    with pytest.raises(UserError, match=r"from 6\.0, this is 5\.0\.11: use --format openmpi"):
        unsaid(document, "openmpi-json", document.plan[0], machine(), tmp_path)


def test_the_list_speaks_of_the_plan_that_would_be_exported() -> None:
    """Where the best plan needs our library, all formats but that of our library say another."""
    ours = plan(launch={"preload": "unisono", "UCX_TLS": "self,sm"}, gain={"allreduce": 2.0, "alltoall": 2.0})
    document = tuning(ours, plan(launch={"pml": "ob1"}))
    listed = {name: says for name, _label, says in offered(document, document.plan[0], machine())}
    assert listed["openmpi"] and not listed["ucx"]
    much = {name: how_much(document, document.plan[0], name, None) for name in ("openmpi", "rules", "library")}
    assert much == {"openmpi": "the best without our library", "rules": "all or part", "library": "all or part"}
    assert how_much(document, document.plan[1], "openmpi", None) == "all or part"


def test_rules_in_json_are_refused_before_open_mpi_6(tmp_path: Path) -> None:
    document = tuning()
    with pytest.raises(UserError, match=r"from 6\.0, this is 5\.0\.11: use --format openmpi"):
        export(document, "openmpi-json", document.plan[0], machine(), tmp_path)
    paths = export(document, "openmpi-json", document.plan[0], machine("6.0.0"), tmp_path)
    assert [path.name for path in paths] == ["openmpi-rules.json", "openmpi-mca-params.conf"]
