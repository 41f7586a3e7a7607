"""Families of codes of a campaign. They are made at the processor, outside of any transaction.

Source: tracking spec, "Campaign coupon", "Coupons".
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import answers, audit, body, paging, path
from api.edge.operations import one, operation, page
from api.edge.wake import wake_relay
from domain.coupons.discounts import SelfMintMode
from domain.organization import plans
from domain.refused import Refused
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
    one(_RECORD),
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
    """Create a coupon, here and at the processor. 201 with it.

    After a 503 it may have been made; repeat the request with its Idempotency-Key, or look at the list in a minute.
    """
    of_program = _program(program_id)
    with db.unit_of_work(guards.organization_id()):  # a program that is not there comes before a body that is wrong
        lifecycle.find(**of_program)
    wanted = body.load()
    repeated = answers.repeated()
    if repeated is not None:
        return repeated
    coupon_id = answers.made_id()
    with db.unit_of_work(guards.organization_id()):
        begun = families.start(
            **of_program, coupon_id=coupon_id, body=wanted, created_by=guards.caller().member_id, now=clock.now()
        )
    made = families.create_at_processor(begun)
    if made.made_id is None:
        with db.unit_of_work(guards.organization_id()):
            families.settle(begun, made, now=clock.now(), on_active=_note)
    wake_relay()
    return answers.once(lambda: _created(begun, made))


def _created(begun: families.StartedFamily, made: calls.GatewayResult) -> answers.Answer:
    if made.made_id is None:
        raise made.refusal or calls.unreachable_refusal(begun.place)
    settled = families.settle(begun, made, now=clock.now(), on_active=_note)
    if settled is None:
        raise calls.unreachable_refusal(begun.place)
    return 201, _of(settled)


def _note(coupon: CampaignCoupon) -> None:
    audit.record("campaign_coupon.created", coupon.id, after=_of(coupon), now=clock.now())


def _of(coupon: CampaignCoupon) -> Mapping[str, Any]:
    return _find({"organization_id": coupon.organization_id, "program_id": coupon.program_id}, coupon.id)


@blueprint.get(_COUPONS)
@operation(_READ, page(_RECORD), asks=PageQuery(), refuses=("404 not_found",), may_lag="answer")
def list_campaign_coupons(program_id: str) -> Mapping[str, object]:
    """List a campaign's coupons, archived ones too, newest first."""
    asked, of_program = paging.wanted(body.query()), _program(program_id)
    with db.unit_of_work(guards.organization_id()):
        lifecycle.find(**of_program)
        rows = campaign_coupons.page(**of_program, after=asked.after, limit=asked.limit)
    return paging.envelope(asked, rows, lambda page: [shown(row) for row in page])


@blueprint.get(f"{_COUPONS}/affiliates")
@operation(_READ, page(_PICKABLE), asks=PickQuery(), refuses=("404 not_found",), may_lag="answer")
def list_coupon_affiliates(program_id: str) -> Mapping[str, object]:
    """List a campaign's approved affiliates, newest first; with `couponId` also who may mint from it and who did."""
    query, of_program = body.query(), _program(program_id)
    asked, coupon_id = paging.wanted(query), query["coupon_id"]
    with db.unit_of_work(guards.organization_id()):
        lifecycle.find(**of_program)
        if coupon_id is not None:
            families.find(**of_program, coupon_id=coupon_id)
        rows = campaign_coupons.list_pickable(**of_program, coupon_id=coupon_id, after=asked.after, limit=asked.limit)
    names = _PICKABLE.fields if coupon_id is not None else ("id", "email", "full_name")
    return paging.envelope(
        asked, rows, lambda page: [_PICKABLE.dump({name: getattr(row, name) for name in names}) for row in page]
    )


@blueprint.get(_COUPON)
@operation(_READ, one(_RECORD), refuses=("404 not_found",))
def get_campaign_coupon(program_id: str, coupon_id: str) -> Mapping[str, object]:
    """Show one coupon."""
    of_program, wanted_id = _program(program_id), path.uuid(coupon_id, "coupon")
    with db.unit_of_work(guards.organization_id()):
        return _find(of_program, wanted_id)


@blueprint.patch(_COUPON)
@operation(
    _WRITE,
    one(_RECORD),
    takes=CampaignCouponChanges(),
    refuses=("400 invalid_request", "404 not_found", "409 invalid_status_transition"),
)
def change_campaign_coupon(program_id: str, coupon_id: str) -> Response:
    """Change who may mint from a coupon, how many codes, its name, or whether it wins over clicks. 200 with it.

    What it takes off never changes. Affiliates who are taken off the allow-list lose the codes that they minted.
    """
    of_program, wanted_id = _program(program_id), path.uuid(coupon_id, "coupon")
    with db.unit_of_work(guards.organization_id()):
        _find(of_program, wanted_id)
    sent = body.load()
    answer = answers.once(lambda: _change(of_program, wanted_id, sent))
    wake_relay()
    return answer


def _change(of_program: Mapping[str, UUID], coupon_id: UUID, sent: Mapping[str, Any]) -> answers.Answer:
    now = clock.now()
    coupon = families.lock(**of_program, coupon_id=coupon_id)
    before = _find(of_program, coupon_id)
    _refuse_another_discount(sent["fixed"], before)
    families.change(coupon, sent["changes"], now=now)
    after = _find(of_program, coupon_id)
    if after != before:
        audit.record("campaign_coupon.updated", coupon_id, before=before, after=after, now=now)
    return 200, after


def _refuse_another_discount(fixed: Mapping[str, Any], shown: Mapping[str, Any]) -> None:
    for name, said in fixed.items():
        key = _RECORD.fields[name].data_key or name
        if said != shown[key]:
            message = f"{key} never changes; archive the coupon and create a new one."
            raise Refused(400, "invalid_request", message, field=key)


@blueprint.post(f"{_COUPON}/archive")
@operation(_WRITE, one(_RECORD), refuses=("404 not_found", "409 invalid_status_transition"))
def archive_campaign_coupon(program_id: str, coupon_id: str) -> Response:
    """End a coupon and all its codes. 200 with it; `archive.pending` says how many are still ending at the gateway."""
    of_program, wanted_id = _program(program_id), path.uuid(coupon_id, "coupon")
    answer = answers.once(lambda: _archive(of_program, wanted_id))
    wake_relay()
    return answer


def _archive(of_program: Mapping[str, UUID], coupon_id: UUID) -> answers.Answer:
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
    of_program, wanted_id = _program(program_id), path.uuid(coupon_id, "coupon")
    with db.unit_of_work(guards.organization_id()):
        coupon = campaign_coupons.lock(organization_id=of_program["organization_id"], coupon_id=wanted_id)
        before = _find(of_program, wanted_id)
        assert coupon is not None  # `_find` found it
        families.delete(coupon, now=clock.now())
        audit.record("campaign_coupon.deleted", wanted_id, before=before, now=clock.now())
    wake_relay()
    return Response(status=204)


def _program(program_id: str) -> dict[str, UUID]:
    return {"organization_id": guards.organization_id(), "program_id": path.uuid(program_id, "program")}


def _find(of_program: Mapping[str, UUID], coupon_id: UUID) -> Mapping[str, Any]:
    return shown(families.find(**of_program, coupon_id=coupon_id))


def shown(counted: CountedCoupon) -> Mapping[str, Any]:
    """Return a coupon as it is shown."""
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
