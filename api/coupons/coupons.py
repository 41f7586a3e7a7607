"""Coupons of a campaign, from which codes are minted. They are created at the processor, outside of any transaction.

Source: tracking spec, "Campaign coupon", "Coupons".
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency, paging, path
from api.edge.operations import object_of, operation, page
from api.edge.relay_waker import wake_relay
from domain.coupons.discounts import SelfMintMode
from domain.organization import plans
from domain.refusals import Refused
from models import db
from models.coupons import campaign_coupons
from models.coupons.campaign_coupons import CampaignCoupon, CountedCoupon
from pipelines.coupons import calls, families
from pipelines.programs import lifecycle
from schemas.coupons.campaign import (
    CampaignCouponBody,
    CampaignCouponChanges,
    CampaignCouponRecord,
    PickableAffiliateRecord,
    PickQuery,
)
from schemas.paging import PageQuery

blueprint = Blueprint("campaign_coupons", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter, plan_for_people=True)
_WRITE = Guard(audience="brand", scope="read_write", plan=plans.Tier.Starter, plan_for_people=True)

_RECORD = CampaignCouponRecord()
_PICKABLE = PickableAffiliateRecord()
_COUPONS = "/api/v1/campaigns/<program_id>/coupons"
_COUPON = f"{_COUPONS}/<coupon_id>"


@blueprint.post(_COUPONS)
@operation(
    _WRITE,
    object_of(_RECORD),
    status=201,
    takes=CampaignCouponBody(),
    refuses=(
        "400 invalid_request",
        "400 invalid_commission_type",
        "400 percentage_out_of_range",
        "400 fixed_commission_out_of_range",
        "400 unit_fee_out_of_range",
        "404 not_found",
        "409 invalid_status_transition",
        "422 processor_not_connected",
        "422 processor_create_failed",
        "503 gateway_unreachable",
    ),
)
def create_campaign_coupon(program_id: str) -> Response:
    """Create a coupon, here and at the processor. 201 with the coupon.

    After a 503 it may exist: repeat the request with its Idempotency-Key, or look at the list in a minute.
    """
    of_program = _program_key(program_id)
    with db.unit_of_work(guards.organization_id()):  # a missing program is reported before a malformed body
        lifecycle.find(**of_program)
    requested = body.load()
    replay = idempotency.find_replay()
    if replay is not None:
        return replay
    coupon_id = idempotency.stable_id()
    with db.unit_of_work(guards.organization_id()):
        started = families.start(
            **of_program, coupon_id=coupon_id, body=requested, created_by=guards.caller().member_id, now=clock.now()
        )
    outcome = families.create_at_processor(started)
    if outcome.gateway_id is None:
        with db.unit_of_work(guards.organization_id()):
            families.settle(started, outcome, now=clock.now(), on_active=_audit_creation)
    wake_relay()
    return idempotency.run_once(lambda: _finish(started, outcome))


def _finish(started: families.StartedFamily, outcome: calls.GatewayResult) -> idempotency.Answer:
    if outcome.gateway_id is None:
        raise outcome.refusal or calls.unreachable_refusal(started.place)
    coupon = families.settle(started, outcome, now=clock.now(), on_active=_audit_creation)
    if coupon is None:
        raise calls.unreachable_refusal(started.place)
    return 201, _find_by_coupon(coupon)


def _audit_creation(coupon: CampaignCoupon) -> None:
    audit.record("campaign_coupon.created", coupon.id, after=_find_by_coupon(coupon), now=clock.now())


def _find_by_coupon(coupon: CampaignCoupon) -> Mapping[str, Any]:
    return _find({"organization_id": coupon.organization_id, "program_id": coupon.program_id}, coupon.id)


@blueprint.get(_COUPONS)
@operation(_READ, page(_RECORD), asks=PageQuery(), refuses=("404 not_found",), may_lag="answer")
def list_campaign_coupons(program_id: str) -> Mapping[str, object]:
    """List a campaign's coupons, archived ones too, newest first."""
    page_request, of_program = paging.read_page_request(body.query()), _program_key(program_id)
    with db.unit_of_work(guards.organization_id()):
        lifecycle.find(**of_program)
        rows = campaign_coupons.page(**of_program, **page_request.window)
    return paging.serialize_page(page_request, rows, lambda page: [serialize(row) for row in page])


@blueprint.get(f"{_COUPONS}/affiliates")
@operation(_READ, page(_PICKABLE), asks=PickQuery(), refuses=("404 not_found",), may_lag="answer")
def list_coupon_affiliates(program_id: str) -> Mapping[str, object]:
    """List a campaign's approved affiliates, newest first; with `couponId` also whether each may mint or has minted."""
    query, of_program = body.query(), _program_key(program_id)
    page_request, coupon_id = paging.read_page_request(query), query["coupon_id"]
    with db.unit_of_work(guards.organization_id()):
        lifecycle.find(**of_program)
        if coupon_id is not None:
            families.find(**of_program, coupon_id=coupon_id)
        rows = campaign_coupons.list_pickable(**of_program, coupon_id=coupon_id, **page_request.window)
    names = _PICKABLE.fields if coupon_id is not None else ("id", "email", "full_name")
    return paging.serialize_page(
        page_request, rows, lambda page: [_PICKABLE.dump({name: getattr(row, name) for name in names}) for row in page]
    )


@blueprint.get(_COUPON)
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_campaign_coupon(program_id: str, coupon_id: str) -> Mapping[str, object]:
    """Show one coupon."""
    of_program, wanted_id = _program_key(program_id), path.uuid(coupon_id, "coupon")
    with db.unit_of_work(guards.organization_id()):
        return _find(of_program, wanted_id)


@blueprint.patch(_COUPON)
@operation(
    _WRITE,
    object_of(_RECORD),
    takes=CampaignCouponChanges(),
    refuses=("400 invalid_request", "404 not_found", "409 invalid_status_transition"),
)
def change_campaign_coupon(program_id: str, coupon_id: str) -> Response:
    """Change who may mint from a coupon, how many codes, its name, or whether it wins over clicks. 200 with the coupon.

    The discount cannot change. Affiliates who are removed from the allow-list lose the codes that they minted.
    """
    of_program, wanted_id = _program_key(program_id), path.uuid(coupon_id, "coupon")
    with db.unit_of_work(guards.organization_id()):
        _find(of_program, wanted_id)
    requested = body.load()
    return idempotency.run_once(lambda: _change(of_program, wanted_id, requested), wakes_relay=True)


def _change(of_program: Mapping[str, UUID], coupon_id: UUID, requested: Mapping[str, Any]) -> idempotency.Answer:
    now = clock.now()
    coupon = families.lock(**of_program, coupon_id=coupon_id)
    before = _find(of_program, coupon_id)
    _refuse_changed_discount(requested["fixed"], before)
    families.change(coupon, requested["changes"], now=now)
    after = _find(of_program, coupon_id)
    if after != before:
        audit.record("campaign_coupon.updated", coupon_id, before=before, after=after, now=now)
    return 200, after


def _refuse_changed_discount(fixed: Mapping[str, Any], record: Mapping[str, Any]) -> None:
    for name, value in fixed.items():
        key = _RECORD.fields[name].data_key or name
        if value != record[key]:
            message = f"{key} cannot be changed. Archive the coupon and create a new one."
            raise Refused(400, "invalid_request", message, field=key)


@blueprint.post(f"{_COUPON}/archive")
@operation(_WRITE, object_of(_RECORD), refuses=("404 not_found", "409 invalid_status_transition"))
def archive_campaign_coupon(program_id: str, coupon_id: str) -> Response:
    """End a coupon and all its codes. 200 with the coupon; `archive.pending` counts codes still live at the gateway."""
    of_program, wanted_id = _program_key(program_id), path.uuid(coupon_id, "coupon")
    return idempotency.run_once(lambda: _archive(of_program, wanted_id), wakes_relay=True)


def _archive(of_program: Mapping[str, UUID], coupon_id: UUID) -> idempotency.Answer:
    now = clock.now()
    coupon = families.lock(**of_program, coupon_id=coupon_id)
    before = _find(of_program, coupon_id)
    families.archive(coupon, now=now)
    after = _find(of_program, coupon_id)
    audit.record("campaign_coupon.archived", coupon_id, before=before, after=after, now=now)
    return 200, after


@blueprint.delete(_COUPON)
@operation(
    _WRITE,
    status=204,
    refuses=("404 not_found", "409 invalid_status_transition", "422 has_affiliate_coupons"),
)
def delete_campaign_coupon(program_id: str, coupon_id: str) -> Response:
    """Delete a coupon that never had a code, here and at the processor. 204."""
    of_program, wanted_id = _program_key(program_id), path.uuid(coupon_id, "coupon")
    with db.unit_of_work(guards.organization_id()):
        coupon = campaign_coupons.lock(organization_id=of_program["organization_id"], coupon_id=wanted_id)
        before = _find(of_program, wanted_id)
        assert coupon is not None  # `_find` found it
        families.delete(coupon, now=clock.now())
        audit.record("campaign_coupon.deleted", wanted_id, before=before, now=clock.now())
    wake_relay()
    return Response(status=204)


def _program_key(program_id: str) -> dict[str, UUID]:
    return {"organization_id": guards.organization_id(), "program_id": path.uuid(program_id, "program")}


def _find(of_program: Mapping[str, UUID], coupon_id: UUID) -> Mapping[str, Any]:
    return serialize(families.find(**of_program, coupon_id=coupon_id))


def serialize(counted: CountedCoupon) -> Mapping[str, Any]:
    """Return the JSON of a coupon."""
    coupon = counted.coupon
    record: Mapping[str, Any] = _RECORD.dump(
        {
            **{name: getattr(coupon, name) for name in CampaignCoupon.__dataclass_fields__},
            "is_active": coupon.is_active,
            "allow_affiliate_self_mint": coupon.self_mint_mode != SelfMintMode.Disabled,
            "processor": counted.processor,
            "minted_code_count": counted.minted_code_count,
            "granted_affiliate_ids": counted.granted_affiliate_ids,
            "archive": {"pending": counted.pending} if coupon.archived_at else None,
        }
    )
    return record
