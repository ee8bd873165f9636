"""The machine as data: what `unisono doctor --json` prints and `--machine FILE` reads."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from unisono import mpi as families
from unisono.core.version import at_least
from unisono.mpi.family import Family
from unisono.mpi.launchers import step
from unisono.mpi.launchers.launcher import Launcher


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Cpu(_Model):
    """One hardware thread the launcher can bind to, by the operating system's numbers."""

    cpu: int
    core: int
    """Number of the core, unique on the node; SMT siblings share it."""
    numa: int
    socket: int
    l3: int = 0
    """Which last-level cache it uses, numbered over the node."""


class Cache(_Model):
    level: str
    """"L1d", "L2" or "L3"."""
    bytes: int
    """Of one instance."""
    shared_by: int
    """How many cores share one instance."""


class Node(_Model):
    """A host ranks can be placed on, and how many slots the launcher may use there."""

    host: str
    slots: int


def mpi_name(family: str) -> str:
    """For people."""
    return families.family(family).NAME if families.known(family) else family


class Mpi(_Model):
    family: str
    """One of unisono.mpi; others are recognised by name and refused with a reason."""
    version: str
    mpirun: str
    mpicc: str | None = None
    root: str | None = None
    """Installation prefix."""
    components: dict[str, list[str]] = Field(default_factory=dict)
    """Framework -> components present: coll, pml, btl, mtl ..."""
    algorithms: dict[str, dict[str, int]] = Field(default_factory=dict)
    """Collective -> algorithm of coll/tuned, or of MPICH -> its number in this version."""
    values: dict[str, dict[str, int]] = Field(default_factory=dict)
    """Variable of MPICH that decides before its algorithms' -> name of a value -> its number."""
    call_scope: list[str] = Field(default_factory=list)
    """Which call-scope parameters this version really switches inside a launch: coll, algorithm, segment."""
    settings: dict[str, str] = Field(default_factory=dict)
    """MCA parameters set in files (openmpi-mca-params.conf of the site or the user): name -> value."""
    launcher: list[str] = Field(default_factory=list)
    """Words that start ranks in place of mpirun, such as srun --mpi=pmix; mpirun then only tells which MPI it is."""
    launcher_binds: bool = True
    """Whether these words can bind ranks: Slurm without a plugin for it lets every rank use all CPUs of its node."""

    @property
    def name(self) -> str:
        """For people."""
        return mpi_name(self.family)

    @property
    def traits(self) -> Family:
        """What differs from one MPI to another."""
        return families.traits(self.family)

    @property
    def starter(self) -> Launcher:
        """Whose options a command line takes that starts ranks."""
        return step.LAUNCHER if self.launcher else self.traits.LAUNCHER

    @property
    def has_persistent(self) -> bool:
        """Whether it has persistent collectives (MPI_Allreduce_init) that can be used."""
        return at_least(self.version, self.traits.PERSISTENT_FROM)

    @property
    def binds(self) -> bool:
        """Whether the launcher binds ranks by itself, as far as is known."""
        return not self.launcher and self.traits.BINDS_TO != "nothing"


class Device(_Model):
    """A network device a transport can use, e.g. mlx5_2:1 over RoCE."""

    name: str
    kind: str
    state: str = "up"
    gbps: float | None = None
    numa: int | None = None


class Ucx(_Model):
    version: str
    library: str
    transports: dict[str, list[str]] = Field(default_factory=dict)
    """Transport -> devices."""
    settings: dict[str, str] = Field(default_factory=dict)
    """Variables set in files (ucx.conf): name -> value; the environment wins over them."""


class Scheduler(_Model):
    name: str
    """"slurm", "pbs", "lsf", "flux" or "none"."""
    version: str | None = None
    inside_job: bool = False
    detail: str = ""


class Machine(_Model):
    """One node kind, the software on it, and the nodes a launch may use."""

    format: str = "unisono-machine"
    format_version: int = 1
    name: str
    source: str = "measured"
    """"measured" by doctor, or where a description of another machine comes from."""
    cpu_model: str
    architecture: str = "x86_64"
    cpus: list[Cpu]
    """CPUs ranks may be bound to (the affinity mask, not all that exist)."""
    sockets: int
    numa_per_socket: int
    """NPS on AMD systems: a boot setting, recorded and compared, never set."""
    smt: int
    """Hardware threads a core."""
    caches: list[Cache] = Field(default_factory=list)
    memory_bytes: int
    memory_available_bytes: int
    cpu_quota: float | None = None
    """CPUs' worth of time a cgroup limits this process to; None where there is no limit."""
    governor: str | None = None
    kernel: str = ""
    os: str = ""
    virtual: str | None = None
    """Hypervisor or container technology, when there is one."""
    nodes: list[Node]
    mpi: Mpi | None = None
    ucx: Ucx | None = None
    devices: list[Device] = Field(default_factory=list)
    scheduler: Scheduler = Scheduler(name="none")
    environment: dict[str, str] = Field(default_factory=dict)
    """UCX_*, OMPI_*, PRTE_*, PMIX_* the user had set: kept, reported, part of the fingerprint."""
    root_user: bool = False

    @property
    def traits(self) -> Family:
        """What is to be known of its MPI; of the one that is assumed, where none is described."""
        return families.traits(self.mpi.family if self.mpi else None)

    @property
    def family(self) -> str:
        """Of its MPI; the one that is assumed, where none is described."""
        return self.mpi.family if self.mpi else families.ASSUMED.FAMILY

    @property
    def is_described(self) -> bool:
        """Whether anything is known of its hardware: a study of another benchmark's results may be without."""
        return bool(self.cpus)

    @property
    def cores(self) -> int:
        """Cores of one node."""
        return len({c.core for c in self.cpus})

    @property
    def numa_nodes(self) -> list[int]:
        return sorted({c.numa for c in self.cpus})

    @property
    def has_domains(self) -> bool:
        """Whether anything larger than a core divides a node: sockets, NUMA domains, caches of the last level."""
        parts = ({c.socket for c in self.cpus}, {c.numa for c in self.cpus}, {c.l3 for c in self.cpus})
        return any(1 < len(part) < self.cores for part in parts)

    @property
    def last_level_cache(self) -> Cache | None:
        return max(self.caches, key=lambda c: c.level, default=None)
