from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unisono.core.errors import UserError
from unisono.mpi.launchers import parse
from unisono.mpi.launchers.lines import Option

word = st.text("abcxyz0123456789./_", min_size=1, max_size=8)
options = st.one_of(
    st.tuples(st.sampled_from(["-n", "-np", "--np", "-c"]), st.integers(1, 999).map(str)),
    st.tuples(st.sampled_from(["--map-by", "--bind-to", "--rank-by", "-H", "--host", "--hostfile", "-x"]), word),
    st.tuples(st.sampled_from(["--mca", "-mca", "--gmca", "--prtemca"]), word, word),
    st.tuples(st.sampled_from(["--oversubscribe", "-report-bindings", "-q", "--allow-run-as-root"])),
)
contexts = st.tuples(st.lists(options, max_size=6), st.lists(word, min_size=1, max_size=3))


@given(
    st.sampled_from(["mpirun", "mpiexec", "/opt/ompi/bin/mpirun", "prterun"]),
    st.lists(contexts, min_size=1, max_size=3),
)
def test_a_line_is_taken_apart_as_it_was_put_together(
    launcher: str, parts: list[tuple[list[tuple[str, ...]], list[str]]]
) -> None:
    argv = [launcher]
    for number, (given_options, program) in enumerate(parts):
        argv += [*([":"] if number else []), *(w for option in given_options for w in option), *program]
    line = parse(argv)
    assert line.argv == tuple(argv)
    assert [context.program for context in line.contexts] == [tuple(program) for _, program in parts]
    assert [context.options for context in line.contexts] == [
        tuple(Option(option[0].lstrip("-"), option[1:]) for option in given_options) for given_options, _ in parts
    ]
    assert all(argv[context.start - 1] in (launcher, ":") for context in line.contexts)


@given(st.lists(st.one_of(word, st.sampled_from(["-n", "--mca", "-x", ":", "--", "-", "--host", "srun", "mpirun"]))))
def test_anything_else_is_a_clear_error(argv: list[str]) -> None:
    try:
        line = parse(argv)
    except UserError as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert all(context.program for context in line.contexts)


def test_the_programs_own_words_are_not_looked_at() -> None:
    line = parse(["mpirun", "-n", "2", "./a.out", "-n", "7", "--mca", "x"])
    assert line.contexts[0].program == ("./a.out", "-n", "7", "--mca", "x")
    assert line.value("n") == "2"


def test_equals_signs_and_the_end_of_options() -> None:
    line = parse(["mpirun", "--map-by=core", "-np", "2", "--", "-odd-name"])
    assert line.contexts[0].options == (Option("map-by", ("core",)), Option("np", ("2",)))
    assert line.contexts[0].program == ("-odd-name",)


def test_srun() -> None:
    line = parse(
        ["srun", "-n4", "-N", "2", "--ntasks-per-node=2", "-l", "--mpi", "pmix", "--exclusive", "./a", "-N", "9"]
    )
    assert [str(option) for option in line.contexts[0].options] == [
        *("-n 4", "-N 2", "--ntasks-per-node 2", "-l", "--mpi pmix", "--exclusive")
    ]
    assert line.contexts[0].program == ("./a", "-N", "9")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "no command"),
        (["./a.out"], "not an MPI launcher"),
        (["mpiexec.hydra", "-n", "2", "a"], "MPICH"),
        (["jsrun", "a"], "LSF"),
        (["mpirun"], "no program"),
        (["mpirun", "-n", "2"], "no program"),
        (["mpirun", "-n"], "needs a value"),
        (["mpirun", "--mca", "pml", ":"], "needs 2 values"),
        (["mpirun", "-n", "1", "a", ":", "-n", "1"], "no program"),
        (["mpirun", "--ppn", "2", "a"], "--ppn: no option of mpirun"),
        (["mpirun", "--bnd-to", "core", "a"], r"--bnd-to: no option of mpirun in .*; did you mean --bind-to\?"),
        (["mpirun", "-np", "./a"], r"-np ./a: write the number of ranks after -np"),
        (["mpirun", "-n", "./a", "4"], r"-n ./a: write the number of ranks after -n, as in -n 2"),
        (["mpirun", "--app", "file", "a"], "a file of programs"),
        (["srun", "--multi-prog", "file"], "a file of programs"),
    ],
    ids=str,
)
def test_what_cannot_be_understood_is_said(argv: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse(argv)


def test_mpich_behind_the_name_mpirun_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tmp_path / "mpiexec.hydra"
    real.write_text("#!/bin/sh\n")
    real.chmod(0o755)
    (tmp_path / "mpirun").symlink_to(real)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="mpirun: this is MPICH's launcher"):
        parse(["mpirun", "-n", "2", "a"])
