"""UCX: its version, transports, variables and files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.machine.trees import recorded
from unisono.inventory import ucx
from unisono.inventory.mpi import describe_mpi, embedded_mpirun
from unisono.machine.description import Mpi


@pytest.mark.parametrize("version", ["1.20.1", "1.13.1"])
def test_a_context(version: str) -> None:
    text = recorded(f"ucx-resources-{version}.txt")
    assert ucx.parse_version(text) == version
    found = ucx.parse_transports(text)
    assert sorted(found["tcp"]) == ["eth0", "lo"]
    assert {"self", "posix", "sysv", "cma"} <= set(found)


def test_ucx_info_with_a_roce_port() -> None:
    found = ucx.parse_transports(recorded("derived-hpcx-ucx_info-d.txt"))
    assert found["rc_mlx5"] == found["dc_mlx5"] == found["ud_mlx5"] == ["mlx5_2:1"]
    assert found["tcp"] == ["lo", "ens300"]
    assert ucx.parse_version(recorded("derived-hpcx-ucx_info-v.txt")) == "1.18.0"


@pytest.mark.parametrize(
    ("text", "version"),
    [("# UCT version=1.10.0 revision 7477e81", "1.10.0"), ("Version 1.17.0\n", "1.17.0"), ("", None), ("none", None)],
)
def test_versions(text: str, version: str | None) -> None:
    assert ucx.parse_version(text) == version


def test_variables() -> None:
    found = ucx.parse_variables(recorded("ucx-config-1.20.1.txt"))
    assert found["UCX_RNDV_THRESH"] == "intra:auto,inter:auto"
    assert found["UCX_TLS"] == "all"


_NAME = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
_DEVICE = st.from_regex(r"[a-z][a-z0-9_:]{0,8}", fullmatch=True)


@given(st.dictionaries(_NAME, st.lists(_DEVICE, min_size=1, max_size=3, unique=True), max_size=4))
def test_both_forms_read_back(transports: dict[str, list[str]]) -> None:
    pairs = [(transport, device) for transport, devices in transports.items() for device in devices]
    context = "\n".join(f"#      resource {i}  :  md 0  dev 0  flags -- {t}/{d}" for i, (t, d) in enumerate(pairs))
    listing = "\n".join(f"#      Transport: {t}\n#         Device: {d}\n#           Type: network" for t, d in pairs)
    expected = dict(sorted(transports.items()))
    assert ucx.parse_transports(context) == expected
    assert ucx.parse_transports(listing) == expected


@given(st.dictionaries(st.from_regex(r"UCX_[A-Z_]{1,10}", fullmatch=True), st.from_regex(r"\S{0,8}", fullmatch=True)))
def test_variables_read_back(variables: dict[str, str]) -> None:
    assert ucx.parse_variables("\n".join(f"{name}={value}" for name, value in variables.items())) == variables


@given(st.text())
def test_anything(text: str) -> None:
    ucx.parse_version(text)
    ucx.parse_transports(text)
    assert ucx.parse_settings(text).keys() <= ucx.parse_variables(text).keys()


def test_settings_of_files_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = {name: tmp_path / name for name in ("prefix/etc/ucx", "home", "configured", "here", "prefix/lib")}
    for place in places.values():
        place.mkdir(parents=True)
    monkeypatch.chdir(places["here"])
    (places["prefix/etc/ucx"] / "ucx.conf").write_text("# UCX_NET_DEVICES=no\nUCX_TLS=self\nUCX_LOG_LEVEL=warn\n")
    (places["home"] / "ucx.conf").write_text("UCX_TLS=self,sm\n[some machine]\nUCX_RNDV_THRESH=1\n")
    (places["configured"] / "ucx.conf").write_text("UCX_RNDV_THRESH=16k\n")
    environment = {"HOME": str(places["home"]), "UCX_CONFIG_DIR": str(places["configured"])}
    library = str(places["prefix/lib"] / "libucp.so.0")
    assert ucx.read_settings(library, environment) == {
        "UCX_LOG_LEVEL": "warn",
        "UCX_RNDV_THRESH": "16k",
        "UCX_TLS": "self,sm",
    }


def test_an_mpi_without_ucx_has_none() -> None:
    assert (
        ucx.read_ucx(Mpi(family="openmpi", version="5.0.6", mpirun="/opt/bin/mpirun", components={"pml": ["ob1"]}))
        is None
    )


def test_a_library_that_cannot_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken libucp must end the probe, not this process."""
    library = tmp_path / "lib/openmpi/libucp.so.0"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"not a library")
    mpi = Mpi(
        family="openmpi",
        version="5.0.6",
        mpirun=str(tmp_path / "bin/mpirun"),
        root=str(tmp_path),
        components={"pml": ["ucx"]},
    )
    assert ucx.find_library(mpi) == str(library)
    assert ucx.read_ucx(mpi) is None


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("launcher", ["embedded", "/usr/bin/mpirun"])
def test_the_installed_ones(launcher: str) -> None:
    path = embedded_mpirun() if launcher == "embedded" else launcher
    if path is None or not Path(path).exists():
        pytest.skip(f"no {launcher} mpirun here")
    mpi = describe_mpi(path)
    found = ucx.read_ucx(mpi)
    if found is None:
        pytest.skip("this MPI has no UCX")
    assert "self" in found.transports
    variables = ucx.variables(found)
    assert "UCX_RNDV_THRESH" in variables
    assert len(variables) > 100
