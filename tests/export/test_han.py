"""Rules of coll/han say which component serves what on several nodes, and Open MPI 5 reads them as they are meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.profile.interception import compiled, run, toolchain
from tests.tuning.samples import machine, plan, rule, tuned, tuning
from unisono.core.errors import UserError
from unisono.export import caveats, export, han_rules, keyval, offered
from unisono.export import tuned_rules as rules
from unisono.export.formats import han
from unisono.export.han_rules import COMPONENTS, HanRules
from unisono.tuning.contents import Tuning

HERE = machine(nodes=2)


def _document() -> Tuning:
    """On 2 x 4 ranks; what no rule says is han's."""
    return tuning(
        plan(
            2,
            4,
            rules=(
                rule("allreduce", 12_000, None, {"coll": "tuned"}),
                rule("bcast", 0, 1000, {"coll": "adapt"}),
                rule("bcast", 1001, 70_000, tuned("binomial")),
                rule("gather", 0, 100, {"coll": "basic"}),
            ),
        )
    )


def _sizes() -> st.SearchStrategy[tuple[tuple[int, str], ...]]:
    numbers = st.lists(st.integers(2, 50), unique=True, max_size=3).map(lambda found: [0, *sorted(found)])
    return numbers.flatmap(
        lambda found: st.tuples(*(st.tuples(st.just(n), st.sampled_from(COMPONENTS)) for n in found))
    )


ENTRIES = (
    st.lists(st.integers(2, 12), unique=True, max_size=3)
    .map(lambda found: [1, *sorted(found)])
    .flatmap(lambda found: st.tuples(*(st.tuples(st.just(n), _sizes()) for n in found)))
)


@given(st.dictionaries(st.sampled_from(["allreduce", "bcast", "barrier"]), ENTRIES))
def test_what_is_written_is_read(found: dict[str, tuple[tuple[int, tuple[tuple[int, str], ...]], ...]]) -> None:
    made = HanRules({(name, han_rules.LEVEL): entries for name, entries in found.items()})
    assert han_rules.read(han_rules.write(made, ["who made it"]), "f") == made


@given(st.text("0123456789 \nahnsmtued@#_", max_size=80))
def test_a_file_of_anything_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        han_rules.read(text, "f")
    except UserError as error:
        assert str(error).startswith("f") and "\n" not in str(error)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 allreduce 1 global_communicator 1 2 1 0 han", "line 1: '2' where 1, the first number of ranks"),
        ("1 alltoall", "'alltoall' where a collective of coll/han"),
        ("1 bcast 1 global_communicator 1 1 2 0 han\n0 sm", "0 comes after 0"),
        ("1 bcast 1 global_communicator 1 1 1 0 hun", "'hun' where a component"),
        ("1 bcast 1 global_communicator 1 1 1", "ends where 0 or 1, the first message size"),
    ],
)
def test_what_open_mpi_would_drop_is_said(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        han_rules.read(text, "f")


def test_every_size_goes_where_the_tuning_says(tmp_path: Path) -> None:
    document = _document()
    paths = export(document, "han", document.plan[0], HERE, tmp_path)
    assert [path.name for path in paths] == ["openmpi-han-rules.conf", "openmpi-rules.conf", "openmpi-mca-params.conf"]
    found = han_rules.read(paths[0].read_text(), "f")
    wanted = {0: "adapt", 1000: "adapt", 1001: "tuned", 70_000: "tuned", 70_001: "han"}
    assert {size: found.select("bcast", 8, size) for size in wanted} == wanted
    assert [found.select("allreduce", 8, size) for size in (0, 11_999, 12_000)] == ["han", "han", "tuned"]
    assert {found.select("bcast", ranks, 500) for ranks in (1, 7, 9, 100)} == {"han"}, "numbers of ranks not measured"
    assert found.select("gather", 8, 50) is None
    classic = rules.read(paths[1].read_text(), "f").select("bcast", 8, 5000)
    assert classic is not None and classic.algorithm == 6, "which coll/tuned then takes"
    values = keyval.read(paths[2].read_text(), "f")
    assert values["coll_han_dynamic_rules_filename"] == str(paths[0])
    (note,) = caveats(document, document.plan[0], HERE, "han")
    assert note.startswith("gather on 2 x 4 ranks: rules by message size are left out")


def test_where_han_is_not_asked_the_format_has_nothing_to_say() -> None:
    def says(document: Tuning, version: str = "5.0.11") -> bool:
        here = machine(version, nodes=2)
        return {name: says for name, _label, says in offered(document, document.plan[0], here)}["han"]

    some = (rule("allreduce", 0, None, tuned("ring")),)
    assert says(tuning(plan(2, 4, rules=some)))
    assert not says(tuning(plan(1, 4, rules=some))), "on one node han steps aside"
    assert not says(tuning(plan(2, 4, {"coll": "tuned"}, rules=some)))
    assert not says(tuning(plan(2, 4, rules=some)), "4.1.4"), "which reads another form"


@pytest.mark.mpi
@pytest.mark.beside
def test_open_mpi_5_reads_it(tmp_path: Path) -> None:
    """coll/han reads its file when Open MPI starts, on one node too, and lists what it has read."""
    tools = toolchain("openmpi5")
    document = _document()
    paths = export(document, "han", document.plan[0], HERE, tmp_path)
    wanted = han_rules.read(paths[0].read_text(), "f")
    (tmp_path / "program.c").write_text(
        "#include <mpi.h>\nint main(int n, char **words) { MPI_Init(&n, &words); return MPI_Finalize(); }\n"
    )
    program = compiled(tools, tmp_path, str(tmp_path / "program.c"))
    env = {f"OMPI_MCA_{name}": value for name, value in han._SHOW.items()}
    env["OMPI_MCA_mca_base_param_files"] = str(paths[-1])

    def listed() -> list[bool | None]:
        ran = run(tools, tmp_path, program, env=env, preload=False, record=False)
        assert ran.status == 0, ran.error
        return [item.taken for item in han.items(wanted, ran.out + ran.error)]

    assert listed() == [True] * 9
    paths[0].write_text(paths[0].read_text().replace(" 8  # ranks", " 6  # ranks"))
    assert listed().count(False) == 5
    paths[0].write_text("1 bcast")
    assert listed() == [False]
