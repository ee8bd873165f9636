"""What the user has set in the environment that changes how MPI communicates."""

from __future__ import annotations

from collections.abc import Mapping

from unisono.core.vocabulary import LIBRARY_NAME

PREFIXES = (
    "UCX_",
    "MPI_UCX_",
    "UCC_",
    "HCOLL_",
    "SHARP_",
    "OMPI_",
    "PRTE_",
    "PMIX_",
    "OPAL_",
    "ORTE_",
    "MPIR_",
    "MPICH_",
    "I_MPI_",
    "FI_",
)

_NOT_SETTINGS = (
    "OMPI_ALLOW_RUN_AS_ROOT",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
    "PRTE_ALLOW_RUN_AS_ROOT",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM",
    "OPAL_PREFIX",
    "I_MPI_ROOT",
    "PRTE_MCA_plm_ssh_agent",
    "OMPI_MCA_plm_rsh_agent",
    "PRTE_MCA_prte_default_hostfile",
    "OMPI_MCA_orte_default_hostfile",
    "I_MPI_HYDRA_BOOTSTRAP",
    "I_MPI_HYDRA_BOOTSTRAP_EXEC",
    "I_MPI_HYDRA_HOST_FILE",
)
"""Permission, location, and how the launcher reaches which hosts: they change where MPI is found and its processes are
started, not how they communicate."""

_BY_THE_LAUNCHER = (
    "OMPI_COMM_WORLD_",
    "OMPI_UNIVERSE_SIZE",
    "OMPI_ARGV",
    "OMPI_COMMAND",
    "OMPI_APP_CTX_NUM_PROCS",
    "OMPI_FIRST_RANKS",
    "OMPI_NUM_APP_CTX",
    "OMPI_FILE_LOCATION",
    "OMPI_MCA_ess_",
    "OMPI_MCA_orte_",
    "OMPI_MCA_initial_wdir",
    "OMPI_MCA_cpu_type",
    "PMIX_RANK",
    "PMIX_NAMESPACE",
    "PMIX_SERVER_",
    "PMIX_DSTORE_",
    "PMIX_BFROP_",
    "PMIX_GDS_",
    "PMIX_SECURITY_",
    "PMIX_HOSTNAME",
    "PMIX_VERSION",
    "PMIX_SYSTEM_TMPDIR",
    "PMIX_ID",
    "PMIX_KEEPALIVE_",
)
"""What a launcher (mpirun, srun) puts into its processes: present when we run inside a job step, set by nobody."""


_HANDED_ON = ("LD_PRELOAD", "SLURM_EXPORT_ENV")
"""What may put our library into ranks; a setting of MPI only where it does."""


def read_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The user's own settings, sorted by name."""
    return {
        name: value
        for name, value in sorted(environment.items())
        if (name.startswith(PREFIXES) and name not in _NOT_SETTINGS and not name.startswith(_BY_THE_LAUNCHER))
        or (name in _HANDED_ON and LIBRARY_NAME in value)
    }
