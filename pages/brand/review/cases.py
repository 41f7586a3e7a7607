"""Open cases to review, from several lists of the API in one order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domain.statuses import ConversionStatus
from pages.brand.conversions import attribution_steps
from pages.brand.conversions.attribution_steps import CreditStep
from pages.brand.review import fraud_reasons

#: Kinds of cases: blocked clicks and leads, held clicks and leads, uncredited sales.
KINDS = ("blocked", "held", "uncredited")


@dataclass(frozen=True, slots=True)
class ReviewCase:
    """A case to review; `row` is its record of the API, `at` an instant of it, `reasons` are in words."""

    kind: str
    id: str
    at: str
    affiliate_id: str
    who: str
    program_id: str
    row: Mapping[str, Any]
    steps: Sequence[CreditStep] = ()
    reasons: Sequence[str] = ()

    @property
    def can_be_released(self) -> bool:
        """Whether it holds a conversion that may be released."""
        return self.kind == "held" and self.row["conversionStatus"] == ConversionStatus.Invalidated


@dataclass(frozen=True, slots=True)
class CasePage:
    """Some cases, the count of each kind, and the cursor of older ones."""

    cases: Sequence[ReviewCase]
    counts: Mapping[str, int]
    next_cursor: str | None


def list_open_cases(
    events: Sequence[Mapping[str, Any]], sales: Sequence[Mapping[str, Any]], *, program_id: str | None
) -> list[ReviewCase]:
    """Return open fraud events and open uncredited sales as cases, the newest first."""
    cases = [*(_case_from_event(row) for row in events), *(_case_from_sale(row) for row in sales)]
    filtered = [case for case in cases if program_id is None or case.program_id == program_id]
    return sorted(filtered, key=lambda case: (case.at, case.id), reverse=True)


def page_of_cases(cases: Sequence[ReviewCase], *, kind: str | None, cursor: str | None, take: int) -> CasePage:
    """Return a page of the cases of a kind. A cursor is a time; cases of the same time are always on one page."""
    counts = {name: sum(case.kind == name for case in cases) for name in KINDS}
    matching = [case for case in cases if (kind is None or case.kind == kind) and (cursor is None or case.at < cursor)]
    page_cases = list(_take_whole_times(matching, take))
    return CasePage(page_cases, counts, page_cases[-1].at if len(page_cases) < len(matching) else None)


def _take_whole_times(cases: Sequence[ReviewCase], take: int) -> Iterator[ReviewCase]:
    for place, case in enumerate(cases):
        if place >= take and case.at != cases[take - 1].at:
            return
        yield case


def _case_from_event(row: Mapping[str, Any]) -> ReviewCase:
    return ReviewCase(
        kind=row["action"],
        id=row["id"],
        at=row["occurredAt"],
        affiliate_id=row["affiliateId"],
        who=row["affiliateName"] or row["affiliateEmail"],
        program_id=row["programId"],
        row=row,
        reasons=fraud_reasons.describe_reasons(row["reasons"]),
    )


def _case_from_sale(row: Mapping[str, Any]) -> ReviewCase:
    attribution = row["attribution"]
    return ReviewCase(
        kind="uncredited",
        id=row["id"],
        at=row["occurredAt"],
        affiliate_id=row["affiliateId"],
        who=row["affiliateName"] or row["affiliateEmail"],
        program_id=row["programId"],
        row=row,
        steps=attribution_steps.describe_steps(attribution) if attribution else (),
    )
