"""MPICH's selection files: by our re-implementation of its reader, on its own tables where it is here, and by MPICH."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tuning.samples import machine, plan, rule, tuning
from unisono.advise.apply import apply
from unisono.core.errors import UserError
from unisono.export import export, mpich_reader, shell, unsaid
from unisono.export.check import Check, check
from unisono.export.mpich_files import FILES, selection_files
from unisono.export.mpich_reader import Call, select
from unisono.export.mpich_selection import compile_selection
from unisono.export.mpich_tables import Tables, Tree, tables_of
from unisono.export.probe import probe_program
from unisono.inventory.describe import describe
from unisono.launch import tree
from unisono.machine.description import Machine, Mpi
from unisono.tuning.plans import Plan, Rule

WHERE = {"mpich": "/usr/bin/mpiexec.mpich", "mpich5": f"{sys.prefix}/mpich5/bin/mpiexec"}
NAMES = {
    "allreduce": ("recursive_doubling", "reduce_scatter_allgather", "ring", "recexch"),
    "alltoall": ("brucks", "pairwise", "scattered"),
    "allgather": ("recursive_doubling", "ring"),
    "bcast": ("binomial", "scatter_recursive_doubling_allgather"),
    "barrier": ("dissemination",),
}


def algorithm_name(collective: str, algorithm: str) -> str:
    return f"MPIR_{collective.capitalize()}_intra_{algorithm}"


def leaf(collective: str, algorithm: str) -> Tree:
    return {f"algorithm={algorithm_name(collective, algorithm)}": {}}


def made_up() -> Tables:
    """A smaller MPICH, whose defaults are no algorithm that a plan names."""
    by_size = {"avg_msg_size<=99": leaf("allreduce", "nb"), "avg_msg_size=any": leaf("allreduce", "smp")}
    own: Tree = {
        f"collective={name}": {"comm_type=intra": leaf(name, "own"), "comm_type=inter": leaf(name, "inter")}
        for name in NAMES
    }
    own["collective=allreduce"]["comm_type=intra"] = {"comm_size<8": by_size, "comm_size=any": leaf("allreduce", "own")}
    device: Tree = {
        f"collective={name}": {"comm_type=intra": {"composition=MPIDI_own": {}}} for name in NAMES if name != "barrier"
    }
    words = {algorithm_name(name, algorithm).encode() for name, all_ in NAMES.items() for algorithm in all_}
    return Tables(own, device, frozenset({*words, b"single_phase_recv="}), knows_ppn=True)


MADE_UP = made_up()


def uses(algorithm: str) -> dict[str, str]:
    return {"coll": "mpich", "algorithm": algorithm}


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    rules: list[Rule] = []
    for collective, names in NAMES.items():
        ends = sorted(draw(st.lists(st.integers(1, 300), unique=True, max_size=3))) if collective != "barrier" else []
        first = 0
        for end in [*ends, None]:
            call = draw(st.sampled_from([None, *names]))
            rules.append(rule(collective, first, None if end is None else end - 1, uses(call) if call else {}))
            first = end or 0
    ppn, nodes = draw(st.sampled_from([(4, 1), (3, 1), (2, 4)]))
    return plan(nodes, ppn, gain=dict.fromkeys(NAMES, 1.1), rules=tuple(rules))


@settings(max_examples=60)
@given(one=plans(), size=st.integers(0, 400), ranks=st.sampled_from([(1, 1), (1, 4), (2, 2), (1, 3), (4, 2), (8, 1)]))
def test_every_call_gets_the_plans_algorithm_and_other_ranks_mpichs_own(
    one: Plan, size: int, ranks: tuple[int, int]
) -> None:
    found = compile_selection([one], MADE_UP)
    if not found.algorithms:
        return
    algorithms = mpich_reader.read(selection_files(found)["mpich-selection.json"], "f")
    device = mpich_reader.read(selection_files(found)["mpich-ch4-selection.json"], "f")
    for collective in NAMES:
        call = Call(collective, *ranks, 0 if collective == "barrier" else size)
        chosen = one.rule_at(collective, call.size) if ranks == (one.nodes, one.ppn) else None
        name = chosen.call.get("algorithm") if chosen else None
        if name and ("recursive_doubling" in name and collective != "allreduce") and call.ranks & (call.ranks - 1):
            name = None
        own = select(MADE_UP.algorithms, call)
        few = size // 4 < 1 << (call.ranks.bit_length() - 1)
        cut = few and name == "reduce_scatter_allgather"
        assert select(algorithms, call) == (algorithm_name(collective, name) if name and not cut else own)
        if collective != "barrier":
            assert (select(device, call) == "MPIDI_own") == (name is None)
        for other in (
            Call(collective, *ranks, size, commutative=False, built_in=False),
            Call(collective, *ranks, size, in_place=True),
        ):
            assert select(algorithms, other) is not None


def test_what_an_algorithm_cannot_do_it_is_not_given() -> None:
    one = plan(ppn=4, gain={"allreduce": 1.1}, rules=(rule("allreduce", 0, None, uses("ring")),))
    found = compile_selection([one], MADE_UP)
    assert select(found.algorithms, Call("allreduce", 1, 4, 64)) == "MPIR_Allreduce_intra_ring"
    assert select(found.algorithms, Call("allreduce", 1, 4, 64, commutative=False)) == "MPIR_Allreduce_intra_nb"
    one = plan(ppn=4, gain={"alltoall": 1.1}, rules=(rule("alltoall", 0, None, uses("brucks")),))
    found = compile_selection([one], MADE_UP)
    assert select(found.algorithms, Call("alltoall", 1, 4, 64, in_place=True)) == "MPIR_Alltoall_intra_own"


def test_parameters_are_given_in_full_as_they_were_measured() -> None:
    launch = {"MPIR_CVAR_ALLREDUCE_RECEXCH_KVAL": "8"}
    one = plan(ppn=4, launch=launch, gain={"allreduce": 1.1}, rules=(rule("allreduce", 0, None, uses("recexch")),))
    found = compile_selection([one], MADE_UP)
    text = json.dumps(found.algorithms)
    assert '{"algorithm=MPIR_Allreduce_intra_recexch": {"k=8": {}, "single_phase_recv=0": {}}}' in text


def test_a_file_of_whole_pages_gets_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    one = plan(ppn=4, gain={"bcast": 1.1}, rules=(rule("bcast", 0, None, uses("binomial")),))
    found = compile_selection([one], MADE_UP)
    text = selection_files(found)["mpich-selection.json"]
    monkeypatch.setattr("unisono.export.mpich_files._PAGE", len(text))
    assert selection_files(found)["mpich-selection.json"] == text + "\n"


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ("{", "is not JSON"),
        ({"bcast": {}}, "begins with the collectives"),
        ({"collective=bcast": {}}, "has no algorithm"),
        ({"collective=bcast": {"size<=4": leaf("bcast", "x")}}, "knows no such condition"),
        ({"collective=bcast": {"comm_size<=4": leaf("bcast", "x")}}, "do not end with any"),
        ({"collective=allgather": {"avg_msg_size=any": leaf("allgather", "x")}}, "no message size of that kind"),
        ({"collective=bcast": {"avg_msg_size<=2147483648": {}, "avg_msg_size=any": {}}}, "more than a C int"),
        ({"collective=bcast": {"comm_size=any": leaf("bcast", "x"), "any": leaf("bcast", "x")}}, "any is not the last"),
    ],
)
def test_what_would_end_every_program_is_said(tree: object, said: str) -> None:
    text = tree if isinstance(tree, str) else json.dumps(tree)
    with pytest.raises(UserError, match=said):
        mpich_reader.read(text, "f")


def test_another_mpis_tuning_is_refused(tmp_path: Path) -> None:
    one = plan(ppn=4, gain={"bcast": 1.1}, rules=(rule("bcast", 0, None, uses("binomial")),))
    for call in (unsaid, lambda *words: export(words[0], words[1], *words[2:])):
        with pytest.raises(UserError, match=r"was measured with MPICH.*, but this is Open MPI 5\.0\.11"):
            call(tuning(one), "shell", one, machine(), tmp_path)


@pytest.fixture(scope="module", params=WHERE)
def mpich(request: pytest.FixtureRequest) -> Machine:
    mpirun = WHERE[request.param]
    return installed(mpirun)


def installed(mpirun: str) -> Machine:
    if not Path(mpirun).exists():
        pytest.skip(f"no MPICH at {mpirun}")
    return describe(mpirun)


def plan_for(mpich: Machine) -> Plan:
    assert mpich.mpi is not None
    barrier = next(name for name in mpich.mpi.algorithms["barrier"] if "dissemination" in name)
    return plan(
        1,
        2,
        {"UCX_RNDV_THRESH": "16kb"},
        {"allreduce": 1.2, "barrier": 1.1, "alltoall": 1.1},
        (
            rule("allreduce", 0, 4095, {}, sizes=(8,)),
            rule("allreduce", 4096, None, uses("reduce_scatter_allgather"), sizes=(4096,)),
            rule("barrier", 0, None, uses(barrier), sizes=(0,)),
            rule("alltoall", 0, None, uses("nb"), sizes=(64,)),
        ),
    )


def checked(mpich: Machine, format: str, folder: Path, one: Plan | None = None) -> Check:
    made = one or plan_for(mpich)
    return check(tuning(made), format, made, mpich, folder, deadline=30)


@pytest.mark.mpi
@pytest.mark.beside
def test_mpich_takes_its_files_and_variables(mpich: Machine, tmp_path: Path) -> None:
    one = plan_for(mpich)
    for format in ("mpich-json", "mpich-env"):
        export(tuning(one), format, one, mpich, tmp_path)
        result = checked(mpich, format, tmp_path)
        assert result.taken, result.as_dict()
        found = {item.what: item.found for item in result.items}
        if format == "mpich-json":
            assert found["allreduce, from 4 KiB"] == "MPIR_Allreduce_intra_reduce_scatter_allgather"
            assert found["allreduce, below 4 KiB"] == "the MPI's own choice"
            assert found["alltoall, all sizes"] == "MPIR_Alltoall_allcomm_nb"
        else:
            assert "dissemination" in found["MPIR_CVAR_BARRIER_INTRA_ALGORITHM"]
            assert "allreduce: a variable forces one algorithm" in (tmp_path / "mpich-env.sh").read_text()


@pytest.mark.mpi
@pytest.mark.beside
def test_a_rule_for_small_calls_is_seen_though_mpich_makes_such_calls_itself(
    mpich: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MPICH 5 makes a small allreduce when it starts, and leaves its segment behind where a tripwire ends it."""
    mapped: set[tuple[str, int]] = set()
    remove = tree.remove

    def noted(segments: Iterable[tuple[str, int]]) -> dict[Path, int]:
        mapped.update(segments)
        return remove(segments)

    monkeypatch.setattr(tree, "remove", noted)
    one = plan(
        1,
        2,
        gain={"allreduce": 1.2},
        rules=(
            rule("allreduce", 0, 4095, uses("recursive_doubling"), sizes=(8, 512)),
            rule("allreduce", 4096, None, {}, sizes=(4096,)),
        ),
    )
    export(tuning(one), "mpich-json", one, mpich, tmp_path)
    result = checked(mpich, "mpich-json", tmp_path, one)
    assert [item.taken for item in result.items] == [True, True], result.as_dict()
    assert mapped or mpich.mpi is None or mpich.mpi.version.startswith("4."), "the probe says what it has mapped"
    assert not tree.still(mapped), "nothing of the programs that were ended is left"


@pytest.mark.mpi
@pytest.mark.beside
def test_a_run_names_the_same_files(mpich: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those whose every range is shown to be taken above; programs start and call with them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    one = plan_for(mpich)
    assert mpich.mpi is not None
    export(tuning(one), "mpich-json", one, mpich, tmp_path)
    probe = [str(probe_program(mpich)), "call=allreduce:65536", "call=barrier:0", "call=alltoall:64"]
    line = apply(tuning(one), [mpich.mpi.mpirun, "-n", "2", *probe], mpich)
    assert "left out" not in " ".join(line.notes)
    for name, variable in FILES.items():
        kept = Path(line.argv[line.argv.index(variable) + 1])
        assert kept.read_text() == (tmp_path / name).read_text()

    def ran() -> str:
        env = {**os.environ, **line.env}
        return subprocess.run(line.argv, env=env, capture_output=True, text=True, timeout=60, check=False).stdout

    assert ran().count('"failed":false') == 3
    kept.write_text('{"collective=nothing": {}}\n')
    assert '"failed":false' not in ran(), "MPICH ends every program whose file it cannot read"


@pytest.mark.mpi
@pytest.mark.beside
def test_what_no_file_can_name_is_said_by_a_variable(tmp_path: Path) -> None:
    """The reader of MPICH 5 leaves a parameter of barrier's recexch undefined."""
    mpich = installed(WHERE["mpich5"])
    rules = (
        rule("barrier", 0, None, uses("recexch"), sizes=(0,)),
        rule("allreduce", 0, None, uses("ring"), sizes=(64,)),
    )
    one = plan(1, 2, gain={"barrier": 1.1, "allreduce": 1.1}, rules=rules)
    export(tuning(one), "mpich-json", one, mpich, tmp_path)
    text = (tmp_path / "mpich-json.sh").read_text()
    assert "MPIR_CVAR_BARRIER_INTRA_ALGORITHM=recexch" in text and "left out" not in text
    result = checked(mpich, "mpich-json", tmp_path, one)
    assert result.taken, result.as_dict()
    assert {item.what: item.found for item in result.items} == {
        "allreduce, all sizes": "MPIR_Allreduce_intra_ring",
        "MPIR_CVAR_BARRIER_INTRA_ALGORITHM": "recexch",
        "MPIR_CVAR_BARRIER_DEVICE_COLLECTIVE": "0",
    }


@pytest.mark.mpi
@pytest.mark.beside
def test_a_file_that_does_not_do_what_the_plan_says_is_not_taken(mpich: Machine, tmp_path: Path) -> None:
    """A variable that names an algorithm wins over the file, without a word."""
    export(tuning(plan_for(mpich)), "mpich-json", plan_for(mpich), mpich, tmp_path)
    path = tmp_path / "mpich-json.sh"
    path.write_text(path.read_text() + "export MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=recursive_doubling\n")
    refused = {item.what: item.found for item in checked(mpich, "mpich-json", tmp_path).items if item.taken is False}
    assert refused == {"allreduce, from 4 KiB": "another than the file's rule serves it"}


def test_the_tables_of_the_mpich_that_is_here_are_read(mpich: Machine) -> None:
    assert mpich.mpi is not None
    found = tables_of(mpich.mpi)
    for each in (found.algorithms, found.compositions):
        assert mpich_reader.read(json.dumps(each), "f") == each
    assert len(found.algorithms) >= 40
    assert found.has("bcast", "binomial") and not found.has("bcast", "nothing")
    assert any("dissemination" in name for name in found.algorithms_of("barrier"))


def test_an_algorithm_that_this_mpich_lacks_is_refused(mpich: Machine, tmp_path: Path) -> None:
    one = plan(1, 2, gain={"barrier": 1.1}, rules=(rule("barrier", 0, None, uses("nothing")),))
    with pytest.raises(UserError, match=r"barrier: MPICH .* has no algorithm 'nothing'; it has .*dissemination"):
        export(tuning(one), "mpich-env", one, mpich, tmp_path)
    with pytest.raises(UserError, match="mpich-json: cannot express the plan"):
        unsaid(tuning(one), "mpich-json", one, mpich, tmp_path)
    export(tuning(one), "mpich-json", one, mpich, tmp_path)
    assert "this MPICH's file has no such algorithm" in (tmp_path / "mpich-json.sh").read_text()


def test_without_tables_one_is_told_what_to_use(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmpi.so").write_bytes(b"\x7fELF nothing")
    with pytest.raises(UserError, match=r"no selection tables .*libmpi\.so; use --format mpich-env"):
        tables_of(Mpi(family="mpich", version="9", mpirun="mpirun", root=str(tmp_path)))


def test_shell_and_module_name_the_files_too(mpich: Machine, tmp_path: Path) -> None:
    export(tuning(plan_for(mpich)), "shell", plan_for(mpich), mpich, tmp_path)
    values = shell.read((tmp_path / "env.sh").read_text(), "f")
    assert values["MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"] == str(tmp_path / "mpich-selection.json")
    assert values["UCX_RNDV_THRESH"] == "16kb"
