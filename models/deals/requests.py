"""Requests to funding sources for deals: one charge per deal, one refund per settled milestone.

The database accepts one of each that was not finally refused, so nothing is charged or refunded twice.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from domain.deals.funding import FundingKind
from domain.payouts.states import AttemptState
from models.db import db
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class FundingRequest:
    """One attempt to charge or refund, with its organization's sandbox mode. Minor units of the deal's currency.

    `books` is the provider's account that may contain it; None: no account does. `age` is the time since it was first
    sent, by the database's clock; None: never sent.
    """

    id: UUID
    organization_id: UUID
    deal_id: UUID
    milestone_id: UUID | None
    kind: str
    number: int
    key: str
    amount_cents: int
    currency: str
    usd_cents: int
    source: str | None
    charge_reference: str | None
    state: str
    reference: str | None
    detail: str | None
    asked: int
    books: str | None
    created_at: datetime
    sent_at: datetime | None
    answered_at: datetime | None
    age: timedelta | None
    sandbox: str | None


_SELECT = f"""
select {columns(FundingRequest, "r", age="now() - r.sent_at", sandbox="o.sandbox_rail")}
from deal_request r join organization o on o.id = r.organization_id"""
_requests = Rows(FundingRequest)
_INSERT = """
insert into deal_request (id, organization_id, deal_id, milestone_id, kind, number, key, amount_cents, currency,
  usd_cents, source, charge_reference, created_at)
values (%(id)s, %(organization_id)s, %(deal_id)s, %(milestone_id)s, %(kind)s, %(number)s, %(key)s, %(amount_cents)s,
  %(currency)s, %(usd_cents)s, %(source)s, %(charge_reference)s, now())
"""


def stage_insert(**values: object) -> None:
    """Stage a request to a funding source; takes every column that describes it."""
    db.stage(_INSERT, values)


_FIND = f"{_SELECT} where r.organization_id = %s and r.id = %s"
_LOCK = f"{_FIND} for update of r"


def find(*, organization_id: UUID, request_id: UUID) -> FundingRequest | None:
    """Return one request of the organization, or None."""
    return _requests.first(_FIND, (organization_id, request_id))


def lock(*, organization_id: UUID, request_id: UUID) -> FundingRequest | None:
    """Return one request, locked until the transaction ends. Lock its deal first."""
    return _requests.first(_LOCK, (organization_id, request_id))


_LATEST = f"""
{_SELECT} where r.organization_id = %s and r.deal_id = %s and r.kind = %s
  and r.milestone_id is not distinct from %s
order by r.number desc limit 1
"""


def find_latest(
    *, organization_id: UUID, deal_id: UUID, kind: FundingKind, milestone_id: UUID | None = None
) -> FundingRequest | None:
    """Return the newest charge of a deal, or the newest refund of a milestone; or None."""
    return _requests.first(_LATEST, (organization_id, deal_id, kind, milestone_id))


_OF_DEAL = f"{_SELECT} where r.organization_id = %s and r.deal_id = %s order by r.created_at, r.id"


def list_of_deal(*, organization_id: UUID, deal_id: UUID) -> list[FundingRequest]:
    """Return all requests for a deal, oldest first."""
    return _requests.all(_OF_DEAL, (organization_id, deal_id))


_ORGANIZATION = "select organization_id from deal_request where id = %s"


def any_org_find_organization(request_id: UUID) -> UUID | None:
    """Return the organization of a request, for an operator who knows only its id."""
    row = db.row(_ORGANIZATION, (request_id,))
    return row[0] if row else None


_BOOKS = """
update deal_request set books = %s, sent_at = coalesce(sent_at, now()) where organization_id = %s and id = %s
"""


def stage_books(request: FundingRequest, books: str) -> None:
    """Stage which account may contain a request from now on: it is about to be sent."""
    db.stage(_BOOKS, (books, request.organization_id, request.id))


_NO_BOOKS = "update deal_request set books = null where organization_id = %s and id = %s and asked = %s"


def stage_no_books(request: FundingRequest, *, request_count: int) -> None:
    """Stage that no account contains a request, unless it was sent more than `request_count` times meanwhile."""
    db.stage(_NO_BOOKS, (request.organization_id, request.id, request_count))


_ANSWER = """
update deal_request set state = %s, reference = coalesce(%s, reference), detail = %s, answered_at = %s,
  asked = asked + 1
where organization_id = %s and id = %s
"""


def stage_answer(
    request: FundingRequest, *, state: AttemptState, reference: str | None, detail: str | None, at: datetime
) -> None:
    """Stage the source's response to a locked request, and count the attempt."""
    db.stage(_ANSWER, (state, reference, detail, at, request.organization_id, request.id))
