"""Keeps what the steps said as a short list of texts, and tells it to people.

An entry is a code, and `code:affiliate id` where it is about somebody. Codes never change their meaning.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from domain.attribution.order import DECIDED_EARLIER, STEPS
from domain.attribution.outcome import Matched, Outcome

_DECIDED_EARLIER = "An earlier step had decided already."


@dataclass(frozen=True, slots=True)
class LogLine:
    """One step as it is shown: its name, whether it named somebody, a code for machines, a sentence for people."""

    step: str
    outcome: str
    code: str
    detail: str
    affiliate_id: UUID | None = None


def written(steps: Iterable[Outcome]) -> list[str]:
    """Return what is stored of the steps' outcomes, in their order."""
    return [_entry(found.code, _about(found)) for found in steps]


def read(entries: Sequence[str]) -> list[LogLine]:
    """Return the lines of a stored log."""
    return [_line(place, *entry.partition(":")) for place, entry in enumerate(entries)]


def _about(found: Outcome) -> UUID | None:
    return found.affiliate.id if isinstance(found, Matched) else found.affiliate_id


def _entry(code: str, affiliate_id: UUID | None) -> str:
    return code if affiliate_id is None else f"{code}:{affiliate_id}"


def _line(place: int, code: str, _: str, affiliate: str) -> LogLine:
    step = STEPS[place]
    return LogLine(
        step=step.NAME,
        outcome="matched" if code in step.MATCHES else "skipped",
        code=code,
        detail=_DECIDED_EARLIER if code == DECIDED_EARLIER else step.SENTENCES[code],
        affiliate_id=UUID(affiliate) if affiliate else None,
    )
