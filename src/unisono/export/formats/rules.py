"""unisono-rules.conf: which implementation serves which call, for our own library in the ranks."""

from __future__ import annotations

import shlex

from unisono.core.language import N_, _
from unisono.core.vocabulary import LIBRARY_NAME
from unisono.export import arguments, dispatch
from unisono.export.content import Content
from unisono.export.placement_words import placement_comment
from unisono.export.seen import Item
from unisono.export.served import SERVING, check_served
from unisono.mpi.family import Family

NAME = "rules"
LABEL = N_("the rules of our own library, which unisono run preloads")
FILES: tuple[str, ...] = (SERVING,)
BY_TUNE = True
TAKES_LIBRARY = True


def read_by(family: Family) -> bool:
    return True


def expresses(content: Content) -> bool:
    serving = content.words.serving
    return serving is not None and bool(serving.rules or serving.reproducible)


def write(content: Content) -> dict[str, str]:
    words, plan = content.words, content.plan
    comments = [
        *content.head,
        "Our library reads this when it is in the ranks and UNISONO_RULES names this file; unisono run does both:",
        f"    mpirun -x LD_PRELOAD=.../{LIBRARY_NAME} -x UNISONO_RULES={content.directory / SERVING} ...",
        "UNISONO_VERBOSE=1 lists at the end which implementation served how many calls.",
    ]
    rest = arguments.words(words.mca, words.env, [])
    if rest or plan.launch.get("placement"):
        comments.append(
            N_("The plan also sets the following, which this format cannot hold: {rest}")
            .format(rest=shlex.join(rest))
            .rstrip(": ")
        )
        comments += placement_comment(content)
    if words.rules:
        comments.append("Rules for other collectives are coll/tuned's own; unisono run gives it those too.")
    return {SERVING: dispatch.write(words.serving or dispatch.Rules(()), comments)}


def check(content: Content, deadline: float) -> tuple[list[Item], list[str]]:
    items, commands = check_served(content, deadline)
    nothing = Item(_("every call"), "mpi", "mpi", True, _("the file has no rule for these ranks"))
    return items or [nothing], commands
