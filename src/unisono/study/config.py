"""The study file: what to measure, as people write it (TOML). See docs/study-files.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from unisono.core.errors import UserError
from unisono.core.fields import Size, collective, collectives
from unisono.core.language import _
from unisono.core.reading import read_text
from unisono.core.toml import explain_validation, parse_toml
from unisono.core.vocabulary import COMBINING, NODES_MOST, PPN_MOST, USUAL, Condition, Level, blocking

SIZES_MOST = 10_000
"""Message sizes of a case: more would take days for nothing."""

_SECONDS = {"s": 1, "m": 60, "h": 3600}


def parse_duration(text: str | float, where: str = "duration") -> float:
    """Seconds of 90, "90", "90s", "10m", "1.5h". Raises UserError naming `where`."""
    word = str(text).strip().lower()
    unit = _SECONDS.get(word[-1:], 0)
    try:
        seconds = float(word[:-1]) * unit if unit else float(word)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise UserError(
            _("{where}: {text!r} is not a duration; write for example 90s, 10m or 1h").format(where=where, text=text)
        )
    return seconds


def _duration(value: Any) -> float:
    try:
        return parse_duration(value)
    except UserError as error:
        raise ValueError(str(error).removeprefix("duration: ")) from error


Duration = Annotated[float, BeforeValidator(_duration)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class About(_Part):
    name: str
    description: str = ""
    source: str = ""
    """Where the matrix comes from, e.g. a published document."""


class Cases(_Part):
    collectives: list[str] = Field(min_length=1)
    nodes: list[Annotated[int, Field(ge=1, le=NODES_MOST)]] = [1]
    ppn: list[Annotated[int, Field(ge=1, le=PPN_MOST)] | Literal["cores"]] = ["cores"]
    oversubscribe: bool = False
    """Allow more ranks than CPUs: works, is slower, and is said everywhere."""

    @field_validator("ppn", mode="before")
    @classmethod
    def _ranks(cls, values: Any) -> Any:
        for value in values if isinstance(values, list) else []:
            if value != "cores" and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ValueError(
                    _('{value!r} is not a number of ranks; write 1 or more, or "cores"').format(value=value)
                )
        return values

    @field_validator("collectives")
    @classmethod
    def _known(cls, names: list[str]) -> list[str]:
        return collectives(names)


class SizeLimit(_Part):
    """An upper end of the message sizes of one collective, or one ppn, or both."""

    collective: str | None = None
    ppn: int | None = None
    to: Size

    @field_validator("collective")
    @classmethod
    def _known(cls, name: str | None) -> str | None:
        return name if name is None else collective(name)


class Sizes(_Part):
    first: Size = Field(default=8, alias="from")
    to: Size = 1 << 20
    step: Annotated[float, Field(gt=1)] = 2
    """Factor between neighbours."""
    extra: list[Size] = []
    """Further sizes, powers of two or not."""
    limit: list[SizeLimit] = []

    @model_validator(mode="after")
    def _ordered(self) -> Sizes:
        if self.first > self.to:
            raise ValueError(_("from ({first}) is above to ({to})").format(first=self.first, to=self.to))
        least = min([self.first, *self.extra])
        for limit in self.limit:
            if limit.to < least:
                raise ValueError(
                    _("limit: to ({to}) leaves no message size: the smallest is {least}").format(
                        to=limit.to, least=least
                    )
                )
        if len(list(islice(self._steps(self.to), SIZES_MOST + 1))) + len(self.extra) > SIZES_MOST:
            raise ValueError(
                _("these are more than {sizes_most:,} message sizes; take a larger step").format(sizes_most=SIZES_MOST)
            )
        return self

    def _steps(self, end: int) -> Iterator[int]:
        size = float(self.first)
        while size <= end:
            yield round(size)
            size = max(size * self.step, size + 1)

    def of(self, collective: str, ppn: int) -> list[int]:
        """The message sizes of one case, ascending; [0] for a barrier."""
        if blocking(collective) == "barrier":
            return [0]
        ends = [limit.to for limit in self.limit if limit.collective in (None, collective) and limit.ppn in (None, ppn)]
        end = min([self.to, *ends])
        sizes = {size for size in self.extra if size <= end}
        sizes.update(self._steps(end))
        if collective in COMBINING:
            # A reduction works on numbers of 4 bytes; smaller vectors are bytes and another operation.
            sizes = {size for size in sizes if size >= 4 or size == 0} or {4}
        return sorted(sizes)


class Method(_Part):
    name: Literal["race", "classic"] = "race"
    budget: Duration | None = None
    launches: Annotated[int, Field(ge=1, le=1000)] = 5
    """Classic: launches a setting. Race: from so many on, differences within the margin are ties; what is ahead but not
    proven gets more (search.race)."""
    margin: Annotated[float, Field(ge=0, lt=1)] = 0.03
    """The default is kept unless beaten by more than this."""
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    seed: int = 1
    reproducible: Level | None = None
    """What the results of reductions must not depend on (REPRODUCIBLE); our library is in every launch then."""


class Measure(_Part):
    seconds: Annotated[float, Field(gt=0)] = 0.02
    """Per sample: one (collective, message size, setting) in one launch."""
    min_repetitions: Annotated[int, Field(ge=3)] = 8
    max_repetitions: Annotated[int, Field(ge=3, le=1_000_000)] = 400
    off_cache: bool = False
    """Buffers take turns through more than the last-level cache."""
    memory: Size | None = None
    """Most memory the ranks of a node may use together; asked of the machine when absent."""
    timeout: Duration = 60.0
    """A sample that takes longer is a hang: the launch is killed and recorded as such."""
    benchmark: Literal["unisono", "imb", "osu"] = "unisono"
    """What measures: unisono-bench, or another benchmark, in the classic way."""
    program: str | None = None
    """Where the other benchmark is: IMB-MPI1, or the directory of OSU's programs; else it is looked for on PATH."""

    @property
    def condition(self) -> Condition:
        return Condition(cold="buffers") if self.off_cache else USUAL

    def repetitions(self, size: int) -> tuple[float, int, int]:
        """(seconds, fewest, most) of one sample at a message size."""
        return self.seconds, self.min_repetitions, self.max_repetitions


class LikeImb(Measure):
    """Repetitions as the Intel MPI Benchmarks make them unless told otherwise: 1,000, but no more than 40 MiB of
    messages and 10 s a sample (IMB user guide, -iter and -time)."""

    def repetitions(self, size: int) -> tuple[float, int, int]:
        most = max(3, min(1000, (40 << 20) // max(size, 1)))
        return 10.0, min(most, self.min_repetitions), most


def _value_lists(table: Any) -> Any:
    """{name: value or list of values} -> {name: list of strings}; anything else is left for pydantic to refuse."""
    if not isinstance(table, dict):
        return table
    out: dict[str, list[str]] = {}
    for name, values in table.items():
        listed = values if isinstance(values, list) else [values]
        if not listed:
            raise ValueError(_("{name}: has no values").format(name=name))
        for value in listed:
            if not isinstance(value, (str, int, float)):
                raise ValueError(
                    _("{name}: {value!r} is not a value; write strings or numbers").format(name=name, value=value)
                )
        out[name] = [str(int(v)) if isinstance(v, bool) else str(v) for v in listed]
    return out


class Study(_Part):
    """One study file. Every value is a string in the end; lists may hold "all" for what the machine offers."""

    study: About
    cases: Cases
    sizes: Sizes = Sizes()
    parameters: dict[str, list[str]] = {}
    method: Method = Method()
    measure: Measure = Measure()
    """`measuring` says what of it holds for the study's method."""
    weights: dict[str, Annotated[float, Field(ge=0)]] = {}
    """Collective -> how much it counts in the joint choice; 1 each when absent."""
    exclude: list[dict[str, list[str]]] = []
    """Combinations left out: a table of collective, nodes, ppn and parameters -> the values it applies to."""
    boot: dict[str, list[str]] = {}
    """Boot parameters the whole matrix wants (NPS ...): one study each, brought together by `unisono compare`."""

    @property
    def measuring(self) -> Measure:
        """The classic procedure makes as many repetitions as the benchmark of Oracle's guides does."""
        return LikeImb(**self.measure.model_dump()) if self.method.name == "classic" else self.measure

    @field_validator("parameters", "boot", mode="before")
    @classmethod
    def _strings(cls, table: Any) -> Any:
        return _value_lists(table)

    @field_validator("exclude", mode="before")
    @classmethod
    def _exclusions(cls, tables: Any) -> Any:
        return [_value_lists(table) for table in tables] if isinstance(tables, list) else tables

    @model_validator(mode="after")
    def _measurable(self) -> Study:
        if self.measure.benchmark != "unisono" and self.method.name != "classic":
            raise ValueError(
                _(
                    'measure.benchmark: {benchmark} measures one setting a launch; write name = "classic" in [method]'
                ).format(benchmark=self.measure.benchmark)
            )
        return self

    @model_validator(mode="after")
    def _weights_known(self) -> Study:
        for name in self.weights:
            if name not in self.cases.collectives:
                raise ValueError(_("weights.{name}: is not among the collectives of this study").format(name=name))
        if self.weights and not any(self.weights.values()):
            raise ValueError(_("weights: all are 0, so nothing would count"))
        return self


def read_study(path: Path) -> tuple[Study, str]:
    """The study and the file's own text (kept in the database). Raises UserError naming file and key."""
    text = read_text(path)
    return parse_study(text, str(path)), text


def parse_study(text: str, where: str) -> Study:
    """A study from its text. Raises UserError naming `where` and the key."""
    document = parse_toml(text, where)
    if "cases" not in document:
        raise UserError(
            _("{where}: has no [cases]; a study file says which collectives to measure").format(where=where)
        )
    try:
        return Study.model_validate(document)
    except ValidationError as error:
        raise UserError(explain_validation(where, error)) from error


def ready_made(name: str) -> Path | None:
    """The path of a study that comes with Unisono (quick, oci-bm-optimized3-36 ...), or None."""
    for folder in _study_folders():
        path = folder / f"{name}.toml"
        if path.is_file():
            return path
    return None


def ready_made_names() -> list[str]:
    return sorted({path.stem for folder in _study_folders() for path in folder.glob("*.toml")})


def _study_folders() -> Iterable[Path]:
    package = Path(__file__).resolve().parents[1]
    return (package / "_studies", package.parents[1] / "studies")
