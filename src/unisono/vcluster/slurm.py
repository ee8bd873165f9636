"""Slurm on the nodes of a virtual cluster: its real daemons, one on the login host and one a node.

Everything of it lies in the cluster's own directory and runs in the cluster's own namespaces, so that it ends with the
cluster. Nobody outside these namespaces can reach the daemons, which is why they ask nobody who they are (auth/none).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

from unisono.core.language import _
from unisono.vcluster.cluster import ClusterError, Nodes

TOOLS = ("slurmctld", "slurmd", "srun", "sbatch", "squeue", "scontrol")
_PATIENCE = 30.0
"""Seconds in which all nodes are idle; here it takes one or two."""

_SLURM_CONF = """\
ClusterName=unisono
SlurmctldHost=login(10.77.0.254)
SlurmUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
ReturnToService=2
MinJobAge=3600
KillWait=5
EnforcePartLimits=ALL
SlurmdTimeout=20
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
NodeName=n[0-{last}] CPUs={ppn} Sockets=1 CoresPerSocket={ppn} ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10 State=UP
"""

_STEP = "9999.4294967295"
"""The longest name of a step: a job and the step in it."""
_SOCKET_MOST = 107
"""Characters of a socket's path (unix(7)). Where it is longer, srun starts nothing and says nothing of the reason."""


def start(nodes: Nodes, ppn: int) -> None:
    """Bring Slurm up, with `ppn` CPUs a node, and wait until it can start jobs on all of them.

    Raises ClusterError where it is not installed, cannot run as this user, or does not come up.
    """
    if missing := [tool for tool in TOOLS if not _found(tool)]:
        raise ClusterError(
            _("Slurm's {tools} are not here: install slurmctld, slurmd and slurm-client").format(
                tools=", ".join(missing)
            )
        )
    if os.geteuid() != 0:
        raise ClusterError(_("Slurm's daemons start jobs for others, which only root can: run as root"))
    folder = _folder(nodes)
    longest = max(len(f"{folder}/spool.{host}/{host}_{_STEP}") for host in nodes.hosts)
    if longest > _SOCKET_MOST:
        raise ClusterError(
            _(
                "{folder}: too long a path for the sockets of Slurm's steps, which may have {most} characters and "
                "would have {longest}: set TMPDIR to a shorter one"
            ).format(folder=folder, most=_SOCKET_MOST, longest=longest)
        )
    for name in ("state", *(f"spool.{host}" for host in nodes.hosts)):
        (folder / name).mkdir(parents=True)
    (folder / "slurm.conf").write_text(_SLURM_CONF.format(folder=folder, last=len(nodes.hosts) - 1, ppn=ppn))
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    (folder / "mpi.conf").write_text("PMIxCliTmpDirBase=/dev/shm\n")
    _daemon(nodes, nodes.wrap([_found("slurmctld"), "-c"]))
    for host in nodes.hosts:
        _daemon(nodes, nodes.wrap([*nodes.entering(host), _found("slurmd"), "-N", host]))
    _wait_until_idle(nodes)


def is_started(nodes: Nodes) -> bool:
    return (_folder(nodes) / "slurm.conf").exists()


def environment(nodes: Nodes) -> dict[str, str]:
    """For commands on the login host and for their jobs. Launchers are to find the job's nodes by themselves, so it
    says nothing of hosts, nor of a way to them."""
    about_launching = ("UNISONO_VC", "agent", "HYDRA_LAUNCHER", "HYDRA_BOOTSTRAP")
    kept = {name: value for name, value in nodes.env.items() if not any(word in name for word in about_launching)}
    return {**kept, "SLURM_CONF": str(_folder(nodes) / "slurm.conf")}


def _folder(nodes: Nodes) -> Path:
    return nodes.directory / "slurm"


def _found(tool: str) -> str:
    return shutil.which(tool) or shutil.which(tool, path="/usr/sbin:/sbin") or ""


def _daemon(nodes: Nodes, argv: list[str]) -> None:
    """It goes to the background by itself. Raises ClusterError where it does not start."""
    with (_folder(nodes) / "daemons.log").open("ab") as log:
        done = subprocess.run(
            argv,
            env={**os.environ, **environment(nodes)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            timeout=_PATIENCE,
            check=False,
        )
    if done.returncode:
        said = (_folder(nodes) / "daemons.log").read_text(errors="replace").strip().splitlines() or [""]
        raise ClusterError(_("Slurm does not start: {said}").format(said=said[-1][:300]))


def _wait_until_idle(nodes: Nodes) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        done = subprocess.run(
            nodes.wrap([_found("sinfo"), "--noheader", "--Node", "--format=%T"]),
            env={**os.environ, **environment(nodes)},
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
        states = done.stdout.split()
        if states == ["idle"] * len(nodes.hosts):
            return
        if time.monotonic() > deadline:
            raise ClusterError(
                _("Slurm's nodes did not become idle within {seconds:g} s: {said}").format(
                    seconds=_PATIENCE, said=(", ".join(states) or done.stderr.strip())[:300]
                )
            )
        time.sleep(0.1)
