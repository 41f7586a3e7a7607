"""The creator network: the programs that affiliates find there, and those that wait for an operator's review."""

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
# As the index has it: the legacy models behave as Cps.
_PAYS_FOR = """(case when p.default_commission_model in ('Cpc', 'Cpl') then p.default_commission_model
  else 'Cps' end)"""


@dataclass(frozen=True, slots=True)
class NetworkProgram(AdvertisedTerms):
    """A program that affiliates find in the network, with its terms; `status` is how whoever asks stands in it.

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
# Somebody is in few programs, so these are read once, and not once for each program that is passed over.
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
    """Return listed programs, those listed last first, from a position in that order on, descriptions cut short.

    `filters` are `category`, `model` and `currency`; None leaves one out. Only what is asked for stands in the
    statement, so that each way to ask is planned for itself. `sandbox`: it stands in for every source of funding.
    Budget: 1 statement; it reads the rows of the page, and passes over those of brands that are not shown now.
    """
    at, id = after or (None, None)
    known = {**filters, "at": at}
    asked = " ".join(part for name, part in _FILTERS.items() if known[name] is not None)
    person = {"account": account_id, "email": email, "sandbox": sandbox}
    return _LISTED_ROWS.all(f"{_PAGE} {asked} {_NEWEST}", {**person, **known, "id": id, "limit": limit})


def any_org_find(
    program_id: UUID, *, account_id: UUID | None, email: str | None, sandbox: bool
) -> NetworkProgram | None:
    """Return one listed program with its whole description; None where affiliates do not see it now."""
    person = {"account": account_id, "email": email, "sandbox": sandbox}
    return _LISTED_ROWS.first(_ANY_ORG_FIND, {**person, "program": program_id})


_MAY_LIST = f"select {conditions.MAY_LIST} from organization o where o.id = %(org)s"


def may_list(*, organization_id: UUID, sandbox: bool) -> bool:
    """Say whether an organization has what listing needs: an active paid plan and a source of funding."""
    row = db.row(_MAY_LIST, {"org": organization_id, "sandbox": sandbox})
    return bool(row and row[0])


class Applicant(NamedTuple):
    """Who asks to join a listed program, as its brand knows them: their status in it, and whether it banned them."""

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
) -> Applicant | None:
    """Return how somebody stands with a program of the organization; None where affiliates do not see it now."""
    person = {"account": account_id, "email": email, "sandbox": sandbox}
    return Rows(Applicant).first(_APPLICANT, {**person, "org": organization_id, "program": program_id})


@dataclass(frozen=True, slots=True)
class ReviewedProgram(AdvertisedTerms):
    """What is advertised in a program that was to be listed, and where its review stands.

    `may_list`: its brand has what listing needs at the moment.
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
    """Return programs whose review stands so, those that wait longest first, descriptions cut short.

    Archived ones are left out.
    """
    at, id = after or (None, None)
    return _REVIEWED_ROWS.all(_QUEUE, {"status": status, "sandbox": sandbox, "at": at, "id": id, "limit": limit})


def any_org_find_reviewed(program_id: UUID, *, sandbox: bool) -> ReviewedProgram | None:
    """Return one program with its review and its whole description; None where nobody asked for one."""
    return _REVIEWED_ROWS.first(_ANY_ORG_REVIEWED, {"program": program_id, "sandbox": sandbox})
