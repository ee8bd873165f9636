"""What is switched inside a launch, and what the launch itself must then say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.study.machines import machine
from unisono.cmdline.command import Command
from unisono.core.errors import UserError
from unisono.core.vocabulary import CALL_SCOPE, launch_part
from unisono.machine.description import Machine
from unisono.study.config import Study, parse_study
from unisono.study.engine import Item, Task, launch_command
from unisono.study.matrix import expand

STUDY = """
[study]
name = "small"
[cases]
collectives = ["bcast"]
[parameters]
algorithm = "all"
"""


def before_5_0_4() -> Machine:
    here = machine(version="4.1.4")
    assert here.mpi is not None
    return here.model_copy(update={"mpi": here.mpi.model_copy(update={"call_scope": ["algorithm", "segment"]})})


def study(more: str = "") -> Study:
    return parse_study(STUDY + more, "s.toml")


def lines(wanted: Study, here: Machine) -> list[list[str]]:
    """The mpirun lines of one round."""
    matrix = expand(wanted, here)
    (case,) = matrix.cases
    tasks = [
        Task(launch, case.case.nodes, case.case.ppn, 1, (Item(case.case, 8, tuple(case.under(launch, matrix.scope))),))
        for launch in dict.fromkeys(launch_part(setting, matrix.scope) for setting in case.settings)
    ]
    made: list[Command] = [launch_command(here, task, matrix.scope, ["bench"], False) for task in tasks]
    return [line.argv for line in made]


def test_algorithms_of_the_component_that_serves_anyway_need_no_launch_of_their_own() -> None:
    assert expand(study(), before_5_0_4()).scope == CALL_SCOPE
    (line,) = lines(study(), before_5_0_4())
    assert "coll_tuned_priority" not in line


def test_a_component_that_is_not_switched_inside_a_launch_is_asked_for_by_the_launch() -> None:
    wanted = study('coll = ["sm"]')
    assert expand(wanted, before_5_0_4()).scope == ("algorithm", "segment")
    said = [" ".join(line) for line in lines(wanted, before_5_0_4())]
    assert len(said) == 3
    assert sum("--mca coll_sm_priority 100" in line for line in said) == 1
    assert sum("--mca coll_tuned_priority 100" in line for line in said) == 1


def test_a_component_that_is_switched_inside_needs_one_launch() -> None:
    wanted = study('coll = ["sm"]')
    (line,) = lines(wanted, machine())
    assert not [word for word in line if word.endswith("_priority")]


def test_an_exclusion_of_a_parameter_nobody_knows_is_refused() -> None:
    with pytest.raises(UserError, match="placemnt: is not a parameter known here; did you mean placement"):
        expand(study('[[exclude]]\nplacemnt = "cyclic"'), machine())
    expand(study('[[exclude]]\nalgorithm = "chain"\ncoll_hcoll_enable = 1\nppn = 2'), machine())


def test_the_examples_of_the_documentation_can_be_planned() -> None:
    text = (Path(__file__).parents[2] / "docs" / "study-files.md").read_text(encoding="utf-8")
    examples = [block.split("```")[0] for block in text.split("```toml\n")[1:]]
    assert len(examples) == 2
    for example in examples:
        assert expand(parse_study(example, "study-files.md"), machine(cores=8, numa=2, nodes=4)).cases


def test_persistent_collectives_are_left_out_where_the_mpi_has_none() -> None:
    """With a sentence; a study of nothing else is refused with one."""

    def of(*names: str) -> Study:
        return parse_study(STUDY.replace('["bcast"]', str([*names]).replace("'", '"')), "s.toml")

    here, old = machine(version="5.0.11"), machine(version="4.1.4")
    assert [each.case.collective for each in expand(of("bcast", "bcast_init"), here).cases] == ["bcast", "bcast_init"]
    found = expand(of("bcast", "bcast_init", "scan_init"), old)
    assert [each.case.collective for each in found.cases] == ["bcast"]
    (said,) = [note for note in found.notes if "persistent" in note]
    assert said == (
        "Open MPI 4.1.4 has no persistent collectives that can be measured (Open MPI 5 has them), so these are left "
        "out: bcast_init, scan_init."
    )
    with pytest.raises(UserError, match=r"^Open MPI 4\.1\.4 has no persistent .* measured; Open MPI 5 has them"):
        expand(of("bcast_init"), old)
