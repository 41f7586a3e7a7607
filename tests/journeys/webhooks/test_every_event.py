"""Each event type of the catalogue is triggered, delivered, and matches its schema.

The receiver validates each event against its schema, and fails the test on an extra or missing field.
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


def test_every_delivered_event_matches_its_schema(app, receiver, drain):
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
    approved, denied, invalidated, _ = (payroll.sell("ann", externalEventId=f"order-{n}") for n in range(4))
    owner = payroll.brand.person("Owner")
    _assert_success(owner.post(f"/api/conversions/{approved}/approve"))
    _assert_success(owner.post(f"/api/conversions/{denied}/deny", {"reason": "A purchase of their own."}))
    _assert_success(payroll.brand.post(f"/api/v1/conversions/{invalidated}/invalidate", {"reason": "It looks odd."}))
    _assert_success(payroll.brand.post(f"/api/v1/conversions/{invalidated}/validate", {}))
    _assert_success(post_refund(payroll.brand, "order-3", 4_000))


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
    _assert_success(
        Partner(brand.app, email).post(f"/api/me/applications/{affiliate_id}/answers", {"answers": {"reach": 5}})
    )
    _assert_success(brand.post(f"/api/v1/affiliates/{affiliate_id}/approve", {}))


def _clicks(brand: Brand) -> None:
    brand.program(click_reward_cents=10)
    ben = brand.affiliate("ben")
    for minute in range(2):
        write(brand, build_click(brand, ben, at=minutes_after_hour(minute)))


def _deals(brand: Brand) -> None:
    dealing = DealScene.for_brand(brand)
    deal_id = dealing.create_funded(50_000, 20_000)
    for seq in (1, 2):
        _assert_success(dealing.submit(deal_id, seq))
    _assert_success(dealing.approve(deal_id))
    _assert_success(dealing.dispute(deal_id, 2))


def _coupons(brand: Brand, drain) -> None:
    email = f"jane-{brand.id.hex}@example.com"
    jane = brand.affiliate("jane", program_id=brand.programs[0], email=email, email_normalized=email)
    coupons = f"/api/v1/campaigns/{brand.programs[0]}/coupons"
    with play_gateway() as stage:
        connect_gateway(brand.person("Owner"), stage)
        kept_id, unused_id = (
            create_coupon(brand, selfMintMode="AllAffiliates", name=name)["id"] for name in ("Kept", "Unused")
        )
        _assert_success(brand.call("PATCH", f"{coupons}/{kept_id}", {"name": "Partner 20"}))
        _assert_success(brand.call("DELETE", f"{coupons}/{unused_id}"))
        by_brand = mint_code(brand, jane, kept_id)["id"]
        _assert_success(brand.call("DELETE", f"/api/v1/affiliates/{jane}/coupons/{by_brand}"))
        partner = Partner(brand.app, email)
        own_id = partner.post("/api/me/coupons/mint", {"campaignCouponId": kept_id}).json["id"]
        _assert_success(partner.call("DELETE", f"/api/me/coupons/{own_id}"))
        drain()
        _assert_success(brand.post(f"{coupons}/{kept_id}/archive"))
        drain()


def _assert_success(answer) -> None:
    assert answer.status_code in (200, 204), answer.get_data(as_text=True)
