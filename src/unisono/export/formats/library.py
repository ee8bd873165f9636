"""Our library for everybody: a copy of it with its rules, and what makes launchers put it into the ranks.

LD_PRELOAD in a user's shell would put the library into every program there. So the files name it to launchers alone,
which give it to their ranks: the parameter file of an MPI that may list variables for them, and lines to be sourced in
a job. A TaskProlog is none of them: slurmd would run it for programs of every MPI of a site, and one that is linked
with another may not even start with this one's libraries in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.reading import read_text
from unisono.core.vocabulary import LIBRARY_NAME
from unisono.export import dispatch, keyval
from unisono.export.carried import CARRIED_FILES, PREFIX, carried
from unisono.export.content import Content
from unisono.export.placement_words import placement_comment
from unisono.export.seen import Item
from unisono.export.served import RULES_IN, SERVING, Put, adding, check_served
from unisono.export.slurm_script import write_snippet
from unisono.library.recorder import recorder
from unisono.mpi.family import Family
from unisono.mpi.launchers.lines import PRELOAD, Line

NAME = "library"
LABEL = N_(
    "our library for all users: a copy of the library, its rules, and what puts it into the ranks of mpirun and srun"
)
MCA = "openmpi-mca-params.conf"
JOB = "unisono-job.sh"
FILES: tuple[str, ...] = (LIBRARY_NAME, SERVING, *CARRIED_FILES, MCA, JOB)
BY_TUNE = False
TAKES_LIBRARY = True

_LISTED = "mca_base_env_list"
_ENDS_A_WORD = re.compile(r"""[\s:;,"'$`\\]""")
"""What would end a path in LD_PRELOAD, or in a launcher's list of variables, or be more than itself in a shell."""


def read_by(family: Family) -> bool:
    return True


def expresses(content: Content) -> bool:
    serving = content.words.serving
    return serving is not None and bool(serving.rules or serving.reproducible)


def write(content: Content) -> Mapping[str, str | bytes]:
    """Raises UserError for a directory whose name a list of variables cannot hold, and where the library cannot be
    built."""
    where = content.directory
    if _ENDS_A_WORD.search(str(where)):
        raise UserError(
            _(
                "{path}: a path with spaces, colons, commas or the like cannot stand in LD_PRELOAD; choose another"
            ).format(path=where)
        )
    found = carried(content)
    head = [*content.head, *found.notes, *placement_comment(content)]
    files: dict[str, str | bytes] = {
        LIBRARY_NAME: recorder(content.mpi.mpicc).read_bytes(),
        SERVING: dispatch.write(content.words.serving or dispatch.Rules(()), content.head),
        **found.files,
    }
    if content.mpi.traits.lists_for_ranks(content.mpi.version):
        mca = {n.removeprefix(PREFIX): v for n, v in found.variables.items() if n.startswith(PREFIX)}
        rest = {n: v for n, v in found.variables.items() if not n.startswith(PREFIX)}
        listed = ";".join(f"{name}={value}" for name, value in {**_ours(where), **rest}.items())
        files[MCA] = keyval.write_mca({**mca, _LISTED: listed}, [*head, *_ABOUT_MCA])
    needs = [str(where / name) for name in files if name != MCA]
    ours = [f"{name}={value}" for name, value in _ours(where, "${LD_PRELOAD:+$LD_PRELOAD:}").items()]
    use = f"Use, in a job before mpirun or srun:    . {where / JOB}"
    about = [*head, *_about_job(content), use]
    files[JOB] = write_snippet(found.variables, content.mpi, about, needs, ours, _lists(content, ours))
    return files


_ABOUT_MCA = (
    "mpirun gives the library to the ranks of every job, and to nothing else, where this is its installation's",
    "etc/openmpi-mca-params.conf, ~/.openmpi/mca-params.conf, or named by OMPI_MCA_mca_base_param_files.",
    "Without it, for one job:    export OMPI_MCA_mca_base_env_list=    For good: take the last line out again.",
    "Ranks that srun starts do not read the list: source unisono-job.sh there.",
)


def _ours(where: Path, before: str = "") -> dict[str, str]:
    return {PRELOAD: f"{before}{where / LIBRARY_NAME}", RULES_IN: str(where / SERVING)}


def _about_job(content: Content) -> list[str]:
    if not _lists(content, [""]):
        return [
            f"Ranks that srun starts get the library. {content.mpi.name}'s own launcher takes no list of variables:",
            f"    -genv LD_PRELOAD {content.directory / LIBRARY_NAME} -genv {RULES_IN} {content.directory / SERVING}",
        ]
    if content.mpi.traits.lists_for_ranks(content.mpi.version):
        return []
    return [
        f"{content.mpi.name} {content.mpi.version} ends a line of mpirun with an -x of its own where this is sourced."
    ]


def _lists(content: Content, ours: Sequence[str]) -> list[str]:
    """Lines by which the MPI's own launcher gives its ranks `ours`, after what its list holds already."""
    pairs = dict(one.partition("=")[::2] for one in ours)
    found = content.mpi.traits.LAUNCHER.inherited(pairs, {})
    return [f'export {name}="${{{name}:+${name};}}{value}"' for name, value in found.items()]


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    library = content.directory / LIBRARY_NAME
    if not library.is_file():
        raise UserError(_("{path}: is not there; export it again").format(path=library))
    items: list[Item] = []
    commands: list[str] = []
    ways = _ways(content)
    for put in ways or [adding(content, library)]:
        found, lines = check_served(content, deadline, put)
        items += [item for item in found if item not in items]
        commands += lines
    nothing = Item(_("every call"), "mpi", "mpi", True, _("the file has no rule for these ranks"))
    reason = N_("the library was handed over by the MPI's own launcher")
    return [*(items or [nothing]), Item(JOB, _("srun hands it over"), _("cannot be seen"), None, reason)], commands


def _ways(content: Content) -> list[Put]:
    """The files as they are now, each by itself, where the MPI's own launcher reads them."""
    launcher, verbose = content.mpi.traits.LAUNCHER, {"UNISONO_VERBOSE": "1"}
    if not launcher.inherited(verbose, {}):
        return []
    folder = str(Path(content.mpi.mpirun).parent)

    def sourced(argv: Sequence[str]) -> Line:
        script = 'PATH="$1:$PATH"; . "$0"; shift; exec "$@"'
        return Line(
            ["sh", "-c", script, str(content.directory / JOB), folder, *argv], launcher.inherited(verbose, {}), []
        )

    def read(argv: Sequence[str]) -> Line:
        path = content.directory / MCA
        values = keyval.read(read_text(path), str(path))
        listed = ";".join([*filter(None, [values.get(_LISTED, "")]), "UNISONO_VERBOSE=1"])
        environment = {f"{PREFIX}{name}": value for name, value in content.mpi.settings.items() if name not in values}
        environment |= {f"{PREFIX}{_LISTED}": listed, f"{PREFIX}mca_base_param_files": str(path)}
        return Line(list(argv), environment, [])

    return [sourced, read] if content.mpi.traits.lists_for_ranks(content.mpi.version) else [sourced]
