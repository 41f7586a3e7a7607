"""Families of codes, each with what it takes off and what its sales earn."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from domain.coupons.discounts import Discount, DiscountDuration, DiscountType
from models.hot import Hot
from models.table import Table


@dataclass(frozen=True, slots=True)
class CampaignCoupon:
    """A family of codes. `state` is minting, active or archived; `discount_value` as `Discount.value`.

    `max_codes_per_affiliate` None is as many as somebody likes; a commission of None is what sales earn without it.
    """

    id: UUID
    organization_id: UUID
    program_id: UUID
    name: str
    discount_type: str
    discount_value: int
    discount_currency: str | None
    duration: str
    duration_in_months: int | None
    max_redemptions_per_code: int | None
    expires_at: datetime | None
    self_mint_mode: str
    max_codes_per_affiliate: int | None
    overrides_click_attribution: bool
    product_refs: tuple[str, ...]
    commission_type: str | None
    commission_value: Decimal | None
    state: str
    connection_id: UUID
    processor_coupon_id: str | None
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None

    @property
    def discount(self) -> Discount:
        """What its codes take off."""
        return Discount(
            type=DiscountType(self.discount_type),
            value=self.discount_value,
            currency=self.discount_currency,
            duration=DiscountDuration(self.duration),
            months=self.duration_in_months,
            max_redemptions_per_code=self.max_redemptions_per_code,
            expires_at=self.expires_at,
            product_refs=self.product_refs,
        )


_TABLE = Table("campaign_coupon", CampaignCoupon)

_ONE = f"select {_TABLE.columns} from campaign_coupon where organization_id = %s and id = %s"
_FIND = Hot(_ONE)
_LOCK = Hot(f"{_ONE} for no key update")


def find(*, organization_id: UUID, coupon_id: UUID) -> CampaignCoupon | None:
    """Return one coupon of the organization, in any state."""
    return _TABLE.first(_FIND, (organization_id, coupon_id))


def lock(*, organization_id: UUID, coupon_id: UUID) -> CampaignCoupon | None:
    """Return one coupon of the organization, locked until the transaction ends; caps and grants are decided so."""
    return _TABLE.first(_LOCK, (organization_id, coupon_id))
