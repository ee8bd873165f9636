"""openmpi-mca-params.conf and the rules file of coll/tuned that it names."""

from __future__ import annotations

from unisono.core.language import N_
from unisono.core.reading import read_text
from unisono.export import keyval
from unisono.export.carried import JSON_RULES, RULES, rules_files, rules_name
from unisono.export.content import Content
from unisono.export.handed import Handed
from unisono.export.openmpi_check import check_handed
from unisono.export.placement_words import placement_comment
from unisono.export.seen import Item
from unisono.mpi.family import Family

NAME = "openmpi"
LABEL = N_("Open MPI's parameter file, and a rules file in the form that its version reads")
MCA = "openmpi-mca-params.conf"
FILES: tuple[str, ...] = (RULES, JSON_RULES, MCA)
BY_TUNE = True
TAKES_LIBRARY = False


def read_by(family: Family) -> bool:
    return family.MCA


def expresses(content: Content) -> bool:
    return bool(content.words.mca or content.words.rules)


def write(content: Content) -> dict[str, str]:
    words = content.words
    comments = [
        *content.head,
        "Open MPI reads this when it is ~/.openmpi/mca-params.conf, or etc/openmpi-mca-params.conf of its",
        "installation, or when OMPI_MCA_mca_base_param_files names it (several: with commas; the first wins).",
    ]
    if words.rules:
        comments.append(
            f"It names {rules_name(content)} by its full path: a rules file that is not found is ignored in silence."
        )
    if words.env:
        comments.append(f"Not in here: {', '.join(words.env)}; export with --format ucx or shell for those.")
    comments += placement_comment(content)
    values = words.mca_with_rules(content.directory / rules_name(content))
    return {**rules_files(content), MCA: keyval.write_mca(values, comments)}


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    path = content.directory / MCA
    values = keyval.read(read_text(path), str(path))
    # Naming a file replaces the user's and the site's, which a user's copy would only stand before.
    others = {n: v for n, v in content.mpi.settings.items() if n not in values}
    environment = {f"OMPI_MCA_{name}": value for name, value in others.items()}
    files = Handed(mca=values, environment={**environment, "OMPI_MCA_mca_base_param_files": str(path)})
    return check_handed(content, files, deadline)
