"""Attempts of payouts: the request to a rail under a key, and the rail's response."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import orjson

from domain.payouts.states import AttemptState
from models.db import db
from models.payouts.payouts import Payout
from models.prepared_statements import Lookup, PreparedStatement
from models.table import Rows, columns


@dataclass(frozen=True, slots=True)
class PayoutAttempt:
    """One attempt: its number, its state, how often the rail answered (`asked`), and its age.

    `books` is the rail account that may contain the payment; None: the rail refused our credentials, so nothing was
    paid. `labels` were sent with it, None by a release that had none.

    The age is by the database's clock: a worker's clock may be wrong, and resending depends on the age.
    """

    number: int
    key: str
    destination: str
    amount_cents: int
    state: str
    asked: int
    books: str | None
    labels: Mapping[str, str] | None
    age: timedelta


_INTENT = PreparedStatement("""
insert into payout_attempt (organization_id, payout_id, number, key, method, destination, amount_cents, books,
  labels, created_at)
select p.organization_id, p.id, p.attempt, intent.key, p.method, p.destination, p.amount_cents, intent.books,
  intent.labels::jsonb, now()
from unnest(%(payouts)s::uuid[], %(keys)s::text[], %(books)s::text[], %(labels)s::text[])
  as intent (id, key, books, labels)
join payout p on p.id = intent.id
where p.organization_id = %(org)s and p.id = any(%(payouts)s::uuid[])
""")
# An attempt that is still an intent has no response, and only the process that wrote it may have sent it.
_WITHDRAWN = """
with withdrawn as (
  delete from payout_attempt a using payout p
  where a.organization_id = %(org)s and a.payout_id = any(%(payouts)s) and a.state = 'intent' and a.asked = 0
    and p.organization_id = a.organization_id and p.id = a.payout_id and p.attempt = a.number
  returning a.payout_id
)
update payout set status = 'Pending', submitted_at = null
from withdrawn where organization_id = %(org)s and id = withdrawn.payout_id
"""


def stage_intents(intents: Sequence[tuple[Payout, str, str, Mapping[str, str]]]) -> None:
    """Stage that locked payouts of one organization are about to be sent to rails, each with key, books and labels.

    The key of an attempt is written once. One statement for any number.
    """
    payouts, keys, books, labels = zip(*intents, strict=True)
    ids = {"org": payouts[0].organization_id, "payouts": [payout.id for payout in payouts]}
    texts = [orjson.dumps(payout_labels).decode() for payout_labels in labels]
    db.stage(_INTENT, ids | {"keys": list(keys), "books": list(books), "labels": texts})


def stage_withdrawal(payouts: Sequence[Payout]) -> None:
    """Stage that the process that wrote the attempts of one organization's locked payouts sent none of them.

    The attempts are unsent again, and the payouts Pending. An attempt that another process took over stays unchanged.
    """
    db.stage(_WITHDRAWN, {"org": payouts[0].organization_id, "payouts": [payout.id for payout in payouts]})


_IN_DOUBT = """
update payout_attempt set state = 'unknown'
where organization_id = %s and payout_id = %s and number = %s and state = 'intent'
"""


def stage_in_doubt(payout: Payout) -> None:
    """Stage that another process than the one that wrote a locked payout's current attempt is about to send it.

    Whether the first process has sent it is unknown, and it may no longer withdraw the attempt.
    """
    db.stage(_IN_DOUBT, _key_of(payout))


_UNTOUCHED = Lookup("""
select from payout p
join payout_attempt a on a.organization_id = p.organization_id and a.payout_id = p.id and a.number = p.attempt
where p.organization_id = %s and p.id = %s and p.attempt = %s and p.status = 'Processing'
  and a.asked = %s and (a.state = 'intent') = %s
""")


def is_unchanged(payout: Payout, *, request_count: int, is_intent: bool) -> bool:
    """Return whether a payout waits for this attempt, and the attempt did not change since it was read."""
    return bool(db.run(_UNTOUCHED, (*_key_of(payout), request_count, is_intent)))


_POSSIBLE = """
insert into payout_attempt (organization_id, payout_id, number, key, method, destination, amount_cents, created_at)
values (%s, %s, %s, %s, %s, %s, %s, %s)
"""


def stage_possible(payout: Payout, *, key: str, at: datetime) -> None:
    """Stage that a rail may have been asked during the time that a restore of the database lost."""
    db.stage(_POSSIBLE, (*_key_of(payout), key, payout.method, payout.destination, payout.amount_cents, at))


_BOOKS = "update payout_attempt set books = %s where organization_id = %s and payout_id = %s and number = %s"


def stage_books(payout: Payout, books: str) -> None:
    """Stage which account may contain the current attempt from now on."""
    db.stage(_BOOKS, (books, *_key_of(payout)))


_NO_BOOKS = """
update payout_attempt set books = null
where organization_id = %s and payout_id = %s and number = %s and asked = %s
"""


def stage_no_books(payout: Payout, *, request_count: int) -> None:
    """Stage that no account contains the current attempt, unless the rail answered more than `request_count` times."""
    db.stage(_NO_BOOKS, (*_key_of(payout), request_count))


_FIND = f"""
select {columns(PayoutAttempt, age="now() - created_at")} from payout_attempt
where organization_id = %s and payout_id = %s and number = %s
"""
_attempts = Rows(PayoutAttempt)


def find_current(payout: Payout) -> PayoutAttempt | None:
    """Return the payout's current attempt, None if no rail was called yet."""
    return _attempts.first(_FIND, _key_of(payout))


_ANSWER = PreparedStatement("""
update payout_attempt set state = %s, detail = %s, answered_at = %s, asked = asked + 1
from payout p
where payout_attempt.organization_id = %s and payout_attempt.payout_id = any(%s)
  and p.organization_id = payout_attempt.organization_id and p.id = payout_attempt.payout_id
  and p.attempt = payout_attempt.number
""")


def stage_answer(payouts: Sequence[Payout], *, state: AttemptState, detail: str | None, at: datetime) -> None:
    """Stage the rails' responses to the current attempts of one organization's locked payouts, and count them."""
    ids = (payouts[0].organization_id, [payout.id for payout in payouts])
    db.stage(_ANSWER, (state, detail, at, *ids))


@dataclass(frozen=True, slots=True)
class AttemptOwner:
    """The attempt with a key: its organization, payout, number and method."""

    organization_id: UUID
    payout_id: UUID
    number: int
    method: str


_OWNER = f"select {columns(AttemptOwner)} from payout_attempt where key = %s"
_owners = Rows(AttemptOwner)


def any_org_find_owner(key: str) -> AttemptOwner | None:
    """Return the attempt with a key, for a rail event that contains only the key."""
    return _owners.first(_OWNER, (key,))


def _key_of(payout: Payout) -> tuple[UUID, UUID, int]:
    return payout.organization_id, payout.id, payout.attempt
