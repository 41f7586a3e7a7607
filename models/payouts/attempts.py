"""The attempts of payouts: what a rail was asked under which key, and what it said."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from domain.payouts.states import AttemptState
from models.db import db
from models.hot import Hot
from models.payouts.payouts import Payout
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class PayoutAttempt:
    """What a rail was asked: the number of the attempt, where it stands, how often it answered, how long ago it began.

    `books` are those that may hold the payment; None: the rail refused our credentials, so nothing was paid.

    The age is told by the database's clock alone: a worker's own may be wrong, and what is sent again depends on it.
    """

    number: int
    key: str
    destination: str
    amount_cents: int
    state: str
    asked: int
    books: str | None
    age: timedelta


_INTENT = Hot("""
insert into payout_attempt (organization_id, payout_id, number, key, method, destination, amount_cents, books,
  created_at)
values (%s, %s, %s, %s, %s, %s, %s, %s, now())
""")


def stage_intent(payout: Payout, *, key: str, books: str) -> None:
    """Stage that a rail is about to be asked; the key of an attempt is written once."""
    asked = (key, payout.method, payout.destination, payout.amount_cents, books)
    db.stage(_INTENT, (*_named(payout), *asked))


_BOOKS = "update payout_attempt set books = %s where organization_id = %s and payout_id = %s and number = %s"


def stage_books(payout: Payout, books: str) -> None:
    """Stage which books may hold the present attempt from now on."""
    db.stage(_BOOKS, (books, *_named(payout)))


_NO_BOOKS = """
update payout_attempt set books = null
where organization_id = %s and payout_id = %s and number = %s and asked = %s
"""


def stage_no_books(payout: Payout, *, asked: int) -> None:
    """Stage that no books hold the present attempt, unless it was asked for more than `asked` times meanwhile."""
    db.stage(_NO_BOOKS, (*_named(payout), asked))


_FIND = f"""
select {columns(PayoutAttempt, age="now() - created_at")} from payout_attempt
where organization_id = %s and payout_id = %s and number = %s
"""
_attempts = Rows(PayoutAttempt)


def of_payout(payout: Payout) -> PayoutAttempt | None:
    """Return the payout's present attempt, None when no rail was asked yet."""
    return _attempts.first(_FIND, _named(payout))


_ANSWER = Hot("""
update payout_attempt set state = %s, detail = %s, answered_at = %s, asked = asked + 1
where organization_id = %s and payout_id = %s and number = %s
""")


def stage_answer(payout: Payout, *, state: AttemptState, detail: str | None, at: datetime) -> None:
    """Stage what the rail said of the present attempt, and that it was asked once more."""
    db.stage(_ANSWER, (state, detail, at, *_named(payout)))


@dataclass(frozen=True, slots=True)
class AttemptOwner:
    """Whose attempt a key is, and by which method it was sent."""

    organization_id: UUID
    payout_id: UUID
    number: int
    method: str


_OWNER = f"select {columns(AttemptOwner)} from payout_attempt where key = %s"
_owners = Rows(AttemptOwner)


def any_org_owner(key: str) -> AttemptOwner | None:
    """Return whose attempt a key is, for a rail that knows the key alone."""
    return _owners.first(_OWNER, (key,))


def _named(payout: Payout) -> tuple[UUID, UUID, int]:
    return payout.organization_id, payout.id, payout.attempt
