"""Each event of the catalogue happens, is posted to a receiver, and is as the description has it.

The receiver compares what it was sent with the schema of its type, and fails the test on a field too many or too few.
Source: tracking spec, section 6 "Event types and payloads".
"""

from domain.webhooks import events
from tests.support.api.applications import apply, build_two_step_form
from tests.support.coupons import create_coupon, mint_code
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.rows.brands import Brand, Partner
from tests.support.rows.click_rows import build_click, minutes_after_hour, write
from tests.support.rows.deal_scene import DealScene
from tests.support.rows.payroll import Payroll
from tests.support.rows.refund_requests import post_refund


def test_every_event_that_is_delivered_is_as_described(app, receiver, drain):
    payroll = Payroll.create(app)
    payroll.brand.set(plan="Pro")
    payroll.brand.endpoint(receiver.url, ["*"])

    _conversions(payroll)
    _payouts(payroll)
    _affiliates(payroll.brand)
    _clicks(payroll.brand)
    drain()
    _deals(payroll.brand)
    _coupons(payroll.brand, drain)
    drain()

    assert {event["type"] for event in receiver.events} == set(events.TYPES)
    assert {received.headers["x-service-event"] for received in receiver.received} == set(events.TYPES)


def _conversions(payroll: Payroll) -> None:
    payroll.affiliate("ann")
    approved, denied, held, _ = (payroll.sell("ann", externalEventId=f"order-{n}") for n in range(4))
    owner = payroll.brand.person("Owner")
    _done(owner.post(f"/api/conversions/{approved}/approve"))
    _done(owner.post(f"/api/conversions/{denied}/deny", {"reason": "A purchase of their own."}))
    _done(payroll.brand.post(f"/api/v1/conversions/{held}/invalidate", {"reason": "It looks odd."}))
    _done(payroll.brand.post(f"/api/v1/conversions/{held}/validate", {}))
    _done(post_refund(payroll.brand, "order-3", 4_000))


def _payouts(payroll: Payroll) -> None:
    payroll.run()
    payroll.pay()
    payroll.brand.set(sandboxRail="fail")
    payroll.sell("ann")
    payroll.run()
    payroll.pay()
    payroll.brand.set(sandboxRail="ok")


def _affiliates(brand: Brand) -> None:
    brand.program(application_form=build_two_step_form())
    email = f"ada-{brand.id.hex}@example.com"
    apply(brand, email=email, answers={"team": "Tea"})
    ((affiliate_id,),) = brand.rows("select id from affiliate where status = 'Pending'")
    _done(Partner(brand.app, email).post(f"/api/me/applications/{affiliate_id}/answers", {"answers": {"reach": 5}}))
    _done(brand.post(f"/api/v1/affiliates/{affiliate_id}/approve", {}))


def _clicks(brand: Brand) -> None:
    brand.program(click_reward_cents=10)
    ben = brand.affiliate("ben")
    for minute in range(2):
        write(brand, build_click(brand, ben, at=minutes_after_hour(minute)))


def _deals(brand: Brand) -> None:
    dealing = DealScene.for_brand(brand)
    deal_id = dealing.create_funded(50_000, 20_000)
    for seq in (1, 2):
        _done(dealing.submit(deal_id, seq))
    _done(dealing.approve(deal_id))
    _done(dealing.dispute(deal_id, 2))


def _coupons(brand: Brand, drain) -> None:
    email = f"jane-{brand.id.hex}@example.com"
    jane = brand.affiliate("jane", program_id=brand.programs[0], email=email, email_normalized=email)
    coupons = f"/api/v1/campaigns/{brand.programs[0]}/coupons"
    with play_gateway() as stage:
        connect_gateway(brand.person("Owner"), stage)
        kept, unused = (
            create_coupon(brand, selfMintMode="AllAffiliates", name=name)["id"] for name in ("Kept", "Unused")
        )
        _done(brand.call("PATCH", f"{coupons}/{kept}", {"name": "Partner 20"}))
        _done(brand.call("DELETE", f"{coupons}/{unused}"))
        by_brand = mint_code(brand, jane, kept)["id"]
        _done(brand.call("DELETE", f"/api/v1/affiliates/{jane}/coupons/{by_brand}"))
        herself = Partner(brand.app, email)
        own = herself.post("/api/me/coupons/mint", {"campaignCouponId": kept}).json["id"]
        _done(herself.call("DELETE", f"/api/me/coupons/{own}"))
        drain()
        _done(brand.post(f"{coupons}/{kept}/archive"))
        drain()


def _done(answer) -> None:
    assert answer.status_code in (200, 204), answer.get_data(as_text=True)
