"""A virtual cluster: several nodes on one machine, out of Linux namespaces.

The nodes share the machine's CPUs and files, and nothing else: each has its own host name, network address, processes
and shared memory, so that MPI sees several hosts. It is up in a fraction of a second, needs no ssh, and no root where
the kernel lets users make namespaces. Nothing of it survives `close()`, or the death of the process that made it.

    python -m tests.cluster.vc --nodes 4 -- mpirun --host n0:2,n1:2 ./program
"""

from __future__ import annotations

import argparse
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

_HERE = Path(__file__).parent
_PATIENCE = 15.0
"""Seconds the cluster may take to come up."""


class ClusterError(Exception):
    """Namespaces cannot be made here; the message says why."""


class VirtualCluster:
    """`nodes` hosts n0, n1, ... and a login host from which launches start.

    `shape` limits every link, as (rate, latency) in the words of tc, for example ("1gbit", "20ms"). Raises ClusterError
    where the kernel or missing tools do not allow it.
    """

    def __init__(self, nodes: int = 4, shape: tuple[str, str] | None = None) -> None:
        self.hosts = [f"n{i}" for i in range(nodes)]
        tools = [
            tool for tool in ("unshare", "nsenter", "ip", "bash", *(["tc"] if shape else [])) if not shutil.which(tool)
        ]
        if tools:
            raise ClusterError(f"{', '.join(tools)} not installed (util-linux, iproute2)")
        self._directory = tempfile.TemporaryDirectory(prefix="vc-")
        self.directory = Path(self._directory.name)
        names = [f"10.77.0.{i + 1} {host}" for i, host in enumerate(self.hosts)]
        (self.directory / "hosts").write_text("\n".join(["127.0.0.1 localhost", "10.77.0.254 login", *names, ""]))
        self._as_user = os.geteuid() != 0
        script = ["bash", str(_HERE / "vc.sh"), "login", str(self.directory), str(nodes), *(shape or ())]
        self._outer = subprocess.Popen(
            [
                *("unshare", *(["--user", "--map-root-user"] if self._as_user else []), "--net", "--uts", "--mount"),
                *("--pid", "--fork", "--mount-proc", "--kill-child", *script),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            self._login = self._wait_until_ready()
        except ClusterError:
            self.close()
            raise

    def _wait_until_ready(self) -> str:
        """Pid of the login host's first process, seen from here."""
        assert self._outer.stdout is not None
        readable, _, _ = select.select([self._outer.stdout], [], [], _PATIENCE)
        if not readable or self._outer.stdout.readline() != "ready\n":
            self._outer.kill()
            _, said = self._outer.communicate()
            reason = (said.strip().splitlines() or [f"not up within {_PATIENCE:g} s"])[-1]
            raise ClusterError(f"namespaces are not permitted here: {reason}")
        children = Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children").read_text().split()
        return children[0]

    @property
    def env(self) -> dict[str, str]:
        """What mpirun of Open MPI 4 or 5 needs to start its daemons on the nodes."""
        agent = str(_HERE / "agent.sh")
        return {
            "UNISONO_VC": str(self.directory),
            "TMPDIR": "/dev/shm",
            "PRTE_MCA_plm_ssh_agent": agent,
            "OMPI_MCA_plm_rsh_agent": agent,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            # All nodes share this machine's CPUs: a rank that waits must let others work.
            "OMPI_MCA_mpi_yield_when_idle": "1",
        }

    def wrap(self, argv: Sequence[str]) -> list[str]:
        """`argv` to be run on the login host, in the current directory; give it `env` too."""
        user = ["-U", "--preserve-credentials"] if self._as_user else []
        inside = ["sh", "-c", 'cd "$0" && exec "$@"', str(Path.cwd()), *argv]
        return ["nsenter", "-t", self._login, *user, "-m", "-u", "-n", "-p", "--", *inside]

    def lose(self, host: str) -> None:
        """The node dies, with all that runs on it."""
        pid = (self.directory / f"{host}.pid").read_text().strip()
        subprocess.run(self.wrap(["kill", "-9", pid]), check=True, timeout=_PATIENCE)

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


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a command on the login host of a virtual cluster.")
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--shape", nargs=2, metavar=("RATE", "LATENCY"), help="limit the links, e.g. 1gbit 20ms")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    shape = (arguments.shape[0], arguments.shape[1]) if arguments.shape else None
    try:
        with VirtualCluster(arguments.nodes, shape) as cluster:
            return subprocess.run(cluster.wrap(arguments.command), env={**os.environ, **cluster.env}).returncode
    except ClusterError as error:
        sys.stderr.write(f"{error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
