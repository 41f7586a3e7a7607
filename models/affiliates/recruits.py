"""Recruiters and their recruits, with what both earned. One level, inside one campaign."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.money import currencies, valuation
from models import conditions
from models.conditions import OF_PERSON
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class Recruiter:
    """The affiliate that a referral names, with the data to detect that the applicant is the same person."""

    id: UUID
    email_normalized: str
    account_email: str | None
    is_applicants_account: bool


_RECRUITERS = Rows(Recruiter)
_IS_APPLICANTS_ACCOUNT = """
exists (select from affiliate s where s.organization_id = a.organization_id and s.account_id = a.account_id
  and s.email_normalized = %(applicant)s)
"""
# Unambiguous names come first: taking another affiliate's id or account slug as a link alias must not
# make the taker the recruiter.
_RECRUITER = f"""
with named as (
  select 1 as rank, id from affiliate where organization_id = %(org)s and id = %(id)s::uuid
  union all
  select 2, a.id from affiliate_account c join affiliate a on a.account_id = c.id and a.organization_id = %(org)s
  where c.slug = %(slug)s
  union all
  select 3, affiliate_id from tracking_link
  where organization_id = %(org)s and slug = %(slug)s and program_id = %(program)s and deleted_at is null
)
select {columns(Recruiter, "a", account_email="c.email", is_applicants_account=_IS_APPLICANTS_ACCOUNT)}
from named n
join affiliate a on a.organization_id = %(org)s and a.id = n.id and a.program_id = %(program)s
  and a.status = 'Approved' and a.deleted_at is null
left join affiliate_account c on c.id = a.account_id
order by n.rank, a.created_at limit 1
"""


def find_recruiter(
    *, organization_id: UUID, program_id: UUID, affiliate_id: UUID | None, slug: str, applicant_normalized: str
) -> Recruiter | None:
    """Return the Approved affiliate of a campaign with this id, account slug or link slug."""
    params = {"org": organization_id, "program": program_id, "id": affiliate_id, "slug": slug}
    return _RECRUITERS.first(_RECRUITER, params | {"applicant": applicant_normalized})


@dataclass(frozen=True, slots=True)
class CallerAffiliate:
    """The signed-in person's affiliate in one campaign."""

    organization_id: UUID
    affiliate_id: UUID
    status: str


_CALLER_AFFILIATES = Rows(CallerAffiliate)
_ANY_ORG_CALLER_AFFILIATE = f"""
select {columns(CallerAffiliate, "m", affiliate_id="m.id")}
from affiliate m join program p on p.organization_id = m.organization_id and p.id = m.program_id
where p.id = %(program)s and p.archived_at is null and {OF_PERSON}
order by m.status <> 'Approved', m.created_at, m.id limit 1
"""


def any_org_find_caller_affiliate(
    *, program_id: UUID, account_id: UUID | None, email: str | None
) -> CallerAffiliate | None:
    """Return the caller's affiliate in a campaign that is not archived; an Approved one first if they have two there.

    `email` is the caller's verified one, or None.
    """
    return _CALLER_AFFILIATES.first(
        _ANY_ORG_CALLER_AFFILIATE, {"program": program_id, "account": account_id, "email": email}
    )


@dataclass(frozen=True, slots=True)
class Recruit:
    """A recruited affiliate; `currency` is their organization's home currency."""

    id: UUID
    organization_id: UUID
    recruiter_id: UUID
    email: str
    full_name: str
    status: str
    created_at: datetime
    currency: str


_RECRUIT_ROWS = Rows(Recruit)
# An affiliate who was never accepted is no recruit; one who was paused or banned later stays, with their history.
_RECRUITS = f"""
select {columns(Recruit, "r", recruiter_id="m.id", currency="o.home_currency")}
from affiliate m
join affiliate r on r.organization_id = m.organization_id and r.recruited_by_affiliate_id = m.id
  and r.deleted_at is null and r.status in ('Approved', 'Paused', 'Banned')
join organization o on o.id = m.organization_id
"""
_ANY_ORG_PAGE = f"""
{_RECRUITS} where {OF_PERSON}
  and (%(at)s::timestamptz is null or (r.created_at, r.id) < (%(at)s, %(id)s::uuid))
order by r.created_at desc, r.id desc limit %(limit)s
"""
_OF_AFFILIATE = f"{_RECRUITS} where m.organization_id = %s and m.id = %s order by r.created_at desc, r.id desc"


def any_org_page(
    *, account_id: UUID | None, email: str | None, after: tuple[datetime, UUID] | None, limit: int
) -> list[Recruit]:
    """Return up to `limit` recruits of all the caller's affiliates, newest first, after a keyset position."""
    at, id = after or (None, None)
    params = {"account": account_id, "email": email, "at": at, "id": id, "limit": limit}
    return _RECRUIT_ROWS.all(_ANY_ORG_PAGE, params)


def list_of_affiliate(*, organization_id: UUID, affiliate_id: UUID) -> list[Recruit]:
    """Return all recruits of one affiliate, newest first."""
    return _RECRUIT_ROWS.all(_OF_AFFILIATE, (organization_id, affiliate_id))


@dataclass(frozen=True, slots=True)
class RecruitEarnings:
    """What one recruit's sales of one currency earn net of reversals: the recruit, and by override the recruiter.

    In the home currency's minor units; `held` are native minor units of sales without a recent exchange rate.
    """

    recruit_id: UUID
    currency: str
    commission_cents: int
    override_cents: int
    held_commission_cents: int
    held_override_cents: int


def _rate_sql(currency: str) -> str:
    """Return SQL for a currency's minor units per 1 USD on the day of sale `s`; null without a recent rate."""
    exponent = f"coalesce((%(exponents)s::int[])[array_position(%(odd)s::text[], {currency})], 2)"
    newest = f"""
      select per_usd from fx_rate where currency = {currency} and published_on <= s.day
        and published_on >= s.day - %(fresh)s::int order by published_on desc limit 1
    """
    return f"case when {currency} = 'USD' then 1 else ({newest}) end * power(10::numeric, {exponent})"


def _home_value_sql(cents: str) -> str:
    """Return SQL for the home value of a sale's cents, rounded half to even; null without a rate."""
    product = f"s.{cents} * r.times"
    quotient, doubled = f"div({product}, r.over)", f"2 * mod({product}, r.over)"
    round_up = f"{doubled} > r.over or {doubled} = r.over and mod({quotient}, 2) = 1"
    return f"case when s.currency = w.home then s.{cents} else {quotient} + ({round_up})::int end"


def _sums_sql(cents: str) -> tuple[str, str]:
    is_held = "s.currency <> w.home and (r.times is null or r.over is null)"
    return (
        f"coalesce(sum({_home_value_sql(cents)}), 0)::bigint",
        f"coalesce(sum(s.{cents}) filter (where {is_held}), 0)::bigint",
    )


_OWN, _OWN_HELD = _sums_sql("own")
_SHARE, _SHARE_HELD = _sums_sql("share")
_EARNED_ROWS = Rows(RecruitEarnings)
_EARNED = f"""
select w.id, s.currency, {_OWN}, {_SHARE}, {_OWN_HELD}, {_SHARE_HELD}
from unnest(%(orgs)s::uuid[], %(recruiters)s::uuid[], %(ids)s::uuid[], %(homes)s::text[])
  as w (organization_id, recruiter_id, id, home)
cross join lateral (
  select c.currency, (c.occurred_at at time zone 'UTC')::date as day, {conditions.earned_cents("c")} as own,
    coalesce({conditions.earned_cents("v")}, 0) as share
  from conversion c
  left join conversion v on v.organization_id = w.organization_id and v.parent_id = c.id
    and v.affiliate_id = w.recruiter_id
  where c.organization_id = w.organization_id and c.affiliate_id = w.id and c.parent_id is null and not c.is_test
) s
left join lateral (select {_rate_sql("w.home")} as times, {_rate_sql("s.currency")} as over) r on s.currency <> w.home
group by w.id, s.currency
"""


def sum_earnings(recruits: Sequence[Recruit]) -> list[RecruitEarnings]:
    """Return what these recruits' sales earn, without test sales; each sale is valued at the rate of its day."""
    exponents = {code: exponent for code, exponent in currencies.EXPONENTS.items() if exponent != 2}
    params: dict[str, object] = {
        "orgs": [recruit.organization_id for recruit in recruits],
        "recruiters": [recruit.recruiter_id for recruit in recruits],
        "ids": [recruit.id for recruit in recruits],
        "homes": [recruit.currency for recruit in recruits],
        "odd": list(exponents),
        "exponents": list(exponents.values()),
        "fresh": valuation.FRESH_DAYS,
    }
    return _EARNED_ROWS.all(_EARNED, params)
