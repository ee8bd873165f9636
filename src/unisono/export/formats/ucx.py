"""ucx.conf: the variables of UCX alone."""

from __future__ import annotations

from unisono.core.language import N_
from unisono.core.reading import read_text
from unisono.export import arguments, keyval
from unisono.export.content import Content
from unisono.export.handed import Handed
from unisono.export.openmpi_check import check_handed
from unisono.export.seen import Item
from unisono.mpi.family import Family

NAME = "ucx"
LABEL = N_("UCX's configuration file")
UCX = "ucx.conf"
FILES: tuple[str, ...] = (UCX,)
BY_TUNE = True
TAKES_LIBRARY = False


def read_by(family: Family) -> bool:
    return family.MCA


def expresses(content: Content) -> bool:
    return bool(_variables(content))


def write(content: Content) -> dict[str, str]:
    words, ours = content.words, _variables(content)
    comments = [
        *content.head,
        "UCX reads this when it is etc/ucx/ucx.conf of its installation, ~/ucx.conf, or ucx.conf in the current",
        "directory or in the one UCX_CONFIG_DIR names. A variable of the environment wins over it.",
    ]
    others = {**words.mca, **{name: value for name, value in words.env.items() if name not in ours}}
    if others or words.rules:
        comments.append("Not in here: what is Open MPI's; export with --format openmpi, shell or mpirun for that.")
    return {UCX: keyval.write_ucx(ours, comments)}


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    path = content.directory / UCX
    values = keyval.read(read_text(path), str(path))
    # UCX's file is one half: whether MPI uses UCX at all is Open MPI's to say.
    pml = arguments.words(content.words.mca, {})
    files = Handed(ucx_file=values, words=pml, environment={"UCX_CONFIG_DIR": str(content.directory)})
    return check_handed(content, files, deadline)


def _variables(content: Content) -> dict[str, str]:
    return {name: value for name, value in content.words.env.items() if name.startswith("UCX_")}
