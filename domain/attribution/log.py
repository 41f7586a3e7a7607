"""The stored form of the steps' outcomes, a short list of texts, and its translation into sentences.

An entry is a code, or `code:affiliate id` where an affiliate is concerned. Codes never change their meaning.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from domain.attribution.order import DECIDED_EARLIER, STEPS
from domain.attribution.steps import Outcome, StepMatch

_DECIDED_EARLIER = "An earlier step decided."


@dataclass(frozen=True, slots=True)
class LogLine:
    """One step for display: its name, whether it named an affiliate, a code for machines, a sentence for people."""

    step: str
    outcome: str
    code: str
    detail: str
    affiliate_id: UUID | None = None


def serialize(outcomes: Iterable[Outcome]) -> list[str]:
    """Return the entries to store for the steps' outcomes, in their order."""
    return [_to_entry(outcome.code, _affiliate_id(outcome)) for outcome in outcomes]


def read(entries: Sequence[str]) -> list[LogLine]:
    """Return the lines of a stored log."""
    return [_to_line(index, *entry.partition(":")) for index, entry in enumerate(entries)]


def _affiliate_id(outcome: Outcome) -> UUID | None:
    return outcome.affiliate.id if isinstance(outcome, StepMatch) else outcome.affiliate_id


def _to_entry(code: str, affiliate_id: UUID | None) -> str:
    return code if affiliate_id is None else f"{code}:{affiliate_id}"


def _to_line(index: int, code: str, _: str, affiliate: str) -> LogLine:
    step = STEPS[index]
    return LogLine(
        step=step.name,
        outcome="matched" if code in step.matches else "skipped",
        code=code,
        detail=_DECIDED_EARLIER if code == DECIDED_EARLIER else (step.matches.get(code) or step.skips[code]),
        affiliate_id=UUID(affiliate) if affiliate else None,
    )
