"""Summary of the clicks and leads that the fraud rules kept from a program in the last days.

Source: core spec, "Click and lead fraud review", GET /api/v1/fraud-events/summary.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from domain.fraud.rules import DAILY_CAP, SELF_LEAD
from domain.money import fx
from domain.programs import fees
from domain.programs.fees import Fee
from domain.refusals import not_found
from models.fraud import events
from models.fraud.events import ReasonCount
from models.money import fx_rates
from models.organization import organizations
from models.programs import programs


@dataclass(frozen=True, slots=True)
class ProgramFraudSummary:
    """Events of the last `window_days`, closed or not. Leads that were refused do not count as leads in quarantine.

    `estimated_not_billed_cents` is what the program's terms would have paid for them, in home-currency minor units,
    without free leads and those that the brand has validated since; None if an exchange rate is missing.
    """

    window_days: int
    blocked_clicks: int
    blocked_clicks_by_reason: Mapping[str, int]
    held_clicks: int
    quarantined_leads: int
    estimated_not_billed_cents: int | None
    currency: str
    fraud_strictness: str


def summarize(*, organization_id: UUID, program_id: UUID, days: int, now: datetime) -> ProgramFraudSummary:
    """Return the summary of one program. Raises Refused 404 not_found.

    Budget: 4 round trips (program; organization; counts; rates) and the commit.
    """
    program = programs.find(organization_id=organization_id, program_id=program_id)
    if program is None:
        raise not_found("program", program_id)
    organization = organizations.find(organization_id)
    assert organization is not None  # it is the caller's
    counts = events.count_by_reasons(
        organization_id=organization_id, program_id=program_id, since=now - timedelta(days=days)
    )
    blocked = [count for count in counts if (count.subject, count.action) == ("click", "blocked")]
    clicks, leads = ([count for count in counts if count.subject == subject] for subject in ("click", "lead"))
    blocked_clicks = _sum_counts(blocked)
    terms = _terms(program)
    unbilled = [(_count_unbilled(clicks), fees.per_click(terms)), (_count_unbilled(leads), fees.per_lead(terms))]
    return ProgramFraudSummary(
        window_days=days,
        blocked_clicks=blocked_clicks,
        blocked_clicks_by_reason=_count_by_reason(blocked),
        held_clicks=_sum_counts(clicks) - blocked_clicks,
        quarantined_leads=_sum_counts(count for count in leads if not _REJECTED.intersection(count.reasons)),
        estimated_not_billed_cents=_to_home_cents(unbilled, organization.home_currency),
        currency=organization.home_currency,
        fraud_strictness=organization.fraud_strictness,
    )


# A lead with one of these reasons is refused and has no row, so it is not in quarantine.
_REJECTED = {SELF_LEAD.reason, DAILY_CAP.reason}


def _sum_counts(counts: Iterable[ReasonCount]) -> int:
    return sum(count.number for count in counts)


def _count_unbilled(counts: Iterable[ReasonCount]) -> int:
    return sum(count.number - count.free - count.released for count in counts)


def _count_by_reason(counts: Iterable[ReasonCount]) -> dict[str, int]:
    by_reason = Counter[str]()
    for count in counts:
        by_reason.update(dict.fromkeys(count.reasons, count.number))
    return dict(by_reason.most_common())


def _terms(program: programs.Program) -> fees.FeeTerms:
    return fees.FeeTerms(
        model=program.default_commission_model,
        value=program.default_commission_value,
        fee_currency=program.fee_currency,
        click_reward=_fee(program.click_reward_cents, program.click_reward_currency),
        lead_bounty=_fee(program.lead_bounty_cents, program.lead_bounty_currency),
    )


def _fee(cents: int | None, currency: str | None) -> Fee | None:
    return None if cents is None or currency is None else Fee(cents, currency)


def _to_home_cents(unbilled: Iterable[tuple[int, Fee | None]], home: str) -> int | None:
    sums = [Fee(number * fee.cents, fee.currency) for number, fee in unbilled if number and fee is not None]
    foreign = {fee.currency for fee in sums} - {home}
    per_usd = fx_rates.find_newest_rates({*foreign, home}) if foreign else {}
    converted = [
        fx.to_currency(amount_cents=fee.cents, from_currency=fee.currency, to_currency=home, per_usd=per_usd)
        for fee in sums
    ]
    valued = [cents for cents in converted if cents is not None]
    return sum(valued) if len(valued) == len(converted) else None
