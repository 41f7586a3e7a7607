"""Codes that credit an affiliate."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from models.hot import Hot
from models.table import Table


@dataclass(frozen=True, slots=True)
class AffiliateCoupon:
    """A code. `origin` is brand, self_minted or external; an external one has no connection and maybe no family.

    `redemption_count` is the conversions credited by it that are not fully refunded. `switched_off_at` is when a
    revoked one ended where it is minted; None while a job is at it.
    """

    id: UUID
    organization_id: UUID
    program_id: UUID
    affiliate_id: UUID
    campaign_coupon_id: UUID | None
    code: str
    origin: str
    status: str
    connection_id: UUID | None
    processor_promotion_code_id: str | None
    redemption_count: int
    last_redeemed_at: datetime | None
    created_at: datetime
    revoked_at: datetime | None
    switched_off_at: datetime | None


_TABLE = Table("affiliate_coupon", AffiliateCoupon)

_ONE = f"select {_TABLE.columns} from affiliate_coupon where organization_id = %s and id = %s"
_FIND = Hot(_ONE)
_LOCK = Hot(f"{_ONE} for no key update")


def find(*, organization_id: UUID, code_id: UUID) -> AffiliateCoupon | None:
    """Return one code of the organization, in any state."""
    return _TABLE.first(_FIND, (organization_id, code_id))


def lock(*, organization_id: UUID, code_id: UUID) -> AffiliateCoupon | None:
    """Return one code of the organization, locked until the transaction ends."""
    return _TABLE.first(_LOCK, (organization_id, code_id))
