"""Codes are minted: by the brand for an affiliate, or by affiliates themselves as far as the brand lets them.

Caps and allow-lists are decided under the lock of the family. Source: tracking spec, "Affiliate coupon", "Coupons".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from domain import jobs
from domain.coupons import codes
from domain.coupons.discounts import CodeOrigin, CodeStatus, Discount
from domain.refused import Refused, not_found
from domain.webhooks import coupon_events
from models import ids
from models.affiliates.affiliates import Affiliate
from models.coupons import affiliate_coupons, campaign_coupons
from models.coupons.affiliate_coupons import AffiliateCoupon
from models.coupons.campaign_coupons import CampaignCoupon
from models.gateways import connections
from pipelines import work
from pipelines.coupons import calls, ending, families, places
from pipelines.coupons.calls import Made
from pipelines.coupons.places import MintingPlace
from pipelines.programs import lifecycle
from pipelines.webhooks import emit

# Of thirty characters eight make so many texts that a second draw is rare.
_DRAWS = 5


@dataclass(frozen=True, slots=True)
class BegunCode:
    """A code that is written and about to be minted, of which family (None: it has its own discount) and where.

    `is_asked_again`: somebody may have asked for it before.
    """

    code: AffiliateCoupon
    family: CampaignCoupon | None
    place: MintingPlace
    is_asked_again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedCode:
    """A code that is requested; without `text` one is drawn. `id` is what it is written under.

    It is of a coupon, or takes off a `discount` of its own.
    """

    id: UUID
    coupon_id: UUID | None
    text: str | None
    origin: CodeOrigin
    discount: Discount | None = None


def begin(affiliate: Affiliate, wanted: WantedCode, *, now: datetime) -> BegunCode:
    """Write a code of an affiliate that is about to be minted.

    One that was begun under this id less than an hour ago is gone on with, and so is one whose gateway's answer was
    lost when the same was asked for.
    Raises Refused: 404 not_found; 403 self_mint_disabled, not_granted; 409 invalid_status_transition,
    code_limit_reached; 400 invalid_request, code_not_supported; 422 code_already_taken, processor_not_connected,
    storefront_reconnect_required.
    """
    family = _lock_family(affiliate, wanted)
    if wanted.text is not None and not codes.is_written_well(wanted.text):
        raise badly_written()
    known = affiliate_coupons.find(organization_id=affiliate.organization_id, code_id=wanted.id)
    begun = _begun_before(affiliate, wanted, known, now=now)
    if begun is not None:
        place = places.acting(affiliate.organization_id, _connection_id(begun), now=now)
        if place is None:
            raise places.not_connected()
        return BegunCode(begun, family, place, is_asked_again=True)
    place = _place_for(affiliate, family, wanted, now=now)
    if wanted.text is not None and (lacking := place.rail.shape.refused(wanted.text)):
        message = f"{place.connection.gateway} does not take this code: {lacking}."
        raise Refused(400, "code_not_supported", message, field="code")
    if family is not None:
        _check_cap(family, affiliate.id)
    if known is not None:  # its hour is over, or it was revoked: this is another request
        wanted = replace(wanted, id=ids.new_id())
    code = _insert(affiliate, wanted, place, now=now)
    work.enqueue(
        jobs.CODE_MINT,
        organization_id=affiliate.organization_id,
        run_at=now + places.LEFT_ALONE,
        code_id=code.id,
    )
    return BegunCode(code, family, place)


def register(affiliate: Affiliate, *, text: str | None, coupon_id: UUID | None, now: datetime) -> AffiliateCoupon:
    """Write a code that the brand made elsewhere; it is in force at once.

    Raises Refused: 400 invalid_request; 404 not_found; 409 invalid_status_transition; 422 code_already_taken.
    """
    if text is None:
        raise Refused(400, "invalid_request", "An external code is sent with its text.", field="code")
    if not codes.is_written_well(text):
        raise badly_written()
    if coupon_id is not None:
        families.lock(organization_id=affiliate.organization_id, program_id=affiliate.program_id, coupon_id=coupon_id)
    made = affiliate_coupons.insert(
        {
            "id": ids.new_id(),
            "organization_id": affiliate.organization_id,
            "program_id": affiliate.program_id,
            "affiliate_id": affiliate.id,
            "campaign_coupon_id": coupon_id,
            "code": text,
            "origin": CodeOrigin.External.value,
            "status": CodeStatus.Active.value,
            "created_at": now,
        }
    )
    if made is None:
        raise _taken(text)
    _tell(made, now=now)
    return made


def resume(*, organization_id: UUID, code_id: UUID, now: datetime) -> BegunCode | None:
    """Return a code whose minting was not finished; None when nothing is left to do."""
    code = affiliate_coupons.lock(organization_id=organization_id, code_id=code_id)
    if code is None or code.status == CodeStatus.Active or code.processor_promotion_code_id is not None:
        return None
    place = places.acting(organization_id, _connection_id(code), now=now)
    if place is None:  # its connection ended meanwhile: what was asked for cannot be had any more
        if code.status == CodeStatus.Minting:
            affiliate_coupons.stage_remove(code)
        return None
    return BegunCode(code, _family_of(code), place, is_asked_again=True)


def mint(begun: BegunCode) -> Made:
    """Mint a code, once; of one that was revoked meanwhile, find out whether it was minted. Calls the gateway."""
    rail, account = begun.place.rail, begun.place.account
    order = places.code_order(begun.code, begun.family)
    if begun.code.processor_promotion_code_id is not None:
        return Made(begun.code.processor_promotion_code_id)
    if begun.code.status == CodeStatus.Revoked:
        return calls.look(begun.place, lambda: rail.find_code(account, order))
    return calls.make(
        begun.place,
        lambda: rail.mint(account, order),
        lambda: rail.find_code(account, order),
        is_asked_again=begun.is_asked_again,
    )


def settle(
    begun: BegunCode, made: Made, *, now: datetime, note: Callable[[AffiliateCoupon], None]
) -> AffiliateCoupon | None:
    """Write what came of it: in force with its event, or removed, or still minting; None when it is gone.

    One that was revoked meanwhile is ended at the gateway as well. `note` is told of a code that is in force by this
    call, for the audit log.
    """
    before = begun.code
    code = affiliate_coupons.lock(organization_id=before.organization_id, code_id=before.id)
    if code is None or code.status == CodeStatus.Active:
        return code
    if made.is_refused:
        connections.stage_doubt(
            organization_id=code.organization_id, connection_id=begun.place.connection.id, why=made.words, at=now
        )
    if code.status == CodeStatus.Revoked:
        if made.made_id is not None and code.processor_promotion_code_id is None:
            ending.minted_after_all(code, made.made_id)
        return code
    if made.refusal is not None:
        affiliate_coupons.stage_remove(code)
        return None
    if made.made_id is None:
        return affiliate_coupons.change(code, {"unanswered_at": now})
    minted = {"status": CodeStatus.Active.value, "processor_promotion_code_id": made.made_id, "unanswered_at": None}
    in_force = affiliate_coupons.change(code, minted)
    _tell(in_force, now=now)
    note(in_force)
    return in_force


def finish(begun: BegunCode, made: Made, *, now: datetime) -> datetime | None:
    """Write what came of it, and return when to ask again; None when it is settled."""
    after = settle(begun, made, now=now, note=lambda code: _stage_audit(code, now))
    if after is None or after.status == CodeStatus.Active or made.made_id is not None or made.is_known:
        return None
    return places.again_at(after.created_at, now)


def badly_written() -> Refused:
    """Return the refusal of a code that is not written as codes are."""
    message = "A code has 3 to 32 of A-Z, 0-9, underscore and hyphen."
    return Refused(400, "invalid_request", message, field="code")


def _lock_family(affiliate: Affiliate, wanted: WantedCode) -> CampaignCoupon | None:
    """Return the coupon of a requested code, locked; for a code without one lock its program and return None.

    Either lock lets a repeated request wait for the first one. Raises Refused.
    """
    if wanted.coupon_id is None:
        lifecycle.lock_unarchived(organization_id=affiliate.organization_id, program_id=affiliate.program_id)
        return None
    family = campaign_coupons.lock(organization_id=affiliate.organization_id, coupon_id=wanted.coupon_id)
    if family is None or family.program_id != affiliate.program_id:
        raise not_found("coupon", wanted.coupon_id)
    families.require_active(family)
    if wanted.origin == CodeOrigin.SelfMinted:
        families.may_mint_themselves(family, affiliate.id)
    return family


def _place_for(
    affiliate: Affiliate, family: CampaignCoupon | None, wanted: WantedCode, *, now: datetime
) -> MintingPlace:
    if family is not None:
        return places.for_code(family, wanted.origin, now=now)
    expires_at = wanted.discount.expires_at if wanted.discount else None
    if expires_at is not None and expires_at <= now:
        raise Refused(400, "invalid_request", "expiresAt must be in the future.", field="expiresAt")
    return places.for_code_without_family(affiliate.organization_id, now=now)


def _begun_before(
    affiliate: Affiliate, wanted: WantedCode, known: AffiliateCoupon | None, *, now: datetime
) -> AffiliateCoupon | None:
    begun = known
    is_repeated = begun is not None and begun.status != CodeStatus.Revoked
    if begun is None and wanted.text is not None:
        begun = affiliate_coupons.lock_in_force(organization_id=affiliate.organization_id, code=wanted.text)
        is_repeated = begun is not None and begun.unanswered_at is not None
    if begun is None or not is_repeated or now - begun.created_at >= places.REPEATED_WITHIN:
        return None
    requested = (affiliate.id, wanted.coupon_id, wanted.origin, wanted.discount)
    is_same = (begun.affiliate_id, begun.campaign_coupon_id, begun.origin, begun.discount) == requested
    return begun if is_same else None


def _check_cap(family: CampaignCoupon, affiliate_id: UUID) -> None:
    most = family.max_codes_per_affiliate
    held = affiliate_coupons.held(
        organization_id=family.organization_id, coupon_id=family.id, affiliate_id=affiliate_id
    )
    if most is not None and held >= most:
        message = f"An affiliate holds {most} of this coupon's codes at most; revoke one first."
        raise Refused(409, "code_limit_reached", message)


def _insert(affiliate: Affiliate, wanted: WantedCode, place: MintingPlace, *, now: datetime) -> AffiliateCoupon:
    for _ in range(_DRAWS):
        text = wanted.text or codes.draw()
        made = affiliate_coupons.insert(
            {
                "id": wanted.id,
                "organization_id": affiliate.organization_id,
                "program_id": affiliate.program_id,
                "affiliate_id": affiliate.id,
                "campaign_coupon_id": wanted.coupon_id,
                "code": text,
                "origin": wanted.origin.value,
                "status": CodeStatus.Minting.value,
                "connection_id": place.connection.id,
                "created_at": now,
                **_columns(wanted.discount),
            }
        )
        if made is not None:
            return made
        if wanted.text is not None:
            break
    raise _taken(text)


def _columns(discount: Discount | None) -> dict[str, object]:
    if discount is None:
        return {}
    return {
        "discount_type": discount.type.value,
        "discount_value": discount.value,
        "discount_currency": discount.currency,
        "expires_at": discount.expires_at,
        "max_redemptions": discount.max_redemptions_per_code,
    }


def _taken(text: str) -> Refused:
    message = f"The code {text} is in force already; revoke it first, or choose another text."
    return Refused(422, "code_already_taken", message, field="code")


def _stage_audit(code: AffiliateCoupon, now: datetime) -> None:
    calls.stage_audit(
        "affiliate_coupon.created",
        organization_id=code.organization_id,
        made_id=code.id,
        after=coupon_events.code_created(code),
        now=now,
    )


def _tell(code: AffiliateCoupon, *, now: datetime) -> None:
    emit.event(
        organization_id=code.organization_id,
        type="affiliate_coupon.created",
        data=coupon_events.code_created(code),
        at=now,
    )


def _connection_id(code: AffiliateCoupon) -> UUID:
    assert code.connection_id is not None  # only what was made elsewhere has none
    return code.connection_id


def _family_of(code: AffiliateCoupon) -> CampaignCoupon | None:
    if code.campaign_coupon_id is None:
        return None
    family = campaign_coupons.find(organization_id=code.organization_id, coupon_id=code.campaign_coupon_id)
    assert family is not None  # a family with codes is never deleted
    return family
