"""Holds a sale that its buyer disputes, and its override, back from payouts until the dispute is decided.

The amount is taken out of a payout that was not sent yet, and is due again when the dispute is won.
"""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from models import advisory_locks
from models.conversions import conversions
from models.conversions.conversions import Conversion
from pipelines.payouts import take_back


def hold(*, organization_id: UUID, conversion_id: UUID, now: datetime) -> None:
    """Hold a conversion and its override back from payouts. Idempotent.

    Budget: 3 round trips (conversion; override; payouts), one more for each that is in a payout.
    """
    for row in _lock_rows(organization_id, conversion_id):
        if row.disputed_at is None:
            conversions.stage_dispute(row, at=now)
            take_back.take_back_if_in_payout(row, row.net_commission_cents, now=now)


def release(*, organization_id: UUID, conversion_id: UUID, now: datetime) -> None:
    """Allow payouts of a conversion and its override again. Idempotent. Budget: as `hold`."""
    for row in _lock_rows(organization_id, conversion_id):
        if row.disputed_at is not None:
            conversions.stage_dispute(row, at=None)
            take_back.give_back_if_in_payout(replace(row, disputed_at=None), now=now)


def _lock_rows(organization_id: UUID, conversion_id: UUID) -> list[Conversion]:
    advisory_locks.stage_shared_payout_run_lock(organization_id)
    sale = conversions.lock(organization_id=organization_id, conversion_id=conversion_id)
    override = conversions.lock_override(organization_id=organization_id, parent_id=conversion_id)
    return [row for row in (sale, override) if row is not None]
