"""Minting and ending of a code in a request: two transactions with a call between them."""

from uuid import UUID

from flask import Response

from adapters import clock
from api.edge import audit, idempotency
from api.edge.relay_waker import wake_relay
from models import db
from models.affiliates.affiliates import Affiliate
from models.coupons.affiliate_coupons import AffiliateCoupon
from pipelines.coupons import calls, minting, revocation
from pipelines.coupons.calls import GatewayResult
from pipelines.coupons.minting import RequestedCode, StartedCode
from schemas.coupons.code import AffiliateCouponRecord

RECORD = AffiliateCouponRecord()
#: The refusals of minting a code, for any caller.
MINT_REFUSALS = (
    "400 invalid_request",
    "400 code_not_supported",
    "404 not_found",
    "409 invalid_status_transition",
    "409 code_limit_reached",
    "422 processor_not_connected",
    "422 code_already_taken",
    "422 processor_create_failed",
    "503 gateway_unreachable",
)


def mint(affiliate: Affiliate, code: RequestedCode) -> Response:
    """Mint a code and return 201 with it. Raises Refused as in `MINT_REFUSALS`, 503 if the outcome is still unknown."""
    tenant = affiliate.organization_id
    with db.unit_of_work(tenant):
        started = minting.start(affiliate, code, now=clock.now())
    outcome = minting.mint(started)
    if outcome.gateway_id is None:
        with db.unit_of_work(tenant):
            minting.settle(started, outcome, now=clock.now(), on_active=_audit_creation)
    wake_relay()
    return idempotency.run_once(lambda: _finish(started, outcome), organization_id=tenant)


def _finish(started: StartedCode, outcome: GatewayResult) -> idempotency.Answer:
    if outcome.gateway_id is None:
        raise outcome.refusal or calls.unreachable_refusal(started.place)
    code = minting.settle(started, outcome, now=clock.now(), on_active=_audit_creation)
    if code is None:
        raise calls.unreachable_refusal(started.place)
    return 201, RECORD.dump(code)


def _audit_creation(code: AffiliateCoupon) -> None:
    audit.record(
        "affiliate_coupon.created",
        code.id,
        after=RECORD.dump(code),
        now=clock.now(),
        organization_id=code.organization_id,
    )


def end(organization_id: UUID, code_id: UUID) -> None:
    """End a revoked code where it was minted, so that its text is free there too; if that fails, a job does it."""
    with db.unit_of_work(organization_id):
        prepared = revocation.prepare(organization_id=organization_id, code_id=code_id, now=clock.now())
    if prepared is None:
        return
    ended = revocation.switch_off(prepared)
    with db.unit_of_work(organization_id):
        revocation.record(prepared, ended, now=clock.now())
