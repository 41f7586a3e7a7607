"""Coupons: families of codes with one discount and one commission."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from domain.coupons.discounts import Discount, DiscountDuration, DiscountType
from models.db import db
from models.prepared_statements import Lookup
from models.table import Rows, Table, columns


@dataclass(frozen=True, slots=True)
class CampaignCoupon:
    """A coupon. `state` is minting, active or archived; `discount_value` as `Discount.value`.

    `max_codes_per_affiliate` None: no limit; a commission of None: sales earn what they earn without the coupon.
    `archived_codes` is how many codes ended with it; `archive_told_at` when all of them had ended at the gateway too.
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
    created_by: UUID | None
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None
    archived_codes: int
    archive_told_at: datetime | None

    @property
    def is_active(self) -> bool:
        """Whether codes can be minted from it."""
        return self.state == "active"

    @property
    def discount(self) -> Discount:
        """The discount of its codes."""
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


@dataclass(frozen=True, slots=True)
class CountedCoupon:
    """A coupon with the affiliates who may mint from it, and how many of its codes are still to end at the gateway.

    `processor` is the gateway of its connection, `minted_code_count` how many of its codes are in force.
    """

    coupon: CampaignCoupon
    processor: str
    granted_affiliate_ids: tuple[UUID, ...]
    minted_code_count: int
    pending: int

    @property
    def id(self) -> UUID:
        """The coupon's id."""
        return self.coupon.id

    @property
    def created_at(self) -> datetime:
        """The time by which lists are ordered."""
        return self.coupon.created_at


_TABLE = Table("campaign_coupon", CampaignCoupon)
#: Insert a coupon; False when its id exists.
insert = _TABLE.insert
#: Change columns of a locked coupon and return it as it is now.
change = _TABLE.update_locked
_COUNTED = Rows(CountedCoupon)
_SELECT_COUNTED = f"""
select {
    columns(
        CountedCoupon,
        coupon=columns(CampaignCoupon, "c"),
        processor='''(
  select n.gateway from gateway_connection n where n.organization_id = c.organization_id and n.id = c.connection_id
)''',
        minted_code_count='''(
  select count(*) from affiliate_coupon a
  where a.organization_id = c.organization_id and a.campaign_coupon_id = c.id and a.status <> 'Revoked'
)''',
        granted_affiliate_ids='''array(
  select g.affiliate_id from coupon_grant g
  where g.organization_id = c.organization_id and g.campaign_coupon_id = c.id order by g.affiliate_id
)''',
        pending='''(
  select count(*) from affiliate_coupon a
  where c.state = 'archived' and a.organization_id = c.organization_id and a.campaign_coupon_id = c.id
    and a.status = 'Revoked' and a.switched_off_at is null
)''',
    )
}
from campaign_coupon c
where c.organization_id = %(org)s
"""
_ITS_PROGRAM = "and c.program_id = %(program)s"


_ONE = f"select {_TABLE.columns} from campaign_coupon where organization_id = %s and id = %s"
_FIND = Lookup(_ONE)
_LOCK = Lookup(f"{_ONE} for no key update")


def find(*, organization_id: UUID, coupon_id: UUID) -> CampaignCoupon | None:
    """Return one coupon of the organization, in any state."""
    return _TABLE.first(_FIND, (organization_id, coupon_id))


def lock(*, organization_id: UUID, coupon_id: UUID) -> CampaignCoupon | None:
    """Return one coupon of the organization, locked until the transaction ends; limits and grants require the lock."""
    return _TABLE.first(_LOCK, (organization_id, coupon_id))


def stage_remove(coupon: CampaignCoupon) -> None:
    """Stage the removal of a coupon that never had a code, with its grants."""
    db.stage("delete from campaign_coupon where organization_id = %s and id = %s", (coupon.organization_id, coupon.id))


_ONE_COUNTED = f"{_SELECT_COUNTED} {_ITS_PROGRAM} and c.id = %(id)s"


def find_counted(*, organization_id: UUID, program_id: UUID, coupon_id: UUID) -> CountedCoupon | None:
    """Return one coupon of a program with its counts."""
    return _COUNTED.first(_ONE_COUNTED, {"org": organization_id, "program": program_id, "id": coupon_id})


_PAGE = f"""{_SELECT_COUNTED} {{of_program}}
  and (%(before)s::timestamptz is null or (c.created_at, c.id) < (%(before)s, %(before_id)s))
order by c.created_at desc, c.id desc
limit %(limit)s
"""


def page(
    *, organization_id: UUID, program_id: UUID | None, after: tuple[datetime, UUID] | None, limit: int
) -> list[CountedCoupon]:
    """Return up to `limit` coupons of a program, or of all, the newest first, after the keyset position `after`."""
    before, before_id = after or (None, None)
    params = {"org": organization_id, "program": program_id, "before": before, "before_id": before_id, "limit": limit}
    return _COUNTED.all(_PAGE.format(of_program=_ITS_PROGRAM if program_id else ""), params)


_ANY_ORG_PROGRAM = "select organization_id, program_id from campaign_coupon where id = %s and state <> 'minting'"


def any_org_find_program(coupon_id: UUID) -> tuple[UUID, UUID] | None:
    """Return the organization and program of a coupon, for a caller whose organization is unknown."""
    return db.row(_ANY_ORG_PROGRAM, (coupon_id,))


_GRANTED = "select affiliate_id from coupon_grant where organization_id = %s and campaign_coupon_id = %s"


def list_granted(coupon: CampaignCoupon) -> set[UUID]:
    """Return the affiliates who may mint from a coupon."""
    return {affiliate_id for (affiliate_id,) in db.run(_GRANTED, (coupon.organization_id, coupon.id))}


_STAGE_GRANTS = """
insert into coupon_grant (organization_id, campaign_coupon_id, affiliate_id, granted_at)
select %s, %s, affiliate_id, %s from unnest(%s::uuid[]) affiliate_id
on conflict do nothing
"""
_STAGE_REVOKE_GRANTS = """
delete from coupon_grant where organization_id = %s and campaign_coupon_id = %s and affiliate_id = any(%s)
"""


def stage_grants(coupon_id: UUID, organization_id: UUID, affiliate_ids: list[UUID], *, at: datetime) -> None:
    """Stage that these affiliates may mint from a coupon."""
    db.stage(_STAGE_GRANTS, (organization_id, coupon_id, at, affiliate_ids))


def stage_revoke_grants(coupon: CampaignCoupon, affiliate_ids: list[UUID]) -> None:
    """Stage that these affiliates may no longer mint from a coupon."""
    db.stage(_STAGE_REVOKE_GRANTS, (coupon.organization_id, coupon.id, affiliate_ids))


_OF_PROGRAM = """
select id from affiliate
where organization_id = %s and program_id = %s and deleted_at is null and id = any(%s)
"""


def filter_by_program(*, organization_id: UUID, program_id: UUID, affiliate_ids: list[UUID]) -> set[UUID]:
    """Return which of these affiliates are in a program."""
    return {affiliate_id for (affiliate_id,) in db.run(_OF_PROGRAM, (organization_id, program_id, affiliate_ids))}


@dataclass(frozen=True, slots=True)
class PickableAffiliate:
    """An Approved affiliate for the allow-list, with how many codes they minted from a coupon."""

    id: UUID
    email: str
    full_name: str
    created_at: datetime
    is_granted: bool
    minted_code_count: int


_PICKABLE = Rows(PickableAffiliate)
_PICK = f"""
select {
    columns(
        PickableAffiliate,
        "a",
        is_granted='''exists (
  select from coupon_grant g
  where g.organization_id = a.organization_id and g.campaign_coupon_id = %(coupon)s and g.affiliate_id = a.id
)''',
        minted_code_count='''(
  select count(*) from affiliate_coupon k
  where k.organization_id = a.organization_id and k.campaign_coupon_id = %(coupon)s and k.affiliate_id = a.id
    and k.status <> 'Revoked'
)''',
    )
}
from affiliate a
where a.organization_id = %(org)s and a.program_id = %(program)s and a.deleted_at is null and a.status = 'Approved'
  and (%(before)s::timestamptz is null or (a.created_at, a.id) < (%(before)s, %(before_id)s))
order by a.created_at desc, a.id desc
limit %(limit)s
"""


def list_pickable(
    *,
    organization_id: UUID,
    program_id: UUID,
    coupon_id: UUID | None,
    after: tuple[datetime, UUID] | None,
    limit: int,
) -> list[PickableAffiliate]:
    """Return up to `limit` Approved affiliates of a program, newest first; without a coupon none is granted."""
    before, before_id = after or (None, None)
    params = {
        "org": organization_id,
        "program": program_id,
        "coupon": coupon_id,
        "before": before,
        "before_id": before_id,
        "limit": limit,
    }
    return _PICKABLE.all(_PICK, params)
