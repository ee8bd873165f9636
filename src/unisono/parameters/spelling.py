"""A setting in the words this MPI understands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from unisono.core.errors import UserError
from unisono.core.language import N_, _
from unisono.core.version import version_tuple
from unisono.core.vocabulary import (
    CALL_SCOPE,
    INTEL,
    LEFT_TO_THE_MPI,
    MPICH,
    NONBLOCKING,
    PERSISTENT,
    PRELOAD,
    Setting,
    call_part,
    is_ours,
    of_libnbc,
)
from unisono.machine.description import Machine, Mpi
from unisono.parameters import catalogue
from unisono.parameters.defaults import has_fast_network

ENVIRONMENT = ("UCX_", "MPI_UCX_", "UCC_", "HCOLL_", "SHARP_", "FI_", "MPIR_CVAR_", "I_MPI_")
"""Parameters of these names are environment variables; every other name is an MCA parameter."""

TOP_PRIORITY = "100"


@dataclass(frozen=True)
class LaunchWords:
    """What of a setting goes on the command line (MCA) and into the environment of the ranks."""

    mca: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CallWords:
    """What of a setting is switched inside a launch: the component to prefer, MPI_T variables to write while a
    communicator is copied, those to hold while the setting runs, and what our library is to use."""

    prefer: str | None = None
    variables: dict[str, str] = field(default_factory=dict)
    use: str | None = None
    """An implementation in the words of our library's rules; it must be preloaded then."""
    held: dict[str, str] = field(default_factory=dict)


def is_environment(name: str) -> bool:
    return name.startswith(ENVIRONMENT)


def variables_of(extra: Mapping[str, str]) -> dict[str, str]:
    """What of words that go with a launch is a variable of the environment."""
    return {name: value for name, value in extra.items() if is_environment(name)}


def launch_words(setting: Mapping[str, str], machine: Machine, call_scope: Sequence[str] | None = None) -> LaunchWords:
    """The launch-scope part of a setting, placement excluded.

    What is in `call_scope` is left to `call_words`; None means all this MPI switches inside a launch. With () a
    preferred component serves the whole launch. A library to preload is no word for the MPI, see profile.preload.
    Raises UserError when a value has no spelling in this MPI.
    """
    mpi = require_mpi(machine)
    words = LaunchWords()
    if setting.get("coll") == INTEL:
        words.env.update(_for_a_launch(setting, mpi))
        setting = {name: value for name, value in setting.items() if name not in CALL_SCOPE}
    for name, value in setting.items():
        if name in ("placement", PRELOAD) or name in (mpi.call_scope if call_scope is None else call_scope):
            continue
        if name in ("algorithm", "segment"):
            raise UserError(
                _("{name}={value}: belongs to one collective and cannot hold for a whole launch").format(
                    name=name, value=value
                )
            )
        if is_environment(name):
            words.env[name] = value
        elif not mpi.traits.MCA:
            raise UserError(
                _("{name}={value}: is a parameter of Open MPI, which {name2} does not have").format(
                    name=name, value=value, name2=mpi.name
                )
            )
        elif name == "coll":
            words.mca.update(component_words(value, mpi))
        else:
            spelled, theirs = spell(name, value, mpi)
            words.mca[spelled] = theirs
            words.mca.update((k, v) for k, v in _also(name, value, mpi).items() if k not in setting)
            if (name, value) == ("pml", "ucx") and not has_fast_network(machine):
                words.mca.update(UCX_ANYWHERE)
    return words


def _also(name: str, value: str, mpi: Mpi) -> dict[str, str]:
    """Words without which this value would have no effect in this version."""
    parameter = catalogue.load(mpi.family).get(name)
    for also in parameter.also if parameter else ():
        if also.value == value and (also.before is None or version_tuple(mpi.version) < version_tuple(also.before)):
            return also.words
    return {}


UCX_ANYWHERE = {"opal_common_ucx_tls": "any", "opal_common_ucx_devices": "any"}
"""Without these, Open MPI 4.1 and 5.0 decline pml/ucx where UCX finds no fast network (tried on 4.1.4 and 5.0.11)."""


def call_words(setting: Mapping[str, str], collective: str, machine: Machine) -> CallWords:
    """The call-scope part of a setting for one collective; nothing at all for a setting without one."""
    mpi = require_mpi(machine)
    if is_ours(setting):
        return CallWords(use=implementation(setting))
    part = call_part(Setting(setting), mpi.call_scope)
    if part.get("coll") == MPICH or of_libnbc(part):
        return CallWords(held=_in_numbers(_forcing(part, collective, mpi), collective, mpi))
    variables = _algorithm_words(part, collective, mpi)
    if variables and not mpi.traits.sweep_words(mpi):
        variables = {"coll_tuned_use_dynamic_rules": "1", **variables}
    return CallWords(prefer=part.get("coll"), variables=variables)


def implementation(call: Mapping[str, str]) -> str:
    """A call-scope setting as our library's rules write it: unisono/pull, tuned/ring:65536, han, or mpi for nothing."""
    name = call.get("coll", "tuned" if "algorithm" in call else "mpi")
    if "algorithm" not in call:
        return name
    segment = f":{call['segment']}" if call.get("segment", "0") != "0" else ""
    return f"{name}/{call['algorithm']}{segment}"


def implementations(call: Mapping[str, str], as_fast: Iterable[Mapping[str, str]]) -> str:
    """A rule's with those that are as fast, of which our library takes the nearest: unisono/ring|unisono/chain."""
    return "|".join(map(implementation, (call, *as_fast)))


def of_implementation(word: str) -> Setting:
    """The setting `implementation` wrote. Raises UserError for a word that is none."""
    match = _IMPLEMENTATION.fullmatch(word)
    if match is None:
        raise UserError(
            _(
                "{word!r} is no implementation; write mpi, unisono/NAME, tuned/NAME:SEGMENT, libnbc/NAME or a component"
            ).format(word=word)
        )
    if word == "mpi":
        return Setting()
    names = {"coll": match["coll"] or word, "algorithm": match["algorithm"], "segment": match["segment"]}
    return Setting({name: value for name, value in names.items() if value is not None})


_IMPLEMENTATION = re.compile(
    r"(?P<coll>unisono|tuned|libnbc)/(?P<algorithm>[A-Za-z0-9_]+)(:(?P<segment>[1-9][0-9]*))?|[a-z][a-z0-9_]*"
)


def call_as_launch(setting: Mapping[str, str], collective: str, machine: Machine) -> dict[str, str]:
    """MCA parameters, or MPICH's variables, that give the call-scope part of a setting to one collective for a whole
    launch."""
    mpi = require_mpi(machine)
    part = Setting(setting).only(*CALL_SCOPE)
    if part.get("coll") in LEFT_TO_THE_MPI or of_libnbc(part):
        return _forcing(part, collective, mpi)
    words = component_words(part["coll"], mpi) if "coll" in part else {}
    forced = _algorithm_words(part, collective, mpi)
    if forced:
        words = {**words, "coll_tuned_use_dynamic_rules": "1", **forced}
    return words


def sweep_words(machine: Machine) -> dict[str, str]:
    """MCA parameters every launch needs in which call-scope settings are switched."""
    mpi = require_mpi(machine)
    return mpi.traits.sweep_words(mpi)


def component_words(component: str, mpi: Mpi) -> dict[str, str]:
    """MCA parameters with which a component serves, in every communicator that it accepts, all it implements.

    Components are stacked by priority, the highest on top (read in coll_base_verbose of 4.1.4 and 5.0.11).
    """
    known = catalogue.components(mpi.family).get(component)
    words = {f"coll_{component}_enable": "1"} if known and known.enable else {}
    return {**words, f"coll_{component}_priority": TOP_PRIORITY}


def spell(name: str, value: str, mpi: Mpi) -> tuple[str, str]:
    """(MCA name, value) as this version writes them."""
    parameter = catalogue.load(mpi.family).get(name)
    for spelled in parameter.spelled if parameter else ():
        if spelled.before is None or version_tuple(mpi.version) < version_tuple(spelled.before):
            words = [spelled.values.get(word, word) for word in value.split(",")]
            return spelled.name, ",".join(words)
    return name, value


def _algorithm_words(part: Mapping[str, str], collective: str, mpi: Mpi) -> dict[str, str]:
    words: dict[str, str] = {}
    if ("algorithm" in part or "segment" in part) and part.get("coll", "tuned") != "tuned":
        raise UserError(
            _("algorithm and segment are coll/tuned's: they cannot go with coll={coll}").format(coll=part["coll"])
        )
    if "algorithm" in part:
        known = mpi.algorithms.get(collective, {})
        if part["algorithm"] not in known:
            raise UserError(
                _(
                    "algorithm={algorithm}: coll/tuned of Open MPI {version} has no such algorithm for "
                    "{collective}; it has: {known}"
                ).format(
                    algorithm=part["algorithm"],
                    version=mpi.version,
                    collective=collective,
                    known=", ".join(known) or "none",
                )
            )
        words[f"coll_tuned_{collective}_algorithm"] = str(known[part["algorithm"]])
    if "segment" in part:
        if "algorithm" not in part:
            raise UserError(_("segment: only has a meaning together with algorithm"))
        words[f"coll_tuned_{collective}_algorithm_segmentsize"] = part["segment"]
    return words


def _for_a_launch(setting: Mapping[str, str], mpi: Mpi) -> dict[str, str]:
    """What is read at the start of a launch: an algorithm for every collective that has one of this name."""
    having = [name for name, known in mpi.algorithms.items() if setting.get("algorithm") in known]
    if not having:
        return _forcing(setting, "", mpi)
    return {name: value for each in having for name, value in _forcing(setting, each, mpi).items()}


def whose_algorithms(collective: str, mpi: Mpi) -> str | None:
    """The value of `coll` in a rule that names an algorithm of the MPI itself for a collective."""
    if collective in PERSISTENT:
        return mpi.traits.PERSISTENT_OF
    return mpi.traits.NONBLOCKING_OF if collective in NONBLOCKING else mpi.traits.ALGORITHMS_OF


def _forcing(part: Mapping[str, str], collective: str, mpi: Mpi) -> dict[str, str]:
    """The MPI's own variables that give an algorithm to a collective."""
    whose = whose_algorithms(collective, mpi)
    known = mpi.algorithms.get(collective, {}) if part.get("coll") == whose else {}
    name = part.get("algorithm", "")
    if name not in known or "segment" in part:
        raise UserError(
            _("coll={coll}: {call} is none of {name} {version} for {collective}; it has: {known}").format(
                coll=part.get("coll"),
                call=", ".join(f"{key}={value}" for key, value in part.items() if key != "coll") or "no algorithm",
                name=mpi.name,
                version=mpi.version,
                collective=collective or N_("any collective"),
                known=", ".join(known) or "none",
            )
        )
    return mpi.traits.forcing(collective, name)


def _in_numbers(words: Mapping[str, str], collective: str, mpi: Mpi) -> dict[str, str]:
    """The same as MPI_T takes them; MPICH's has no names of values."""
    known = mpi.algorithms[collective]
    values = {**mpi.values, **{name: known for name, value in words.items() if value in known}}
    return {name: str(values[name][value]) if name in values else value for name, value in words.items()}


def require_mpi(machine: Machine) -> Mpi:
    if machine.mpi is None:
        raise UserError(
            _("{name}: the description has no MPI (key mpi); describe the machine with one").format(name=machine.name)
        )
    return machine.mpi
