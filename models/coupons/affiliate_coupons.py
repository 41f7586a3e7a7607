"""Codes that credit an affiliate."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from domain.coupons.discounts import Discount, DiscountDuration, DiscountType
from models.conditions import OF_PERSON
from models.db import db
from models.prepared_statements import Lookup, PreparedStatement
from models.table import Table, columns, unnest


@dataclass(frozen=True, slots=True)
class AffiliateCoupon:
    """A code. `origin` is brand, self_minted or external; an external one has no connection and may have no coupon.

    `redemption_count` is the number of conversions credited by it that are not fully refunded. `unanswered_at` is when
    the gateway's response to its minting was lost. `processor_promotion_code_id` is its id in payments; None again
    once another code may have it. `switched_off_at` is when a revoked one was deactivated at its gateway; None while
    a job works on that.

    `discount_type` to `max_redemptions` are set for a code minted without a coupon. `processor` is the gateway where it
    is minted.
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
    unanswered_at: datetime | None
    switched_off_at: datetime | None
    discount_type: str | None
    discount_value: int | None
    discount_currency: str | None
    expires_at: datetime | None
    max_redemptions: int | None
    processor: str | None

    @property
    def discount(self) -> Discount | None:
        """The code's own discount; None for a code of a coupon and for an external one."""
        if self.discount_type is None or self.discount_value is None:
            return None
        return Discount(
            type=DiscountType(self.discount_type),
            value=self.discount_value,
            currency=self.discount_currency,
            duration=DiscountDuration.Once,
            months=None,
            max_redemptions_per_code=self.max_redemptions,
            expires_at=self.expires_at,
            product_refs=(),
        )


def processor_sql(alias: str) -> str:
    """Return SQL for the gateway where the code of a row is minted."""
    return f"""(select n.gateway from gateway_connection n
  where n.organization_id = {alias}.organization_id and n.id = {alias}.connection_id)"""


_TABLE = Table("affiliate_coupon", AffiliateCoupon, expressions={"processor": processor_sql("affiliate_coupon")})
#: Insert a code and return it; None if a code in force has the same text, or any code the same id.
insert = _TABLE.insert_returning
#: Change columns of a locked code and return it as it is now.
change = _TABLE.update_locked


@dataclass(frozen=True, slots=True)
class ExternalCode:
    """A code that was made elsewhere, to register."""

    id: UUID
    program_id: UUID
    affiliate_id: UUID
    code: str


_EXTERNAL_COLUMNS = ("id", "program_id", "affiliate_id", "code")
_INSERT_EXTERNAL = f"""
insert into affiliate_coupon (organization_id, origin, status, created_at, {", ".join(_EXTERNAL_COLUMNS)})
select %s, %s, %s, %s, r.* from {unnest(ExternalCode, _EXTERNAL_COLUMNS)} as r
on conflict do nothing returning id
"""


def insert_external(
    *, organization_id: UUID, codes: Sequence[ExternalCode], origin: str, status: str, at: datetime
) -> set[UUID]:
    """Insert external codes in one statement; return the ids of those whose text no code in force has."""
    ordered = sorted(codes, key=lambda code: code.code)
    arrays = [[getattr(code, name) for code in ordered] for name in _EXTERNAL_COLUMNS]
    return {code_id for (code_id,) in db.run(_INSERT_EXTERNAL, (organization_id, origin, status, at, *arrays))}


_ONE = f"select {_TABLE.columns} from affiliate_coupon where organization_id = %s and id = %s"
_FIND = Lookup(_ONE)
_LOCK = Lookup(f"{_ONE} for no key update")


def find(*, organization_id: UUID, code_id: UUID) -> AffiliateCoupon | None:
    """Return one code of the organization, in any state."""
    return _TABLE.first(_FIND, (organization_id, code_id))


def lock(*, organization_id: UUID, code_id: UUID) -> AffiliateCoupon | None:
    """Return one code of the organization, locked until the transaction ends."""
    return _TABLE.first(_LOCK, (organization_id, code_id))


_LOCK_IN_FORCE = f"""
select {_TABLE.columns} from affiliate_coupon where organization_id = %s and code = %s and status <> 'Revoked'
for no key update
"""


def lock_in_force(*, organization_id: UUID, code: str) -> AffiliateCoupon | None:
    """Return the code in force with this text, locked until the transaction ends."""
    return _TABLE.first(_LOCK_IN_FORCE, (organization_id, code))


def stage_remove(code: AffiliateCoupon) -> None:
    """Stage the removal of a code that was never minted."""
    db.stage("delete from affiliate_coupon where organization_id = %s and id = %s", (code.organization_id, code.id))


_COUNT_IN_FORCE = """
select count(*) from affiliate_coupon
where organization_id = %s and campaign_coupon_id = %s and affiliate_id = %s and status <> 'Revoked'
"""


def count_in_force(*, organization_id: UUID, coupon_id: UUID, affiliate_id: UUID) -> int:
    """Return how many codes of a coupon an affiliate has in force, including those being minted."""
    row = db.row(_COUNT_IN_FORCE, (organization_id, coupon_id, affiliate_id))
    assert row is not None
    return int(row[0])


_HAS_ANY = "select from affiliate_coupon where organization_id = %s and campaign_coupon_id = %s limit 1"


def has_any(*, organization_id: UUID, coupon_id: UUID) -> bool:
    """Return whether a coupon ever had a code."""
    return bool(db.run(_HAS_ANY, (organization_id, coupon_id)))


# Locked in one order, so that concurrent revocations never deadlock.
_REVOKE = f"""
with ending as (
  select id from affiliate_coupon where organization_id = %(org)s and status <> 'Revoked' and {{which}}
  order by id for no key update
)
update affiliate_coupon k set status = 'Revoked', revoked_at = %(at)s,
  switched_off_at = case when k.origin = 'external' then %(at)s end
from ending where k.organization_id = %(org)s and k.id = ending.id
returning {columns(AffiliateCoupon, "k", processor=processor_sql("k"))}
"""
_REVOKE_FAMILY = _REVOKE.format(
    which="""campaign_coupon_id = %(coupon)s
    and (%(of)s::uuid[] is null or (affiliate_id = any(%(of)s) and origin = 'self_minted'))"""
)
_REVOKE_OWNED = _REVOKE.format(which="affiliate_id = any(%(of)s)")


def revoke_family(
    *, organization_id: UUID, coupon_id: UUID, minted_by: list[UUID] | None, at: datetime
) -> list[AffiliateCoupon]:
    """Revoke a coupon's codes in force and return them; with `minted_by` only those that these affiliates minted."""
    params = {"org": organization_id, "coupon": coupon_id, "of": minted_by, "at": at}
    return _TABLE.all(_REVOKE_FAMILY, params)


def revoke_owned(*, organization_id: UUID, affiliate_ids: list[UUID], at: datetime) -> list[AffiliateCoupon]:
    """Revoke the codes in force of affiliates and return them."""
    return _TABLE.all(_REVOKE_OWNED, {"org": organization_id, "of": affiliate_ids, "at": at})


_IS_ENDING = """
select from affiliate_coupon
where organization_id = %s and campaign_coupon_id = %s and status = 'Revoked' and switched_off_at is null limit 1
"""


def is_ending(*, organization_id: UUID, coupon_id: UUID) -> bool:
    """Return whether a revoked code of a coupon is still active at its gateway."""
    return bool(db.run(_IS_ENDING, (organization_id, coupon_id)))


_PAGE = f"""
select {_TABLE.columns} from affiliate_coupon
where organization_id = %(org)s and affiliate_id = %(affiliate)s
  and (%(before)s::timestamptz is null or (created_at, id) < (%(before)s, %(before_id)s))
order by created_at desc, id desc
limit %(limit)s
"""


def page(
    *, organization_id: UUID, affiliate_id: UUID, after: tuple[datetime, UUID] | None, limit: int
) -> list[AffiliateCoupon]:
    """Return up to `limit` codes of an affiliate, the newest first, after the keyset position `after`."""
    before, before_id = after or (None, None)
    params = {
        "org": organization_id,
        "affiliate": affiliate_id,
        "before": before,
        "before_id": before_id,
        "limit": limit,
    }
    return _TABLE.all(_PAGE, params)


_OWN = f"""
from affiliate_coupon k join affiliate m on m.organization_id = k.organization_id and m.id = k.affiliate_id
where {OF_PERSON}
"""
_K_COLUMNS = columns(AffiliateCoupon, "k", processor=processor_sql("k"))
_ANY_ORG_OWN = f"""
select {_K_COLUMNS} {_OWN}
  and (%(before)s::timestamptz is null or (k.created_at, k.id) < (%(before)s, %(before_id)s))
order by k.created_at desc, k.id desc
limit %(limit)s
"""
_ANY_ORG_OWN_ONE = f"select {_K_COLUMNS} {_OWN} and k.id = %(id)s"


def any_org_list_own(
    *, account_id: UUID | None, email: str | None, after: tuple[datetime, UUID] | None, limit: int
) -> list[AffiliateCoupon]:
    """Return up to `limit` codes of a person in all campaigns, the newest first."""
    before, before_id = after or (None, None)
    params = {"account": account_id, "email": email, "before": before, "before_id": before_id, "limit": limit}
    return _TABLE.all(_ANY_ORG_OWN, params)


def any_org_find_own(*, account_id: UUID | None, email: str | None, code_id: UUID) -> AffiliateCoupon | None:
    """Return one code of a person, in any state."""
    return _TABLE.first(_ANY_ORG_OWN_ONE, {"account": account_id, "email": email, "id": code_id})


_STAGE_REDEEMED = PreparedStatement("""
update affiliate_coupon
set redemption_count = redemption_count + 1, last_redeemed_at = greatest(last_redeemed_at, %s)
where organization_id = %s and id = %s
""")
_STAGE_COUNT = PreparedStatement("""
update affiliate_coupon set redemption_count = greatest(redemption_count + %s, 0)
where organization_id = %s and id = %s
""")


def stage_redeemed(*, organization_id: UUID, code_id: UUID, at: datetime) -> None:
    """Stage that a code credited a conversion at a time."""
    db.stage(_STAGE_REDEEMED, (at, organization_id, code_id))


def stage_count(*, organization_id: UUID, code_id: UUID, by: int) -> None:
    """Stage that a code's conversion was refunded in full (-1), or is no longer (1). The count never falls below 0."""
    db.stage(_STAGE_COUNT, (by, organization_id, code_id))
