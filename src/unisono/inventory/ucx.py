"""The UCX this MPI uses: version, transports, devices, configuration variables."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from unisono.core.asking import ask
from unisono.core.errors import UserError
from unisono.core.reading import DOCUMENT_MOST, read_bytes
from unisono.machine.description import Mpi, Ucx

_PROBE = Path(__file__).with_name("ucx_probe.py")
_VERSION = re.compile(r"(?:Library version:|UCT version=|Version)\s*v?(\d+\.\d+\S*)")
_RESOURCE = re.compile(r"#\s+resource\s+\d+\s*:.*--\s*(\w+)/(\S+)")
_TRANSPORT = re.compile(r"#\s+Transport:\s*(\S+)")
_DEVICE = re.compile(r"#\s+Device:\s*(\S+)")
_VARIABLE = re.compile(r"(UCX_\w+)=(.*)")
_LOADED = re.compile(r"libucp\.so\S*\s*=>\s*(/\S+)")


def read_ucx(mpi: Mpi) -> Ucx | None:
    """None when this MPI has no UCX, or a UCX that does not answer."""
    library = find_library(mpi)
    if library is None:
        return None
    version, transports = _by_tool(library)
    if not transports:
        answer = _probe(library, "resources")
        version = parse_version(answer) or version
        transports = parse_transports(answer)
    if not version:
        return None
    return Ucx(version=version, library=library, transports=transports, settings=read_settings(library, os.environ))


def find_library(mpi: Mpi) -> str | None:
    """The libucp that this MPI loads: the one its libraries name, else the one beside them, else None.

    libmpi itself is asked first (static components), then the UCX component of point-to-point.
    """
    if "ucx" not in mpi.components.get("pml", []):
        return None
    for directory in library_directories(mpi):
        for pattern in ("libmpi.so*", "openmpi/mca_pml_ucx.so", "openmpi*/mca_pml_ucx.so"):
            for library in sorted(directory.glob(pattern)):
                match = _LOADED.search(ask(["ldd", str(library)]).out)
                if match:
                    return str(Path(match[1]))
        for library in sorted(directory.glob("openmpi/libucp.so*")):
            return str(library)
    return None


def library_directories(mpi: Mpi) -> Iterator[Path]:
    """Where this MPI's libraries are, most likely first."""
    root = Path(mpi.root or "/usr")
    seen: set[Path] = set()
    said = mpi.traits.library_directory(mpi.mpirun)
    triplets = sorted(root.glob("lib/*-linux-gnu"))
    wanted = [Path(said)] if said else []
    for directory in [*wanted, root / "lib", root / "lib64", *triplets, *(t / "openmpi/lib" for t in triplets)]:
        if directory not in seen and directory.is_dir():
            seen.add(directory)
            yield directory


def read_settings(library: str, environment: Mapping[str, str]) -> dict[str, str]:
    """What the files ucx.conf set, in the order in which UCX reads them: installation, home, $UCX_CONFIG_DIR, here."""
    found: dict[str, str] = {}
    places = [str(Path(library).resolve().parent.parent / "etc" / "ucx"), environment.get("HOME")]
    for place in [*places, environment.get("UCX_CONFIG_DIR"), "."]:
        if place:
            with suppress(UserError):
                data = read_bytes(Path(place) / "ucx.conf", DOCUMENT_MOST)
                found.update(parse_settings(data.decode("utf-8", "replace")))
    return dict(sorted(found.items()))


def parse_settings(text: str) -> dict[str, str]:
    """UCX_NAME=value lines that hold everywhere: those before the first [section for one platform], no comments."""
    general = re.split(r"^\s*\[", text, maxsplit=1, flags=re.MULTILINE)[0]
    return parse_variables("\n".join(line for line in general.splitlines() if not line.lstrip().startswith(("#", ";"))))


def variables(ucx: Ucx) -> dict[str, str]:
    """Every configuration variable of this UCX with its default; empty when it cannot be asked."""
    tool = _tool(ucx.library)
    if tool:
        answer = ask([tool, "-c"])
        if answer.ok:
            return parse_variables(answer.out)
    return parse_variables(_probe(ucx.library, "config"))


def _by_tool(library: str) -> tuple[str, dict[str, list[str]]]:
    """Version and transports from ucx_info, where it belongs to that library."""
    tool = _tool(library)
    if tool is None:
        return "", {}
    return parse_version(ask([tool, "-v"]).out) or "", parse_transports(ask([tool, "-d"], timeout=20.0).out)


def _tool(library: str) -> str | None:
    """ucx_info of the same installation: beside the library's prefix, not any one on PATH."""
    for directory in Path(library).resolve().parents[1:4]:
        path = directory / "bin" / "ucx_info"
        if os.access(path, os.X_OK):
            return str(path)
    return None


def _probe(library: str, what: str) -> str:
    answer = ask([sys.executable, "-I", str(_PROBE), library, what], timeout=20.0)
    return answer.out if answer.ok else ""


def parse_version(text: str) -> str | None:
    match = _VERSION.search(text)
    return match[1] if match else None


def parse_transports(text: str) -> dict[str, list[str]]:
    """Transport -> devices, of `ucx_info -d` ("Transport: tcp", "Device: eth0") or of a context ("-- tcp/eth0")."""
    found: dict[str, list[str]] = {}
    transport = None
    for line in text.splitlines():
        resource = _RESOURCE.match(line)
        if resource:
            found.setdefault(resource[1], []).append(resource[2])
            continue
        named = _TRANSPORT.match(line)
        if named:
            transport = named[1]
            continue
        device = _DEVICE.match(line)
        if device and transport:
            found.setdefault(transport, []).append(device[1])
    return {name: list(dict.fromkeys(devices)) for name, devices in sorted(found.items())}


def parse_variables(text: str) -> dict[str, str]:
    found = {}
    for line in text.splitlines():
        match = _VARIABLE.match(line.strip())
        if match:
            found[match[1]] = match[2].strip()
    return found
