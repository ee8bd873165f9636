"""What libraries print, as recorded from real launches, and what is made of it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from unisono.cmdline.command import command
from unisono.core.errors import LaunchError
from unisono.core.vocabulary import DEFAULT, DISPATCHED, PERSISTENT
from unisono.export import seen
from unisono.export.handed import Handed
from unisono.export.probe import Answers, Parameter, UcxVariable, _parse, ask, probe_program, sources
from unisono.machine.description import Machine

UCX_1_20 = """\
[1795293965.343927] [vm:9492 :0]     ucp_context.c:2463 UCX  INFO  Version 1.20.1 (loaded from /x/libucp.so.0)
[1795293965.357276] [vm:9491 :0]          parser.c:2355 UCX  WARN  unused environment variable: UCX_BOGUS_X
[1795293965.357276] [vm:9491 :0]          parser.c:2355 UCX  WARN  (set UCX_WARN_UNUSED_ENV_VARS=n to suppress)
[1795293965.357320] [vm:9491 :0]          parser.c:2364 UCX  INFO  UCX_* env variables: UCX_RNDV_THRESH=16kb UCX_LOG_LEVEL=info
"""  # noqa: E501
UCX_1_13 = """\
[1795293965.498739] [vm:9503 :0]     ucp_context.c:1849 UCX  INFO  Version 1.13.1 (loaded from /lib/libucp.so.0)
[1795293965.509222] [vm:9504 :0]          parser.c:1908 UCX  WARN  unused env variable: UCX_BOGUS_X (set UCX_WARN_UNUSED_ENV_VARS=n to suppress this warning)
[1795293965.509237] [vm:9504 :0]          parser.c:1916 UCX  INFO  UCX_* env variables: UCX_LOG_LEVEL=info UCX_RNDV_THRESH=16kb
"""  # noqa: E501


def answers(output: str = "", **more: Any) -> Answers:
    empty: dict[str, Any] = {"ranks": 2, "parameters": {}, "ucx": {}, "failed": {}, "where": []}
    return Answers(**{**empty, **more}, output=output)


@pytest.mark.parametrize("output", [UCX_1_20, UCX_1_13])
def test_ucx_variables_in_use_and_unused(output: str) -> None:
    files = Handed(env={"UCX_RNDV_THRESH": "16kb", "UCX_BOGUS_X": "3"})
    used, unused = seen.ucx(files, answers(output))
    assert (used.taken, used.found) == (True, "16kb")
    assert (unused.taken, unused.found) == (False, "unused")


def test_another_value_than_the_wanted_one() -> None:
    report = {"UCX_RNDV_THRESH": UcxVariable(True, True, "intra:16K,inter:16K", "intra:64K,inter:64K")}
    (item,) = seen.ucx(Handed(env={"UCX_RNDV_THRESH": "64kb"}), answers(UCX_1_20, ucx=report))
    assert (item.taken, item.found) == (False, "intra:16K,inter:16K")


def test_ucx_that_never_started() -> None:
    (item,) = seen.ucx(Handed(ucx_file={"UCX_TLS": "sm"}), answers("no word of it"))
    assert item.taken is False
    assert "pml" in item.reason


def test_a_variable_of_ucxs_lower_layers_cannot_be_seen_from_a_file() -> None:
    report = {"UCX_RC_TX_CQ_LEN": UcxVariable(True, False)}
    (item,) = seen.ucx(Handed(ucx_file={"UCX_RC_TX_CQ_LEN": "1"}), answers(UCX_1_20, ucx=report))
    assert item.taken is None


@pytest.mark.parametrize(
    ("wanted", "found", "label", "taken"),
    [
        ("1", "1", "", True),
        ("true", "1", "", True),
        ("no", "0", "", True),
        ("64k", "65536", "", True),
        ("ring", "4", "ring", True),
        ("ucx", "ob1", "", False),
        ("1", "0", "", False),
        ("^ofi", "^ofi", "", True),
    ],
)
def test_spellings_of_one_value(wanted: str, found: str, label: str, taken: bool) -> None:
    parameter = Parameter(True, found, label)
    (item,) = seen.parameters({"x": wanted}, answers(parameters={"x": parameter}))
    assert item.taken is taken


def test_what_the_probe_says() -> None:
    found = _parse(
        'noise\n@P {"ranks":2}\n[1,0]<stdout>: @P {"cvar":"pml","known":true,"value":"ucx","label":""}\n'
        '@P {"cvar":"x","known":false}\n@P {"call":"bcast","bytes":8,"ranks":2,"failed":true}\n'
        '@P {"rank":1,"host":"n0","cpus":[1]}\n@P {"done":true}\n'
    )
    assert found.done
    assert found.ranks == 2
    assert found.parameters == {"pml": Parameter(True, "ucx"), "x": Parameter(False)}
    assert found.failed == {("bcast", 8, 2): True}
    assert found.where == [{"rank": 1, "host": "n0", "cpus": [1]}]
    with pytest.raises(LaunchError, match="protocol"):
        _parse('@P {"ranks":')


def test_what_ucx_prints_amid_an_answer() -> None:
    """As MPICH 4.0.2 passed it on, of another rank."""
    said = (
        "[1795937500.671710] [vm:16889:0]      ucp_worker.c:1763 UCX  INFO    ep_cfg[0]: tag(sysv/memory cma/memory) "
        "rma(sysv/memory posix/memory) am(sysv/memory cma/memory)\n"
    )
    found = _parse(f'{said}@P {{"cvar":"MPIR_CVAR_BARRIER_DEVIC{said}{said}E_COLLECTIVE","known":false}}\n{said}')
    assert found.parameters == {"MPIR_CVAR_BARRIER_DEVICE_COLLECTIVE": Parameter(False)}


@pytest.mark.parametrize("name", ["embedded", "system"])
def test_the_probe_has_no_warnings(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    found = request.getfixturevalue(name)
    assert isinstance(found, Machine)
    assert found.mpi is not None
    assert found.mpi.mpicc is not None
    words = [found.mpi.mpicc, "-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
    subprocess.run([*words, *map(str, sources("*.c"))], check=True)


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", ["embedded", "system"])
def test_the_probe_makes_every_call_that_our_library_serves(
    name: str, ranks: int, request: pytest.FixtureRequest
) -> None:
    """What a rules file says of any of them can so be seen."""
    found = request.getfixturevalue(name)
    assert found.mpi is not None
    called = [name for name in DISPATCHED if found.mpi.has_persistent or name not in PERSISTENT]
    words = [str(probe_program(found)), *(f"call={collective}:24" for collective in called)]
    line = command(found, DEFAULT, 1, ranks, words, oversubscribe=True)
    answers = ask(line.argv, line.env, 60.0)
    failed = {collective: answers.failed[collective, 24, ranks] for collective in called}
    assert not any(failed.values()), [one for one, has in failed.items() if has]
