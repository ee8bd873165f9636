"""What is to be recorded, of what this MPI has: functions.txt against the declarations of the compiler's mpi.h."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass

DECLARATION = re.compile(r"\bint\s+MPI_(\w+)\s*\(([^()]*)\)")
PARAMETER = re.compile(r"^(?P<type>.*?)(?P<name>\w+)\s*(?P<array>(\[\d*\]\s*)*)$", re.DOTALL)

SERVED = (
    "Allgather",
    "Allgatherv",
    "Allreduce",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Barrier",
    "Bcast",
    "Exscan",
    "Gather",
    "Gatherv",
    "Neighbor_allgather",
    "Neighbor_allgatherv",
    "Neighbor_alltoall",
    "Neighbor_alltoallv",
    "Neighbor_alltoallw",
    "Reduce",
    "Reduce_scatter",
    "Reduce_scatter_block",
    "Scan",
    "Scatter",
    "Scatterv",
)
"""What native/dispatch serves."""

POSTED = (
    "Iallgather",
    "Iallgatherv",
    "Iallreduce",
    "Ialltoall",
    "Ialltoallv",
    "Ialltoallw",
    "Ibarrier",
    "Ibcast",
    "Iexscan",
    "Igather",
    "Igatherv",
    "Ineighbor_allgather",
    "Ineighbor_allgatherv",
    "Ineighbor_alltoall",
    "Ineighbor_alltoallv",
    "Ineighbor_alltoallw",
    "Ireduce",
    "Ireduce_scatter",
    "Ireduce_scatter_block",
    "Iscan",
    "Iscatter",
    "Iscatterv",
)
"""The nonblocking ones of them, and so the persistent ones. Fortran's bindings call PMPI_X for these, which passes by
dispatch as well."""

CHOSEN_WHEN_MADE = ("allgather", "allreduce", "bcast", "exscan", "reduce", "scan")
"""Blocking names of those of which Open MPI has several algorithms where they do not block: it takes one when it makes
the request of a persistent one. All ranks know from the same arguments how much they move."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a C function, as mpi.h declares it."""

    type: str
    """Without the name: "const void *"."""
    array: str
    """ "[]", "[][3]" or ""."""

    def declared(self, name: str) -> str:
        return f"{self.type}{'' if self.type.endswith('*') else ' '}{name}{self.array}"


@dataclass(frozen=True)
class Function:
    """A function of the table that this MPI has."""

    name: str
    """Without MPI_."""
    kind: str
    rule: str
    """The blocking function's name in lower case: "alltoallv" for Ialltoallv_init_c."""
    parameters: tuple[Parameter, ...]

    @property
    def nonblocking(self) -> bool:
        return self.kind in ("collective", "neighborhood") and self.parameters[-1].type == "MPI_Request *"

    @property
    def persistent(self) -> bool:
        return "_init" in self.name

    @property
    def served(self) -> bool:
        """Whether dispatch may take it over."""
        return self.name.removesuffix("_c") in SERVED

    @property
    def posted(self) -> bool:
        """The same of a nonblocking one."""
        return self.name.removesuffix("_c") in POSTED

    @property
    def kept(self) -> bool:
        """The same of a persistent one, each start of which is what the nonblocking call would be."""
        name = self.name.removesuffix("_c").removesuffix("_init")
        return self.persistent and f"I{name[0].lower()}{name[1:]}" in POSTED

    @property
    def before_made(self) -> list[str]:
        """Of a persistent one, for which the MPI library may be given an algorithm before it makes the request: what
        dispatch_before_init takes. Else nothing."""
        if not self.kept or self.rule not in CHOSEN_WHEN_MADE:
            return []
        types = [i for i, parameter in enumerate(self.parameters) if parameter.type == "MPI_Datatype"]
        comm, rooted = self.position("MPI_Comm"), self.rule in ("bcast", "reduce")
        return [
            f"COLL_I{self.rule.upper()}",
            self.names[comm - 1] if rooted else "0",
            self.names[types[-1] - 1],
            self.names[types[-1]],
            self.argument("MPI_Op") if any(p.type == "MPI_Op" for p in self.parameters) else "MPI_OP_NULL",
            self.names[comm],
        ]

    @property
    def passes(self) -> bool:
        """Whether dispatch sees it, called as MPI_X or PMPI_X, on its way to the MPI library, because of requests and
        what is kept with communicators."""
        handles = self.kind in ("start", "startall", "request_free")
        return self.posted or self.kept or self.completes or self.ends or handles

    @property
    def ends(self) -> bool:
        """Whether it ends a communicator."""
        return self.name in ("Comm_free", "Comm_disconnect")

    @property
    def completes(self) -> bool:
        """Whether it looks after requests, which may be of what dispatch serves."""
        return self.kind == "complete" or self.name.startswith("Request_get_status")

    @property
    def names(self) -> list[str]:
        return [f"a{i}" for i in range(1, len(self.parameters) + 1)]

    @property
    def declared(self) -> str:
        """Its parameters, as a function of C has them."""
        named = zip(self.parameters, self.names, strict=True)
        return ", ".join(parameter.declared(name) for parameter, name in named) or "void"

    @property
    def passed(self) -> str:
        return ", ".join(self.names)

    def position(self, kind: str) -> int:
        """The first parameter of this type, counted from 0."""
        return next(i for i, parameter in enumerate(self.parameters) if parameter.type == kind and not parameter.array)

    def argument(self, kind: str) -> str:
        return self.names[self.position(kind)]


def declarations(compiler: list[str]) -> dict[str, tuple[Parameter, ...]]:
    """What this compiler's mpi.h declares, by name without MPI_."""
    done = subprocess.run(
        [*compiler, "-E", "-x", "c", "-"], input="#include <mpi.h>\n", capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(compiler)} cannot read mpi.h:\n{done.stderr}")
    text = "\n".join(line for line in done.stdout.splitlines() if not line.startswith("#"))
    return {name: tuple(map(parameter, split(parameters))) for name, parameters in DECLARATION.findall(text)}


def split(parameters: str) -> list[str]:
    words = [" ".join(word.split()) for word in parameters.split(",")]
    return [word for word in words if word not in ("void", "")]


def parameter(text: str) -> Parameter:
    if text == "...":
        return Parameter(text, "")
    match = PARAMETER.match(text)
    if match is None:
        sys.exit(f"mpi.h: parameter {text!r} is not understood")
    return Parameter(match["type"].strip(), match["array"].replace(" ", ""))


def variants(pattern: str) -> list[tuple[str, str]]:
    """(name, rule) of what a word of the table stands for, without large counts."""
    if not pattern.startswith("{I}"):
        return [(pattern, pattern.lower())]
    name = pattern.removeprefix("{I}").removesuffix("{_init}")
    return [(word, name.lower()) for word in (name, f"I{name[0].lower()}{name[1:]}", f"{name}_init")]


def functions(table: str, declared: dict[str, tuple[Parameter, ...]]) -> list[Function]:
    found: dict[str, Function] = {}
    for line in table.splitlines():
        kind, *patterns = line.partition("#")[0].split() or [""]
        for pattern in patterns:
            for name, rule in variants(pattern):
                for full in (name, f"{name}_c"):
                    if full in declared and full not in found:
                        found[full] = Function(full, kind, rule, declared[full])
    return list(found.values())
