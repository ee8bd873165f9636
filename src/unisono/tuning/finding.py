"""A finding: one sentence of evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, ConfigDict, Field

from unisono.core.fields import Collective, Count
from unisono.core.interval import Interval
from unisono.core.language import _
from unisono.core.vocabulary import Case
from unisono.tuning.plans import CHECKED


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence of evidence, and the numbers it states (so that a test can hold them together)."""

    __pydantic_config__: ClassVar[ConfigDict] = CHECKED

    kind: str
    """"better", "worse", "mixed", "no difference", "singular point", "disqualified", "folded", "not told",
    "assumed"."""
    text: str
    collective: Collective | None = None
    nodes: Count | None = None
    ppn: Count | None = None
    parameter: str | None = None
    value: str | None = None
    first: Annotated[int | None, Field(exclude=True)] = None
    """Bytes, of the sizes it speaks of. This and the two that follow are known while deciding; a document has the
    sentence alone."""
    last: Annotated[int | None, Field(exclude=True)] = None
    gain: Annotated[Interval | None, Field(exclude=True)] = None

    @classmethod
    def of(
        cls,
        case: Case,
        kind: str,
        text: str,
        *,
        parameter: str | None = None,
        value: str | None = None,
        first: int | None = None,
        last: int | None = None,
        gain: Interval | None = None,
    ) -> Finding:
        """A finding on one case."""
        return cls(kind, text, case.collective, case.nodes, case.ppn, parameter, value, first, last, gain)

    @property
    def case(self) -> Case | None:
        """None: it is not on a single case."""
        if self.collective is None or self.nodes is None or self.ppn is None:
            return None
        return Case(self.collective, self.nodes, self.ppn)


def _written(value: Any) -> Any:
    for name in ("first", "last", "gain") if isinstance(value, dict) else ():
        if name in value:
            raise ValueError(_("{name}: is not a known key").format(name=name))
    return value


WrittenFinding = Annotated[Finding, BeforeValidator(_written)]
"""As a document holds it."""
