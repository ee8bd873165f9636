"""The nodes a launch may use, as given on the command line."""

from __future__ import annotations

from unisono.errors import UserError
from unisono.machine.model import Node


def parse_hosts(text: str) -> list[Node]:
    """ "n0:2,n1:2" -> nodes with their slots (1 where nothing is said, as mpirun's --host counts).

    Raises UserError for an empty name, a slot count that is not a number above 0, or a host named twice.
    """
    nodes = []
    for word in text.split(","):
        host, _, slots = word.strip().partition(":")
        if not host or (slots and not (slots.isdigit() and int(slots) > 0)):
            raise UserError(f"--hosts: {word!r} is not HOST or HOST:SLOTS; write for example n0:36,n1:36")
        nodes.append(Node(host=host, slots=int(slots or 1)))
    if len({node.host for node in nodes}) < len(nodes):
        raise UserError(f"--hosts: a host is named twice in {text!r}; write its slots behind a colon")
    return nodes
