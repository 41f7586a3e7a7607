"""What minting and ending a code take in a request, whoever asks: two transactions with a call between them."""

from uuid import UUID

from flask import Response

from adapters import clock
from api.edge import answers, audit
from api.edge.wake import wake_relay
from models import db
from models.affiliates.affiliates import Affiliate
from models.coupons.affiliate_coupons import AffiliateCoupon
from pipelines.coupons import calls, minting, revocation
from pipelines.coupons.calls import GatewayResult
from pipelines.coupons.minting import RequestedCode, StartedCode
from schemas.coupons.code import AffiliateCouponRecord

RECORD = AffiliateCouponRecord()
#: What minting a code may be refused with, whoever mints it.
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


def minted(affiliate: Affiliate, wanted: RequestedCode) -> Response:
    """Mint a code and answer 201 with it. Raises Refused as `MINT_REFUSALS` say, 503 when it is not known by now."""
    tenant = affiliate.organization_id
    with db.unit_of_work(tenant):
        begun = minting.start(affiliate, wanted, now=clock.now())
    made = minting.mint(begun)
    if made.made_id is None:
        with db.unit_of_work(tenant):
            minting.settle(begun, made, now=clock.now(), on_active=_note)
    wake_relay()
    return answers.once(lambda: _created(begun, made), organization_id=tenant)


def _created(begun: StartedCode, made: GatewayResult) -> answers.Answer:
    if made.made_id is None:
        raise made.refusal or calls.unreachable_refusal(begun.place)
    settled = minting.settle(begun, made, now=clock.now(), on_active=_note)
    if settled is None:
        raise calls.unreachable_refusal(begun.place)
    return 201, RECORD.dump(settled)


def _note(code: AffiliateCoupon) -> None:
    audit.record(
        "affiliate_coupon.created",
        code.id,
        after=RECORD.dump(code),
        now=clock.now(),
        organization_id=code.organization_id,
    )


def end(organization_id: UUID, code_id: UUID) -> None:
    """End a revoked code where it was minted, so that its text is free there too; a job does the rest."""
    with db.unit_of_work(organization_id):
        prepared = revocation.prepare(organization_id=organization_id, code_id=code_id, now=clock.now())
    if prepared is None:
        return
    ended = revocation.switch_off(prepared)
    with db.unit_of_work(organization_id):
        revocation.record(prepared, ended, now=clock.now())
