"""The creator network: the programs listed there, and those that wait for an operator's review."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from models import conditions
from models.conditions import OF_PERSON
from models.db import db
from models.programs.advertised_terms import AdvertisedTerms
from models.table import Rows, columns

#: How much of a description a list shows, in characters.
MAX_SUMMARY = 500
# Same expression as the index: the legacy models behave as Cps.
_PAYS_FOR = """(case when p.default_commission_model in ('Cpc', 'Cpl') then p.default_commission_model
  else 'Cps' end)"""


@dataclass(frozen=True, slots=True)
class NetworkProgram(AdvertisedTerms):
    """A listed program with its terms; `status` is the caller's own status in it.

    `currency` is the brand's home currency; `handle` with `slug` its public address.
    """

    id: UUID
    logo_file_id: UUID | None
    handle: str | None
    slug: str
    category: str | None
    currency: str
    hold_days: int
    auto_approve: bool
    application_form: Mapping[str, Any] | None
    status: str | None
    listed_at: datetime


_TERMS = {
    "organization_name": "o.name",
    "currency": "o.home_currency",
    "model": "p.default_commission_model",
    "rate_type": "p.default_commission_type",
    "rate_value": "p.default_commission_value",
    "rate_currency": "p.fee_currency",
    "has_tiers": conditions.PROGRAM_HAS_TIERS,
}
_OF_LISTED = _TERMS | {
    "logo_file_id": "o.logo_file_id",
    "handle": "o.subdomain",
    "hold_days": "o.payout_grace_days",
    "status": "mine.status",
    "listed_at": "p.network_decided_at",
}
_LISTED_ROWS = Rows(NetworkProgram)
# A person is in few programs, so these are read once, and not once for each skipped program.
_FROM = f"""
from program p join organization o on o.id = p.organization_id
left join (
  select distinct on (m.program_id) m.program_id, m.status from affiliate m
  where {OF_PERSON} order by m.program_id, m.created_at
) mine on mine.program_id = p.id
where {conditions.LISTED_PROGRAM}
"""
_SUMMARY = f"left(p.description, {MAX_SUMMARY})"
_PAGE = f"select {columns(NetworkProgram, 'p', **_OF_LISTED, description=_SUMMARY)} {_FROM}"
_FILTERS = {
    "category": "and p.category = %(category)s",
    "model": f"and {_PAYS_FOR} = %(model)s",
    "currency": "and o.home_currency = %(currency)s",
    "at": "and (p.network_decided_at, p.id) < (%(at)s, %(id)s::uuid)",
}
_NEWEST = "order by p.network_decided_at desc, p.id desc limit %(limit)s"
_ANY_ORG_FIND = f"select {columns(NetworkProgram, 'p', **_OF_LISTED)} {_FROM} and p.id = %(program)s"


def any_org_page(
    *,
    account_id: UUID | None,
    email: str | None,
    sandbox: bool,
    filters: Mapping[str, str | None],
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> list[NetworkProgram]:
    """Return listed programs, last listed first, after a position, with shortened descriptions.

    `filters` are `category`, `model` and `currency`; None does not filter. The statement contains only the given
    filters, so that each combination has its own plan. `sandbox`: it replaces every source of funding.
    Budget: 1 statement; it reads the rows of the page, and skips those of brands that are not visible now.
    """
    at, id = after or (None, None)
    values = {**filters, "at": at}
    conditions_sql = " ".join(part for name, part in _FILTERS.items() if values[name] is not None)
    person = {"account": account_id, "email": email, "sandbox": sandbox}
    return _LISTED_ROWS.all(f"{_PAGE} {conditions_sql} {_NEWEST}", {**person, **values, "id": id, "limit": limit})


def any_org_find(
    program_id: UUID, *, account_id: UUID | None, email: str | None, sandbox: bool
) -> NetworkProgram | None:
    """Return one listed program with its full description; None if it is not visible to affiliates now."""
    person = {"account": account_id, "email": email, "sandbox": sandbox}
    return _LISTED_ROWS.first(_ANY_ORG_FIND, {**person, "program": program_id})


_ANY_ORG_EXISTS = f"""
select exists (select from program p join organization o on o.id = p.organization_id where {conditions.LISTED_PROGRAM})
"""


def any_org_exists(*, sandbox: bool) -> bool:
    """Return whether any program is visible to affiliates now. Budget: 1 statement."""
    row = db.row(_ANY_ORG_EXISTS, {"sandbox": sandbox})
    return bool(row and row[0])


_MAY_LIST = f"select {conditions.MAY_LIST} from organization o where o.id = %(org)s"


def may_list(*, organization_id: UUID, sandbox: bool) -> bool:
    """Return whether an organization may list programs: it has an active paid plan and a source of funding."""
    row = db.row(_MAY_LIST, {"org": organization_id, "sandbox": sandbox})
    return bool(row and row[0])


class NetworkApplicant(NamedTuple):
    """A person who wants to join a listed program: their status in it, and whether the brand banned them."""

    status: str | None
    is_banned: bool


_APPLICANT = f"""
select
  (select m.status from affiliate m
   where m.organization_id = p.organization_id and m.program_id = p.id and {OF_PERSON} order by m.created_at limit 1),
  exists (select from affiliate m where m.organization_id = p.organization_id and m.status = 'Banned' and {OF_PERSON})
from program p join organization o on o.id = p.organization_id
where p.organization_id = %(org)s and p.id = %(program)s and {conditions.LISTED_PROGRAM}
"""


def find_applicant(
    *, organization_id: UUID, program_id: UUID, account_id: UUID | None, email: str | None, sandbox: bool
) -> NetworkApplicant | None:
    """Return a person's status in a program of the organization; None if it is not visible to affiliates now."""
    person = {"account": account_id, "email": email, "sandbox": sandbox}
    return Rows(NetworkApplicant).first(_APPLICANT, {**person, "org": organization_id, "program": program_id})


@dataclass(frozen=True, slots=True)
class ReviewedProgram(AdvertisedTerms):
    """The terms of a program submitted for listing, and the state of its review.

    `may_list`: its brand may list programs at the moment.
    """

    id: UUID
    referral_destination_url: str | None
    category: str | None
    currency: str
    auto_approve: bool
    may_list: bool
    status: str
    asked_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    reason: str | None


_OF_REVIEWED = _TERMS | {
    "may_list": conditions.MAY_LIST,
    "status": "p.network_review",
    "asked_at": "p.network_asked_at",
    "decided_at": "p.network_decided_at",
    "decided_by": "p.network_decided_by",
    "reason": "p.network_reason",
}
_REVIEWED_ROWS = Rows(ReviewedProgram)
_REVIEWED = """
select {} from program p join organization o on o.id = p.organization_id
where p.network_review is not null and p.archived_at is null
"""
_QUEUE = f"""
{_REVIEWED.format(columns(ReviewedProgram, "p", **_OF_REVIEWED, description=_SUMMARY))}
  and p.network_review = %(status)s
  and (%(at)s::timestamptz is null or (p.network_asked_at, p.id) > (%(at)s, %(id)s::uuid))
order by p.network_asked_at, p.id limit %(limit)s
"""
_ANY_ORG_REVIEWED = f"{_REVIEWED.format(columns(ReviewedProgram, 'p', **_OF_REVIEWED))} and p.id = %(program)s"


def any_org_list_queue(
    *, status: str, sandbox: bool, after: tuple[datetime, UUID] | None, limit: int
) -> list[ReviewedProgram]:
    """Return programs with this review status, longest waiting first, with shortened descriptions.

    Archived ones are left out.
    """
    at, id = after or (None, None)
    return _REVIEWED_ROWS.all(_QUEUE, {"status": status, "sandbox": sandbox, "at": at, "id": id, "limit": limit})


def any_org_find_reviewed(program_id: UUID, *, sandbox: bool) -> ReviewedProgram | None:
    """Return one program with its review and its full description; None if no review was requested."""
    return _REVIEWED_ROWS.first(_ANY_ORG_REVIEWED, {"program": program_id, "sandbox": sandbox})
