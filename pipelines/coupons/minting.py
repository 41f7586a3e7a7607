"""Minting of codes: by the brand for an affiliate, or by affiliates themselves where the brand allows it.

Caps and allow-lists are decided under the lock of the family. Source: tracking spec, "Affiliate coupon", "Coupons".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from domain import jobs
from domain.coupons import codes
from domain.coupons.discounts import CodeOrigin, CodeStatus, Discount
from domain.refusals import Refused, not_found
from domain.webhooks import coupon_events
from models import ids
from models.affiliates.affiliates import Affiliate
from models.coupons import affiliate_coupons, campaign_coupons
from models.coupons.affiliate_coupons import AffiliateCoupon
from models.coupons.campaign_coupons import CampaignCoupon
from models.gateways import connections
from pipelines import work
from pipelines.coupons import calls, families, places, revocation
from pipelines.coupons.calls import GatewayResult
from pipelines.coupons.places import MintingPlace
from pipelines.programs import lifecycle
from pipelines.webhooks import emit

# Eight of thirty characters make so many texts that a second draw is rare.
_DRAWS = 5


@dataclass(frozen=True, slots=True)
class StartedCode:
    """A code that is about to be minted, its family (None: it has its own discount) and its gateway.

    `is_retry`: an earlier call may have minted it.
    """

    code: AffiliateCoupon
    family: CampaignCoupon | None
    place: MintingPlace
    is_retry: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedCode:
    """A requested code with its `id`; without `text` a random one is drawn.

    It belongs to a coupon or has a `discount` of its own.
    """

    id: UUID
    coupon_id: UUID | None
    text: str | None
    origin: CodeOrigin
    discount: Discount | None = None


def start(affiliate: Affiliate, requested: RequestedCode, *, now: datetime) -> StartedCode:
    """Write a code of an affiliate that is about to be minted.

    If it was started with this id less than an hour ago, that one is continued; so is the same request if the gateway's
    answer was lost.
    Raises Refused: 404 not_found; 403 self_mint_disabled, not_granted; 409 invalid_status_transition,
    code_limit_reached; 400 invalid_request, code_not_supported; 422 code_already_taken, processor_not_connected,
    storefront_reconnect_required.
    """
    family = _lock_family(affiliate, requested)
    if requested.text is not None and not codes.is_valid(requested.text):
        raise format_refusal()
    existing = affiliate_coupons.find(organization_id=affiliate.organization_id, code_id=requested.id)
    started = _find_started(affiliate, requested, existing, now=now)
    if started is not None:
        place = places.find_by_connection(affiliate.organization_id, _connection_id(started), now=now)
        if place is None:
            raise places.not_connected_refusal()
        return StartedCode(started, family, place, is_retry=True)
    place = _find_place(affiliate, family, requested, now=now)
    if requested.text is not None and (problem := place.rail.shape.explain_refusal(requested.text)):
        message = f"{place.connection.gateway} does not take this code: {problem}."
        raise Refused(400, "code_not_supported", message, field="code")
    if family is not None:
        _check_cap(family, affiliate.id)
    if existing is not None:  # the hour has passed, or it was revoked: this is another request
        requested = replace(requested, id=ids.new_id())
    code = _insert(affiliate, requested, place, now=now)
    work.enqueue(
        jobs.CODE_MINT,
        organization_id=affiliate.organization_id,
        run_at=now + places.REQUEST_TIME,
        code_id=code.id,
    )
    return StartedCode(code, family, place)


def register(affiliate: Affiliate, *, text: str | None, coupon_id: UUID | None, now: datetime) -> AffiliateCoupon:
    """Write a code that the brand created elsewhere; it is active at once.

    Raises Refused: 400 invalid_request; 404 not_found; 409 invalid_status_transition; 422 code_already_taken.
    """
    if text is None:
        raise Refused(400, "invalid_request", "Send the text of an external code.", field="code")
    if not codes.is_valid(text):
        raise format_refusal()
    if coupon_id is not None:
        families.lock(organization_id=affiliate.organization_id, program_id=affiliate.program_id, coupon_id=coupon_id)
    code = affiliate_coupons.insert(
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
    if code is None:
        raise _taken_refusal(text)
    _emit_created(code, now=now)
    return code


def resume(*, organization_id: UUID, code_id: UUID, now: datetime) -> StartedCode | None:
    """Return a code whose minting is unfinished; None if nothing is left to do."""
    code = affiliate_coupons.lock(organization_id=organization_id, code_id=code_id)
    if code is None or code.status == CodeStatus.Active or code.processor_promotion_code_id is not None:
        return None
    place = places.find_by_connection(organization_id, _connection_id(code), now=now)
    if place is None:  # its connection has ended: it can no longer be minted
        if code.status == CodeStatus.Minting:
            affiliate_coupons.stage_remove(code)
        return None
    return StartedCode(code, _find_family(code), place, is_retry=True)


def mint(started: StartedCode) -> GatewayResult:
    """Mint a code, once; if it was revoked in the meantime, only look whether it was minted. Calls the gateway."""
    rail, account = started.place.rail, started.place.account
    order = places.code_order(started.code, started.family)
    if started.code.processor_promotion_code_id is not None:
        return GatewayResult(started.code.processor_promotion_code_id)
    if started.code.status == CodeStatus.Revoked:
        return calls.look_up(started.place, lambda: rail.find_code(account, order))
    return calls.create_at_gateway(
        started.place,
        lambda: rail.mint(account, order),
        lambda: rail.find_code(account, order),
        is_retry=started.is_retry,
    )


def settle(
    started: StartedCode, result: GatewayResult, *, now: datetime, on_active: Callable[[AffiliateCoupon], None]
) -> AffiliateCoupon | None:
    """Record the result: active with its event, removed (None), or still minting.

    A code that was revoked in the meantime is switched off at the gateway, too. `on_active` is called with a code that
    this call activates, for the audit log.
    """
    before = started.code
    code = affiliate_coupons.lock(organization_id=before.organization_id, code_id=before.id)
    if code is None or code.status == CodeStatus.Active:
        return code
    if result.credentials_refused:
        connections.stage_refusal(
            organization_id=code.organization_id, connection_id=started.place.connection.id, why=result.message, at=now
        )
    if code.status == CodeStatus.Revoked:
        if result.gateway_id is not None and code.processor_promotion_code_id is None:
            revocation.record_late_mint(code, result.gateway_id)
        return code
    if result.refusal is not None:
        affiliate_coupons.stage_remove(code)
        return None
    if result.gateway_id is None:
        return affiliate_coupons.change(code, {"unanswered_at": now})
    minted = {
        "status": CodeStatus.Active.value,
        "processor_promotion_code_id": result.gateway_id,
        "unanswered_at": None,
    }
    in_force = affiliate_coupons.change(code, minted)
    _emit_created(in_force, now=now)
    on_active(in_force)
    return in_force


def finish(started: StartedCode, result: GatewayResult, *, now: datetime) -> datetime | None:
    """Record the result, and return when to try again; None if it is final."""
    after = settle(started, result, now=now, on_active=lambda code: _stage_audit(code, now))
    if after is None or after.status == CodeStatus.Active or result.gateway_id is not None or result.is_known:
        return None
    return places.next_retry_at(after.created_at, now)


def format_refusal() -> Refused:
    """Return the refusal of a code with an invalid format."""
    message = "A code has 3 to 32 of A-Z, 0-9, underscore and hyphen."
    return Refused(400, "invalid_request", message, field="code")


def _lock_family(affiliate: Affiliate, requested: RequestedCode) -> CampaignCoupon | None:
    """Return the coupon of a requested code, locked; for a code without one lock its program and return None.

    Either lock lets a repeated request wait for the first one. Raises Refused.
    """
    if requested.coupon_id is None:
        lifecycle.lock_unarchived(organization_id=affiliate.organization_id, program_id=affiliate.program_id)
        return None
    family = campaign_coupons.lock(organization_id=affiliate.organization_id, coupon_id=requested.coupon_id)
    if family is None or family.program_id != affiliate.program_id:
        raise not_found("coupon", requested.coupon_id)
    families.check_active(family)
    if requested.origin == CodeOrigin.SelfMinted:
        families.check_self_mint(family, affiliate.id)
    return family


def _find_place(
    affiliate: Affiliate, family: CampaignCoupon | None, requested: RequestedCode, *, now: datetime
) -> MintingPlace:
    if family is not None:
        return places.find_for_code(family, requested.origin, now=now)
    expires_at = requested.discount.expires_at if requested.discount else None
    if expires_at is not None and expires_at <= now:
        raise Refused(400, "invalid_request", "expiresAt must be in the future.", field="expiresAt")
    return places.find_for_standalone_code(affiliate.organization_id, now=now)


def _find_started(
    affiliate: Affiliate, requested: RequestedCode, existing: AffiliateCoupon | None, *, now: datetime
) -> AffiliateCoupon | None:
    started = existing
    is_repeated = started is not None and started.status != CodeStatus.Revoked
    if started is None and requested.text is not None:
        started = affiliate_coupons.lock_in_force(organization_id=affiliate.organization_id, code=requested.text)
        is_repeated = started is not None and started.unanswered_at is not None
    if started is None or not is_repeated or now - started.created_at >= places.IDEMPOTENCY_WINDOW:
        return None
    request_key = (affiliate.id, requested.coupon_id, requested.origin, requested.discount)
    is_same = (started.affiliate_id, started.campaign_coupon_id, started.origin, started.discount) == request_key
    return started if is_same else None


def _check_cap(family: CampaignCoupon, affiliate_id: UUID) -> None:
    max_codes = family.max_codes_per_affiliate
    count = affiliate_coupons.count_in_force(
        organization_id=family.organization_id, coupon_id=family.id, affiliate_id=affiliate_id
    )
    if max_codes is not None and count >= max_codes:
        message = f"An affiliate may have at most {max_codes} codes of this coupon; revoke one first."
        raise Refused(409, "code_limit_reached", message)


def _insert(affiliate: Affiliate, requested: RequestedCode, place: MintingPlace, *, now: datetime) -> AffiliateCoupon:
    for _ in range(_DRAWS):
        text = requested.text or codes.generate()
        code = affiliate_coupons.insert(
            {
                "id": requested.id,
                "organization_id": affiliate.organization_id,
                "program_id": affiliate.program_id,
                "affiliate_id": affiliate.id,
                "campaign_coupon_id": requested.coupon_id,
                "code": text,
                "origin": requested.origin.value,
                "status": CodeStatus.Minting.value,
                "connection_id": place.connection.id,
                "created_at": now,
                **_columns(requested.discount),
            }
        )
        if code is not None:
            return code
        if requested.text is not None:
            break
    raise _taken_refusal(text)


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


def _taken_refusal(text: str) -> Refused:
    message = f"The code {text} is already active; revoke it first, or choose another text."
    return Refused(422, "code_already_taken", message, field="code")


def _stage_audit(code: AffiliateCoupon, now: datetime) -> None:
    calls.stage_audit(
        "affiliate_coupon.created",
        organization_id=code.organization_id,
        entity_id=code.id,
        after=coupon_events.code_created(code),
        now=now,
    )


def _emit_created(code: AffiliateCoupon, *, now: datetime) -> None:
    emit.event(
        organization_id=code.organization_id,
        type="affiliate_coupon.created",
        data=coupon_events.code_created(code),
        at=now,
    )


def _connection_id(code: AffiliateCoupon) -> UUID:
    assert code.connection_id is not None  # only external codes have none
    return code.connection_id


def _find_family(code: AffiliateCoupon) -> CampaignCoupon | None:
    if code.campaign_coupon_id is None:
        return None
    family = campaign_coupons.find(organization_id=code.organization_id, coupon_id=code.campaign_coupon_id)
    assert family is not None  # a family with codes is never deleted
    return family
