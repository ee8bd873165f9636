"""A virtual cluster: several nodes on one machine, out of Linux namespaces.

The nodes share the machine's CPUs and files, and nothing else: each has its own host name, network address, processes
and shared memory, so that MPI sees several hosts. It is up in a fraction of a second, needs no ssh, and no root where
the kernel lets users make namespaces.

`VirtualCluster` lives as long as the process that made it; `vcluster.kept` keeps one until it is taken down.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from unisono.core.errors import UserError
from unisono.core.language import _

_HERE = Path(__file__).parent
AGENT = _HERE / "agent.sh"
"""Stands in for ssh where launchers start their daemons on the nodes."""
_NAMESPACES = ("--net", "--uts", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child")
_PATIENCE = 15.0
"""Seconds the cluster may take to come up."""


class ClusterError(UserError):
    """Namespaces cannot be made here; the message says why."""


def start(
    directory: Path, nodes: int, shape: tuple[str, str] | None, rates: Sequence[str], held: int
) -> subprocess.Popen[str]:
    """The cluster's outermost process, which says "ready" once all is up, and ends when `held`, its input, does.

    `rates` are those of the links of n0, n1 ... where they are not all the shape's. Raises ClusterError where tools are
    missing.
    """
    wanted = ["unshare", "nsenter", "ip", "bash", *(["tc"] if shape else [])]
    if missing := [tool for tool in wanted if not shutil.which(tool)]:
        raise ClusterError(
            _("a virtual cluster needs {tools}: install util-linux and iproute2").format(tools=", ".join(missing))
        )
    names = [f"10.77.0.{i + 1} n{i}" for i in range(nodes)]
    (directory / "hosts").write_text("\n".join(["127.0.0.1 localhost", "10.77.0.254 login", *names, ""]))
    script = [*outermost(directory), str(nodes), *(shape or ()), *(rates if shape else ())]
    user = ["--user", "--map-root-user"] if os.geteuid() != 0 else []
    return subprocess.Popen(
        ["unshare", *user, *_NAMESPACES, "bash", *script],
        stdin=held,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the command that runs in it
    )


def outermost(directory: Path) -> list[str]:
    """Words in a row that the command line of the cluster's outermost process has, and no other cluster's."""
    return [str(_HERE / "cluster.sh"), "login", str(directory)]


def wait_until_ready(outer: subprocess.Popen[str]) -> None:
    """Raises ClusterError, with the outermost process killed, where the cluster does not come up."""
    assert outer.stdout is not None
    readable, _write, _error = select.select([outer.stdout], [], [], _PATIENCE)
    if readable and outer.stdout.readline() == "ready\n":
        return
    outer.kill()
    _out, said = outer.communicate()
    reason = (said.strip().splitlines() or [_("not up within {seconds:g} s").format(seconds=_PATIENCE)])[-1]
    raise ClusterError(
        _("namespaces are not permitted here: {reason}; run as root, or let users make namespaces").format(
            reason=reason
        )
    )


class Nodes:
    """The hosts n0, n1, ... of a cluster that is up, whose outermost process is `outer`, and the way into them."""

    def __init__(self, directory: Path, outer: int) -> None:
        self.directory = directory
        self.hosts = [
            line.split()[1] for line in (directory / "hosts").read_text().splitlines() if line.split()[1][0] == "n"
        ]
        self._login = Path(f"/proc/{outer}/task/{outer}/children").read_text().split()[0]

    @property
    def env(self) -> dict[str, str]:
        """What mpirun of Open MPI 4 or 5, MPICH or Intel MPI needs to start its daemons on the nodes."""
        agent = str(AGENT)
        return {
            "UNISONO_VC": str(self.directory),
            "TMPDIR": "/dev/shm",
            "PRTE_MCA_plm_ssh_agent": agent,
            "OMPI_MCA_plm_rsh_agent": agent,
            "HYDRA_LAUNCHER": "ssh",
            "HYDRA_LAUNCHER_EXEC": agent,
            "I_MPI_HYDRA_BOOTSTRAP": "ssh",
            "I_MPI_HYDRA_BOOTSTRAP_EXEC": agent,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            # All nodes share this machine's CPUs: a rank that waits must let others work.
            "OMPI_MCA_mpi_yield_when_idle": "1",
        }

    def wrap(self, argv: Sequence[str]) -> list[str]:
        """`argv` to be run on the login host, in the current directory; give it `env` too."""
        user = ["-U", "--preserve-credentials"] if os.geteuid() != 0 else []
        inside = ["sh", "-c", 'cd "$1" && shift && exec "$@"', "unisono", str(Path.cwd()), *argv]
        return ["nsenter", "-t", self._login, *user, "-m", "-u", "-n", "-p", "--", *inside]

    def entering(self, host: str) -> list[str]:
        """Words before a command that is to run on the node; `wrap` takes them, too."""
        return ["nsenter", "-t", self._pid(host), "-m", "-u", "-i", "-n", "-p", "--"]

    def lose(self, host: str) -> None:
        """The node dies, with all that runs on it."""
        subprocess.run(self.wrap(["kill", "-9", self._pid(host)]), check=True, timeout=_PATIENCE)

    def _pid(self, host: str) -> str:
        """As the login host counts processes."""
        return (self.directory / f"{host}.pid").read_text().strip()


class VirtualCluster(Nodes):
    """`nodes` hosts and a login host from which launches start, until `close()`, or the death of this process.

    `shape` limits every link, as (rate, latency) in the words of tc, for example ("1gbit", "20ms"); `rates` are those
    of n0, n1 ... where they are not all the same. Raises ClusterError where the kernel or missing tools do not allow
    it.
    """

    def __init__(self, nodes: int = 4, shape: tuple[str, str] | None = None, rates: Sequence[str] = ()) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="vc-")
        directory = Path(self._directory.name)
        try:
            self._outer = start(directory, nodes, shape, rates, subprocess.PIPE)
            wait_until_ready(self._outer)
        except ClusterError:
            self._directory.cleanup()
            raise
        super().__init__(directory, self._outer.pid)

    def close(self) -> None:
        """End everything on all nodes. The outer process ignores SIGTERM; with it dies the namespace's first one."""
        self._outer.kill()
        self._outer.communicate()
        self._directory.cleanup()

    def __enter__(self) -> VirtualCluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
