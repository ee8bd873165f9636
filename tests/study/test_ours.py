"""Our own algorithms as candidates: what the library offers, as a study wants it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.study.machines import machine
from unisono.cmdline.command import Command
from unisono.core.errors import UserError
from unisono.core.vocabulary import CALL_SCOPE, Setting, call_part, launch_part
from unisono.machine.description import Machine, Mpi
from unisono.measure.protocol import OwnAlgorithm
from unisono.parameters.spelling import call_words
from unisono.study import ours as ours_module
from unisono.study.asked import find
from unisono.study.config import Study, parse_study
from unisono.study.matrix import expand
from unisono.study.ours import (
    DEFAULT_PLACES,
    Candidates,
    as_text,
    ask,
    by_collective,
    from_text,
    groups,
    preloaded,
    wants_library,
)

LIBRARY = Path("/lib/libunisono.so")
PULL = OwnAlgorithm("allreduce", "pull")
SLICES = OwnAlgorithm("allreduce", "slices", 16384, "In slices.", "a paper")
TREE = OwnAlgorithm("bcast", "tree")
OFFERED: Candidates = {(1, 2, None): by_collective([PULL, SLICES, TREE])}
DOMAINS = OwnAlgorithm("allreduce", "domains", 16384)
MPICH = Mpi(family="mpich", version="4.0.2", mpirun="mpirun.mpich", call_scope=list(CALL_SCOPE))


def study(parameters: str, more: str = "", ppn: int = 2) -> Study:
    cases = f'[cases]\ncollectives = ["allreduce", "gather"]\nppn = [{ppn}]'
    text = f'[study]\nname = "s"\n{cases}\n[parameters]\n{parameters}\n'
    return parse_study(text + more, "s.toml")


def ours(
    parameters: str, more: str = "", offered: Candidates | None = OFFERED, collective: str = "allreduce"
) -> set[str]:
    matrix = expand(study(parameters, more), machine(), ours=offered)
    (case,) = [c for c in matrix.cases if c.case.collective == collective]
    return {
        "/".join([s["algorithm"], *([s["segment"]] if "segment" in s else [])])
        for s in case.settings
        if s.get("coll") == "unisono"
    }


def test_all_of_them_or_some() -> None:
    assert ours('coll = ["all"]') == ours('coll = ["unisono"]') == {"pull", "slices"}
    assert ours('algorithm = ["unisono/pull"]') == {"pull"}
    assert ours('coll = ["sm"]') == set()
    assert ours('coll = ["all"]', '[[exclude]]\ncoll = "unisono"') == set()
    assert ours('coll = ["all"]', collective="gather") == set()
    assert ours('coll = ["all"]', offered=None) == set()


def test_segments_for_those_that_have_any() -> None:
    assert ours('coll = ["unisono"]\nsegment = ["16384", "65536"]') == {"pull", "slices", "slices/65536"}


def test_under_every_launch_setting() -> None:
    matrix = expand(study('coll = ["unisono"]\npml = ["ucx"]'), machine(), ours=OFFERED)
    (case,) = [c for c in matrix.cases if c.case.collective == "allreduce"]
    pull = Setting({"coll": "unisono", "algorithm": "pull"})
    assert {pull, pull | {"pml": "ucx"}} <= set(case.settings)


def test_the_documents_procedure_does_without() -> None:
    classic = study('coll = ["all"]', '[method]\nname = "classic"')
    assert not wants_library(classic)
    matrix = expand(classic, machine(), scope=(), ours=OFFERED)
    assert not [s for c in matrix.cases for s in c.settings if s.get("coll") == "unisono"]


def test_who_wants_the_library() -> None:
    assert wants_library(study('coll = ["sm"]'))
    assert wants_library(study('algorithm = ["unisono/pull"]'))
    assert not wants_library(study('algorithm = ["ring"]\npml = ["ucx"]'))


def test_one_that_nobody_knows() -> None:
    with pytest.raises(UserError, match=r"'unisono/pul' .* it has unisono/pull, unisono/slices, unisono/tree"):
        ours('algorithm = ["unisono/pul"]')


def test_they_are_switched_inside_a_launch_whatever_the_mpi_can() -> None:
    setting = Setting({"coll": "unisono", "algorithm": "pull", "pml": "ucx"})
    for scope in (CALL_SCOPE, ("algorithm", "segment")):
        assert launch_part(setting, scope) == Setting({"pml": "ucx"})
        assert call_part(setting, scope) == Setting({"coll": "unisono", "algorithm": "pull"})
    assert launch_part(setting, ()) == setting
    words = call_words(setting | {"segment": "16384"}, "allreduce", machine())
    assert (words.use, words.prefer, words.variables) == ("unisono/pull:16384", None, {})


def test_what_is_kept_with_a_study_is_read_again() -> None:
    bound: Candidates = {**OFFERED, (1, 4, DEFAULT_PLACES): {"bcast": (TREE,)}, (1, 4, "block"): {"bcast": (TREE,)}}
    assert from_text(as_text(OFFERED)) == OFFERED
    assert from_text(as_text(bound)) == bound
    assert from_text(as_text({})) == {}


def test_the_ranks_that_are_asked() -> None:
    text = '[study]\nname = "s"\n[cases]\ncollectives = ["bcast"]\nnodes = [1, 99]\nppn = [1, 2, 4096]\n'
    assert groups(parse_study(text, "s.toml"), machine()) == [(1, 2, None)]


def test_where_a_node_has_domains_the_ranks_are_asked_in_all_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bound ranks see more domains than MPICH's launcher shows by itself."""
    monkeypatch.setattr(ours_module, "Session", _Domains)
    here = machine(cores=4, numa=2, sockets=2).model_copy(update={"mpi": MPICH})
    asked = study('coll = ["unisono"]\nplacement = ["block", "cyclic", "block:socket"]', ppn=4)
    assert groups(asked, machine(cores=4)) == [(1, 4, None)], "one domain: asked once"
    assert groups(study('coll = ["unisono"]', ppn=4), here) == [(1, 4, None)], "bound in one way: asked once"
    assert groups(asked, here) == [(1, 4, DEFAULT_PLACES), (1, 4, "block"), (1, 4, "cyclic")]
    offered = ask(asked, here, Path("bench"), LIBRARY)
    (case,) = [c for c in expand(asked, here, ours=offered).cases if c.case.collective == "allreduce"]
    found = {(s.get("placement"), s["algorithm"]) for s in case.settings if s.get("coll") == "unisono"}
    assert found == {(place, "pull") for place in (None, "block", "cyclic")} | {
        ("block", "domains"),
        ("cyclic", "domains"),
    }


class _Domains:
    """A launch whose ranks see domains where they are bound."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        self._bound = "-bind-to" in argv

    def __enter__(self) -> _Domains:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def algorithms(self) -> list[OwnAlgorithm]:
        return [PULL, DOMAINS] if self._bound else [PULL]


def test_what_would_show_domains_is_said() -> None:
    here = machine(cores=4, numa=2, sockets=2)
    under_mpich = here.model_copy(update={"mpi": MPICH})
    plain, bound = study('coll = ["unisono"]', ppn=4), study('coll = ["unisono"]\nplacement = ["block"]', ppn=4)
    said = [
        [note for note in expand(wanted, on, ours=OFFERED).notes if "domains" in note]
        for wanted, on in ((plain, under_mpich), (plain, here), (bound, under_mpich))
    ]
    assert said == [
        [
            (
                "This node has several domains (sockets, NUMA domains, caches), but MPICH by itself does not "
                'bind ranks within one. unisono/domains is therefore compared only with placement = ["block"] '
                "in the study."
            )
        ],
        [],
        [],
    ]


def test_what_the_user_has_set_for_programs_does_not_reach_the_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_RULES", "/home/me/rules.conf")
    line = preloaded(Command(["mpirun", "-n", "2", "./bench"], {}, None, []), LIBRARY, machine())
    assert "LD_PRELOAD=/lib/libunisono.so" in line.argv
    assert "UNISONO_RULES=" in line.argv
    assert line.argv[-1] == "./bench"


def test_reductions_that_are_to_be_reproducible_are_served_by_ours_alone() -> None:
    """The library lists what keeps the order; what the MPI offers beside it does not, or nobody knows."""
    more = '[method]\nreproducible = "placement"\n'
    asked = study('coll = ["all", "adapt"]\nalgorithm = ["all"]\npml = ["ob1"]', more)
    assert wants_library(asked)
    matrix = expand(asked, machine(), ours=OFFERED)
    calls = {c.case.collective: {s.get("coll") for s in c.settings} for c in matrix.cases}
    assert calls["allreduce"] == {None, "unisono"}
    assert "basic" in calls["gather"]
    assert any("reproducible (placement)" in note for note in matrix.notes)
    asked = study('coll = ["adapt", "han"]', '[method]\nreproducible = "runs"\n')
    (case, _) = expand(asked, machine(), ours=OFFERED).cases
    assert not any("do not cover" in note for note in expand(asked, machine(), ours=OFFERED).notes)
    assert "adapt" not in {s.get("coll") for s in case.settings}


def test_a_reduce_scatter_has_no_choice_and_a_scan_no_promise() -> None:
    """Where the order is kept our library serves the one by an alltoallv; the other it leaves to the MPI."""
    asked = study('coll = ["basic"]', '[method]\nreproducible = "placement"\n')
    names = ["reduce_scatter", "reduce_scatter_block", "scan"]
    asked = asked.model_copy(update={"cases": asked.cases.model_copy(update={"collectives": names})})
    matrix = expand(asked, machine(), ours=OFFERED)
    calls = {c.case.collective: {s.get("coll") for s in c.settings} for c in matrix.cases}
    assert calls == {"reduce_scatter": {None}, "reduce_scatter_block": {None}, "scan": {None, "basic"}}
    assert any(note.endswith("bits of their results: scan.") for note in matrix.notes)


def test_the_launches_of_a_study_are_told_what_is_to_be_reproducible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_REPRODUCIBLE", "runs")
    line = Command(["mpirun", "-n", "2", "./bench"], {}, None, [])
    assert "UNISONO_REPRODUCIBLE=ranks" in preloaded(line, LIBRARY, machine(), "ranks").argv
    assert "UNISONO_REPRODUCIBLE=" in preloaded(line, LIBRARY, machine()).argv


def test_algorithms_of_mpich_are_candidates_beside_ours() -> None:
    algorithms = {"allreduce": {"smp": 2, "recursive_doubling": 3}, "gather": {"binomial": 1}}
    here = machine(nodes=2).model_copy(update={"mpi": MPICH.model_copy(update={"algorithms": algorithms})})

    def named(nodes: int, algorithm: str) -> dict[str, set[str]]:
        asked = study(f'coll = ["all"]\nalgorithm = ["{algorithm}"]\nsegment = ["16384"]', '[method]\nname = "race"')
        asked = asked.model_copy(update={"cases": asked.cases.model_copy(update={"nodes": [nodes]})})
        offered = {(nodes, ppn, places): these for (_, ppn, places), these in OFFERED.items()}
        matrix = expand(asked, here, ours=offered)
        assert matrix.scope == tuple(CALL_SCOPE)
        return {
            c.case.collective: {s["algorithm"] for s in c.settings if s.get("coll") == "mpich" and len(s) == 2}
            for c in matrix.cases
        }

    assert named(1, "all") == {"allreduce": {"recursive_doubling"}, "gather": {"binomial"}}
    assert named(2, "all")["allreduce"] == {"smp", "recursive_doubling"}, "nodes of several ranks"
    assert named(1, "binomial") == {"allreduce": set(), "gather": {"binomial"}}


def test_under_mpich_ours_are_the_only_candidates() -> None:
    here: Machine = machine().model_copy(update={"mpi": MPICH})
    matrix = expand(study('coll = ["all"]\nalgorithm = ["all"]\npml = ["ob1", "ucx"]'), here, ours=OFFERED)
    (case,) = [c for c in matrix.cases if c.case.collective == "allreduce"]
    assert {s.get("coll") for s in case.settings} == {None, "unisono"}
    assert "pml is a parameter of Open MPI; it is left out with MPICH." in matrix.notes
    quick = expand(find("quick"), here, ours=OFFERED)
    assert not [note for note in quick.notes if "left out with" in note], "it has parameters for every MPI"
    line = preloaded(Command(["mpirun.mpich", "-n", "2", "./bench"], {}, None, []), LIBRARY, here)
    assert line.argv == ["mpirun.mpich", "-genv", "LD_PRELOAD", str(LIBRARY), "-n", "2", "./bench"]
