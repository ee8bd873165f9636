"""The nodes a launch may use, as given on the command line."""

from __future__ import annotations

import re

from unisono.core.errors import UserError
from unisono.core.language import _
from unisono.core.numbers import whole_number
from unisono.core.vocabulary import PPN_MOST
from unisono.machine.description import Node

_HOST = re.compile(r"[^-\s/][^\s/]*")
"""A path is none."""


def parse_hosts(text: str) -> list[Node]:
    """ "n0:2,n1:2" -> nodes with their slots (1 where nothing is said, as mpirun's --host counts).

    Raises UserError for what is no name, for slots no node can have, and for a host named twice.
    """
    nodes = []
    for word in text.split(","):
        host, colon, slots = word.strip().partition(":")
        if not _HOST.fullmatch(host):
            raise UserError(
                _("--hosts: {word!r} is not HOST or HOST:SLOTS; write for example n0:36,n1:36").format(word=word[:80])
            )
        nodes.append(Node(host=host, slots=whole_number(slots, f"--hosts {host}", most=PPN_MOST) if colon else 1))
    if len({node.host for node in nodes}) < len(nodes):
        raise UserError(
            _("--hosts: a host is named twice in {text!r}; write its slots behind a colon").format(text=text)
        )
    return nodes
