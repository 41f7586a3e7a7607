"""What waits for somebody to look at it, from several lists of the API in one order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domain.statuses import ConversionStatus
from pages.brand.conversions import why
from pages.brand.conversions.why import CreditStep

#: Kinds of cases: clicks and leads that were dropped, those that are held out of payment, sales that credited nobody.
KINDS = ("blocked", "held", "uncredited")


@dataclass(frozen=True, slots=True)
class ReviewCase:
    """One of them; `row` is what the API says of it. `at` is an instant as the API writes it."""

    kind: str
    id: str
    at: str
    affiliate_id: str
    who: str
    program_id: str
    row: Mapping[str, Any]
    steps: Sequence[CreditStep] = ()

    @property
    def can_be_released(self) -> bool:
        """Whether a conversion is held for it that may be let go."""
        return self.kind == "held" and self.row["conversionStatus"] == ConversionStatus.Invalidated


@dataclass(frozen=True, slots=True)
class CasePage:
    """Some cases, how many there are of each kind, and where older ones begin."""

    cases: Sequence[ReviewCase]
    counts: Mapping[str, int]
    next_cursor: str | None


def waiting(
    events: Sequence[Mapping[str, Any]], sales: Sequence[Mapping[str, Any]], *, program_id: str | None
) -> list[ReviewCase]:
    """Return open fraud events and open uncredited sales as cases, the newest first."""
    found = [*(_event(row) for row in events), *(_sale(row) for row in sales)]
    kept = [case for case in found if program_id is None or case.program_id == program_id]
    return sorted(kept, key=lambda case: (case.at, case.id), reverse=True)


def page(found: Sequence[ReviewCase], *, kind: str | None, cursor: str | None, take: int) -> CasePage:
    """Return a page of the cases of a kind. A cursor is a moment; cases of one moment are never parted by it."""
    counts = {name: sum(case.kind == name for case in found) for name in KINDS}
    wanted = [case for case in found if (kind is None or case.kind == kind) and (cursor is None or case.at < cursor)]
    shown = list(_with_their_moment(wanted, take))
    return CasePage(shown, counts, shown[-1].at if len(shown) < len(wanted) else None)


def _with_their_moment(wanted: Sequence[ReviewCase], take: int) -> Iterator[ReviewCase]:
    for place, case in enumerate(wanted):
        if place >= take and case.at != wanted[take - 1].at:
            return
        yield case


def _event(row: Mapping[str, Any]) -> ReviewCase:
    return ReviewCase(
        kind=row["action"],
        id=row["id"],
        at=row["occurredAt"],
        affiliate_id=row["affiliateId"],
        who=row["affiliateName"] or row["affiliateEmail"],
        program_id=row["programId"],
        row=row,
    )


def _sale(row: Mapping[str, Any]) -> ReviewCase:
    said = row["attribution"]
    return ReviewCase(
        kind="uncredited",
        id=row["id"],
        at=row["occurredAt"],
        affiliate_id=row["affiliateId"],
        who=row["affiliateName"] or row["affiliateEmail"],
        program_id=row["programId"],
        row=row,
        steps=why.steps(said) if said else (),
    )
