"""Reading `ompi_info --parsable`: components, parameters and the algorithms of coll/tuned and coll/libnbc.

Lines look like `mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:3:pipeline`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_COMPONENT = re.compile(r'mca:(\w+):([\w-]+):version:"?component:')
_PARAMETER = re.compile(r"mca:(\w+):([\w-]+):param:(\w+):(\w+):(.*)")
_ALGORITHM = re.compile(r"coll_(?:tuned|libnbc)_(\w+)_algorithm")


@dataclass
class McaParameter:
    """One parameter as this installation knows it."""

    name: str
    framework: str
    component: str
    value: str = ""
    source: str = "default"
    """Where the value comes from: "default", or the environment, a file, ..."""
    help: str = ""
    type: str = "string"
    enumerator: dict[str, int] = field(default_factory=dict)


def parse_components(text: str) -> dict[str, list[str]]:
    """Framework -> components, sorted, of the frameworks MPI itself uses and of those below it."""
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        match = _COMPONENT.match(line)
        if match:
            found.setdefault(match[1], set()).add(match[2])
    return {framework: sorted(components) for framework, components in sorted(found.items())}


def parse_parameters(text: str) -> dict[str, McaParameter]:
    """Name -> parameter. A parameter two components list (synonyms) appears once."""
    found: dict[str, McaParameter] = {}
    for line in text.splitlines():
        match = _PARAMETER.match(line)
        if match is None:
            continue
        framework, component, name, key, value = match.groups()
        parameter = found.setdefault(name, McaParameter(name, framework, component))
        if key == "value":
            parameter.value = value.strip('"')
        elif key == "source":
            parameter.source = value
        elif key == "help":
            parameter.help = value
        elif key == "type":
            parameter.type = value
        elif key == "enumerator":
            number, _, label = value.removeprefix("value:").partition(":")
            if re.fullmatch("-?[0-9]{1,9}", number) and label:
                parameter.enumerator[label] = int(number)
    return found


def parse_algorithms(text: str) -> dict[str, dict[str, int]]:
    """Collective -> algorithm of coll/tuned, or of coll/libnbc for nonblocking ones -> its number, from
    `ompi_info --param coll tuned --level 9 --parsable` and the same of libnbc.

    Number 0 ("ignore": no algorithm forced) is left out.
    """
    found: dict[str, dict[str, int]] = {}
    for name, parameter in parse_parameters(text).items():
        match = _ALGORITHM.fullmatch(name)
        if match and parameter.enumerator:
            found[match[1]] = {label: n for label, n in parameter.enumerator.items() if n > 0}
    return dict(sorted(found.items()))


def set_in_files(text: str) -> dict[str, str]:
    """Name -> value of every parameter that a file sets, from `ompi_info --all --parsable`.

    One that the environment sets too is not among them: the environment wins.
    """
    return {
        name: parameter.value
        for name, parameter in sorted(parse_parameters(text).items())
        if parameter.source.startswith("file")
    }


def parse_value(text: str, key: str) -> str | None:
    """The value of a plain line such as `ompi:version:full:5.0.11` or `path:prefix:/usr`."""
    for line in text.splitlines():
        if line.startswith(f"{key}:"):
            return line[len(key) + 1 :].strip().strip('"')
    return None
