"""The amount and the event id of an override: the second-level row that a recruiter earns from a recruit's sale.

Source: tracking spec, "Override conversion (sub-affiliate)". `refund` reverses it with its parent; the caller looks up
the recruiter and whether the program pays overrides.
"""

from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from uuid import UUID

from domain import statuses
from domain.money import money

#: A parent event id longer than this many characters is replaced by its hash; with it the whole id stays under 255.
MAX_PARENT_ID_LENGTH = 200


@dataclass(frozen=True, slots=True)
class RecruiterShare:
    """The recruiter of an affiliate, and the percentage (above 0) of the commission on their sales that it earns."""

    recruiter_id: UUID
    percent: Decimal


def share_cents(*, commission_cents: int, percent: Decimal) -> int:
    """Return the recruiter's share of a parent commission.

    Units: minor units of the parent's currency; percent in [0, 100].
    Rounds half to even: 25 at 10 % is 2. Zero means no row is written.
    Source: tracking spec, "Override conversion".
    """
    return money.percent_of(amount_cents=commission_cents, percent=percent)


def external_event_id(*, parent_external_event_id: str, recruiter_id: UUID) -> str:
    """Return the event id of the override row: the parent's id, `:override:`, the recruiter's id in 32 hex characters.

    A parent id over 200 characters is first replaced by `sha256:` and the 64 hex characters of its UTF-8 bytes' hash.
    The same parent and recruiter always give the same id, so it serves as an idempotency key.
    Source: tracking spec, "Override conversion", externalEventId.
    """
    parent = parent_external_event_id
    if len(parent) > MAX_PARENT_ID_LENGTH:
        parent = "sha256:" + sha256(parent.encode("utf-8")).hexdigest()
    return f"{parent}:override:{recruiter_id.hex}"


def initial_status(parent_status: str) -> str:
    """Return the status that an override row starts with.

    Denied and Invalidated are taken from the parent, so that an override written late ends like one written in time;
    anything else starts as Pending.
    Raises ValueError for a status that doesn't exist.
    Source: tracking spec, "Override conversion", status, and section 3, "Override conversion".
    """
    status = statuses.ConversionStatus(parent_status)
    return status if status in statuses.EARNS_NOTHING else statuses.ConversionStatus.Pending
