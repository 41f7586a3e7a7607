"""What funding sources were asked for deals: one charge per deal, one refund per settled milestone.

The database takes one of each that was not refused for good, so nobody is charged, and nothing given back, twice.
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
    """One attempt to charge or to give back, with how its organization's sandbox behaves. Minor units of the deal.

    `books` are those that may hold it; None: none do. `age` is since it was first asked for, by the database's clock
    alone; None: it never was.
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
    """Stage that a source is to be asked; takes every column that says what."""
    db.stage(_INSERT, values)


_FIND = f"{_SELECT} where r.organization_id = %s and r.id = %s"
_LOCK = f"{_FIND} for update of r"


def find(*, organization_id: UUID, request_id: UUID) -> FundingRequest | None:
    """Return one request of the organization, or None."""
    return _requests.first(_FIND, (organization_id, request_id))


def lock(*, organization_id: UUID, request_id: UUID) -> FundingRequest | None:
    """Return one request, locked until the transaction ends. Its deal is locked before it."""
    return _requests.first(_LOCK, (organization_id, request_id))


_LATEST = f"""
{_SELECT} where r.organization_id = %s and r.deal_id = %s and r.kind = %s
  and r.milestone_id is not distinct from %s
order by r.number desc limit 1
"""


def latest(
    *, organization_id: UUID, deal_id: UUID, kind: FundingKind, milestone_id: UUID | None = None
) -> FundingRequest | None:
    """Return the newest charge of a deal, or the newest refund of a milestone; None when there was none."""
    return _requests.first(_LATEST, (organization_id, deal_id, kind, milestone_id))


_OF_DEAL = f"{_SELECT} where r.organization_id = %s and r.deal_id = %s order by r.created_at, r.id"


def of_deal(*, organization_id: UUID, deal_id: UUID) -> list[FundingRequest]:
    """Return everything that was asked for a deal, the first first."""
    return _requests.all(_OF_DEAL, (organization_id, deal_id))


_ORGANIZATION = "select organization_id from deal_request where id = %s"


def any_org_organization_of(request_id: UUID) -> UUID | None:
    """Return whose request this is, for an operator who knows its id alone."""
    row = db.row(_ORGANIZATION, (request_id,))
    return row[0] if row else None


_BOOKS = """
update deal_request set books = %s, sent_at = coalesce(sent_at, now()) where organization_id = %s and id = %s
"""


def stage_books(request: FundingRequest, books: str) -> None:
    """Stage which books may hold a request from now on: it is about to be asked for."""
    db.stage(_BOOKS, (books, request.organization_id, request.id))


_NO_BOOKS = "update deal_request set books = null where organization_id = %s and id = %s and asked = %s"


def stage_no_books(request: FundingRequest, *, asked: int) -> None:
    """Stage that no books hold a request, unless it was asked for more than `asked` times meanwhile."""
    db.stage(_NO_BOOKS, (request.organization_id, request.id, asked))


_ANSWER = """
update deal_request set state = %s, reference = coalesce(%s, reference), detail = %s, answered_at = %s,
  asked = asked + 1
where organization_id = %s and id = %s
"""


def stage_answer(
    request: FundingRequest, *, state: AttemptState, reference: str | None, detail: str | None, at: datetime
) -> None:
    """Stage what the source said of a locked request, and that it was asked once more."""
    db.stage(_ANSWER, (state, reference, detail, at, request.organization_id, request.id))
