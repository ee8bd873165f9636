"""Machines to simulate, as files: those that come with Unisono, and the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from unisono.core.errors import UserError
from unisono.core.language import _, joined
from unisono.core.toml import explain_validation, parse_toml, read_toml
from unisono.simulate.clusters import Cluster
from unisono.simulate.platforms import Number, Platform

_FOLDER = Path(__file__).with_name("machines")
_SOLVER = "solver"
_DEFAULTED = ("flag", "start", "one_link_below")


def names() -> list[str]:
    """Of the machines that come with Unisono."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def solver_names() -> list[str]:
    """Of those whose processors are described, too: what the solver can be simulated on."""
    return [name for name in names() if _SOLVER in read_toml(_path(name))]


def platform(name: str) -> Platform:
    """By name, or a file's path. Raises UserError for a file that is none, naming the key."""
    path = _path(name)
    return _platform(read_toml(path), path)


def platform_of(text: str, where: Path) -> Platform:
    """From a file's text; `where` names it in errors. Raises UserError as `platform` does."""
    return _platform(parse_toml(text, str(where)), where)


def _platform(whole: dict[str, Any], path: Path) -> Platform:
    document = {key: value for key, value in whole.items() if key != _SOLVER}
    _known(document, Platform.__dataclass_fields__, path)
    found: Platform = _validated(TypeAdapter(Platform), document, path)
    for key, number in found.numbers.items():
        if key not in _DEFAULTED and not number.source.strip():
            raise UserError(
                _("{path}: {key}: source is empty; say where the number is from, or that it is assumed").format(
                    path=path, key=key
                )
            )
    return found


def cluster(name: str) -> Cluster:
    """The machine as the solver meets it. Raises UserError as `platform` does, and where its file does not say."""
    path = _path(name)
    document = read_toml(path)
    if _SOLVER not in document:
        raise UserError(
            _("{path}: has no [solver], which describes the processors; {known} have").format(
                path=path, known=joined(solver_names())
            )
        )
    whole = platform(name)
    inner = document[_SOLVER] if isinstance(document[_SOLVER], dict) else {}
    _known(inner, Cluster.__dataclass_fields__, path, f"{_SOLVER}.")
    values = {**inner, "name": whole.name, "torus": whole.kind == "torus"}
    found: Cluster = _validated(TypeAdapter(Cluster), values, path)
    return found


def text(found: Platform) -> str:
    """A platform as its file's text."""
    lines = [f"{name} = {_toml(getattr(found, name))}" for name in ("name", "about", "source", "kind", "extents")]
    if found.error:
        lines.append(f"error = {_toml(found.error)}")
    plain = ("cores", "links", "leaf", "taper", "pod", "pod_taper", "shape", "left_out")
    fields = Platform.__dataclass_fields__
    lines += [f"{key} = {_toml(getattr(found, key))}" for key in plain if getattr(found, key) != fields[key].default]
    lines += [""]
    lines += [
        f"{key} = {{ value = {number.value!r}, source = {_toml(number.source)} }}"
        for key, number in found.numbers.items()
    ]
    return "\n".join([*lines, ""])


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return str(value)


def _path(name: str) -> Path:
    if name in names():
        return _FOLDER / f"{name}.toml"
    path = Path(name)
    if not path.is_file():
        raise UserError(
            _("{name}: is no platform; give the path of a file, or one of {known}").format(
                name=name, known=", ".join(names())
            )
        )
    return path


def _known(document: dict[str, Any], fields: Any, path: Path, where: str = "") -> None:
    for key in document:
        if key not in fields:
            raise UserError(_("{path}: {key}: is not known").format(path=path, key=where + key))
    for key, value in document.items():
        if isinstance(value, dict) and fields[key].type in ("Number", Number) and set(value) - {"value", "source"}:
            raise UserError(
                _("{path}: {key}: a number is {{ value = 1e9, source = 'where from' }}").format(
                    path=path, key=where + key
                )
            )


def _validated(kind: TypeAdapter[Any], document: dict[str, Any], path: Path) -> Any:
    try:
        return kind.validate_python(document)
    except ValidationError as error:
        raise UserError(explain_validation(path, error)) from error
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
