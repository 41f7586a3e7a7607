"""The demo's second brand end to end: payments, renewals and refunds at its gateway change the commissions."""

import threading

import settings
from adapters.embedded.data_folder import wait_until
from commands.demo.gateway import server
from tests.support.app_server import serve_app
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand, Partner

_PATIENCE_S = 120
_NEW_SUBSCRIPTION_EVENTS = ("customer.subscription.created", "invoice.paid", "invoice_payment.paid")
_RENEWAL_EVENTS = ("invoice.paid", "invoice_payment.paid")


def _list_conversions(demo):
    rows = demo.shop.get("/api/v1/conversions").json["items"]
    return {row["externalEventId"]: (row["amountCents"], row["commissionCents"], row["type"]) for row in rows}


def test_sale_renewal_and_refund_change_the_commissions(running_demo):
    payment = running_demo.json("demo-gateway", "pay")
    running_demo.receive_events(*_NEW_SUBSCRIPTION_EVENTS)
    renewal = running_demo.json("demo-gateway", "renew")
    refund = running_demo.json("demo-gateway", "refund", "--cents", "1000")
    running_demo.receive_events(*_NEW_SUBSCRIPTION_EVENTS, *_RENEWAL_EVENTS, "charge.refunded")

    assert (renewal["subscription"], refund["charge"]) == (payment["subscription"], renewal["charge"])
    assert _list_conversions(running_demo) == {
        payment["invoice"]: (4_900, 1_470, "OneTime"),
        renewal["invoice"]: (4_900, 1_170, "Recurring"),
    }
    first = running_demo.shop.get("/api/v1/conversions").json["items"][-1]
    attribution = running_demo.shop.get(f"/api/v1/conversions/{first['id']}/attribution").json
    assert attribution["attributionMethod"] == first["attributionMethod"] == "metadata_or_customer"
    assert [step["outcome"] for step in attribution["steps"]][:2] == ["skipped", "matched"]
    event_types = running_demo.shop.rows(
        "select type from event where type like 'conversion.%%' order by created_at, id"
    )
    assert event_types == [("conversion.created",), ("conversion.created",), ("conversion.refunded",)]


def _mint_code(demo, affiliate, **terms):
    """Create a coupon of the brand and mint a code of it as the affiliate; return the coupon's path and the code."""
    body = {"name": "20 off", "discountType": "PercentOff", "discountValue": 20, "duration": "Once"}
    coupons = f"/api/v1/campaigns/{demo.facts['gatewayProgramId']}/coupons"
    coupon = demo.shop.post(coupons, {**body, "selfMintMode": "AllAffiliates", **terms})
    assert coupon.status_code == 201, coupon.json
    code = affiliate.post("/api/me/coupons/mint", {"campaignCouponId": coupon.json["id"]})
    assert code.status_code == 201, code.json
    return f"{coupons}/{coupon.json['id']}", code.json


def _count_redemptions(affiliate, code):
    """Return how often a code was redeemed; the affiliate may have codes at brands of other tests too."""
    (minted,) = (item for item in affiliate.get("/api/me/coupons").json["items"] if item["id"] == code["id"])
    return minted["redemptionCount"]


def test_minted_code_is_redeemed_refunded_in_parts_and_archived(running_demo):
    nora = Partner(running_demo.app, "nora@example.com")
    coupon, code = _mint_code(running_demo, nora)

    payment = running_demo.json("demo-gateway", "pay", "--code", code["code"])
    running_demo.receive_events(*_NEW_SUBSCRIPTION_EVENTS)
    (conversion,) = running_demo.shop.get("/api/v1/conversions").json["items"]
    assert (payment["amountCents"], payment["discountCents"], payment["metadata"]) == (3_920, 980, {})
    assert (conversion["amountCents"], conversion["commissionCents"]) == (3_920, 1_176)
    assert (conversion["attributionMethod"], conversion["couponCode"]) == ("coupon", code["code"])
    redemption_counts = [_count_redemptions(nora, code)]
    for number, cents in enumerate(("1000", "2920"), start=1):
        running_demo.json("demo-gateway", "refund", "--cents", cents)
        running_demo.receive_events(*_NEW_SUBSCRIPTION_EVENTS, *["charge.refunded"] * number)
        redemption_counts.append(_count_redemptions(nora, code))
    assert redemption_counts == [1, 1, 0]

    archived = running_demo.shop.post(f"{coupon}/archive", {})
    drain("gateways")
    assert (archived.status_code, running_demo.shop.get(coupon).json["archive"]) == (200, {"pending": 0})
    status, output = running_demo.flask("demo-gateway", "pay", "--code", code["code"])
    assert (status, output.startswith(f"Error: The gateway has no active promotion code {code['code']}.")) == (1, True)


def test_code_for_the_whole_price_is_a_lead_and_charges_nothing(running_demo):
    nora = Partner(running_demo.app, "nora@example.com")
    _, code = _mint_code(running_demo, nora, discountValue=100)

    status, output = running_demo.flask("demo-gateway", "pay", "--code", code["code"])
    running_demo.receive_events("customer.subscription.created", "invoice.paid")

    assert status == 0
    assert output.startswith("0 cents paid (4900 discounted by the code) for sub_")
    assert "without a charge" in output
    assert "refund" not in output
    (lead,) = running_demo.shop.get("/api/v1/conversions").json["items"]
    assert (lead["amountCents"], lead["attributionMethod"], lead["couponCode"]) == (0, "lead_signup", code["code"])


def test_signed_sale_is_accepted_for_the_first_brand_and_refused_for_the_second(running_demo):
    first = Brand(
        running_demo.app,
        running_demo.facts["organizationId"],
        running_demo.facts["apiKey"],
        running_demo.facts["signingSecret"],
    )
    second = running_demo.shop.other_key()

    assert first.sale(affiliateSlug=running_demo.facts["affiliateSlug"]).status_code == 200
    refusal = second.sale(affiliateSlug=running_demo.facts["gatewayAffiliateSlug"])
    assert (refusal.status_code, refusal.json["error"]) == (409, "stripe_connect_active")


def test_payment_of_an_unknown_affiliate_is_no_conversion(running_demo):
    running_demo.json("demo-gateway", "pay", "--affiliate", "nobody-here", "--cents", "1200")
    running_demo.receive_events(*_NEW_SUBSCRIPTION_EVENTS)

    assert _list_conversions(running_demo) == {}
    assert ("invoice.paid", "nobody_referred") in running_demo.shop.rows("select type, reason from gateway_event")


def test_referral_written_after_the_checkout_credits_the_payment(running_demo):
    payment = running_demo.json("demo-gateway", "pay", "--affiliate", "nobody-here")
    running_demo.receive_events(*_NEW_SUBSCRIPTION_EVENTS)
    assert _list_conversions(running_demo) == {}
    referral = running_demo.json("demo-gateway", "refer")
    running_demo.receive_events(*_NEW_SUBSCRIPTION_EVENTS, "customer.subscription.updated")

    assert (referral["subscription"], referral["metadata"]["affiliate_slug"]) == (payment["subscription"], "nora")
    assert _list_conversions(running_demo) == {payment["invoice"]: (4_900, 1_470, "OneTime")}


def test_output_reports_the_result_and_the_next_step(running_demo):
    code, output = running_demo.flask("demo-gateway", "pay")
    running_demo.receive_events(*_NEW_SUBSCRIPTION_EVENTS)
    subscription = next(word for word in output.split() if word.startswith("sub_")).strip(",")

    assert code == 0
    assert output.startswith(f"4900 cents paid for {subscription}, whose metadata says affiliate_slug=nora\n")
    assert f".venv/bin/flask demo-gateway renew {subscription}\n" in output
    assert f"DATA_DIR={settings.current().servers.data_dir} PORT=" in output
    code, output = running_demo.flask("demo-gateway", "refund")
    assert (code, output.startswith("4900 cents of ch_")) == (0, True)
    running_demo.receive_events(*_NEW_SUBSCRIPTION_EVENTS, "charge.refunded")
    lines = running_demo.gateway_lines
    assert wait_until(lambda: len(lines) == 4, timeout_s=_PATIENCE_S)  # printed once the response has been read
    assert [line.split(" of ")[0] for line in lines] == [*_NEW_SUBSCRIPTION_EVENTS, "charge.refunded"]
    assert all(line.endswith(": accepted") for line in lines)


def test_connection_check_calls_the_simulated_gateway(running_demo):
    (connection,) = running_demo.json("connection", "list", "--org", running_demo.facts["gatewayOrganizationId"])

    assert running_demo.json("connection", "check", connection["id"])["refusal"] is None


def test_gateway_keeps_its_objects_over_a_restart_on_another_port(demo):
    demo.create()
    with demo.run_all():
        payment = demo.json("demo-gateway", "pay")
        demo.receive_events(*_NEW_SUBSCRIPTION_EVENTS)
    demo.change_ports()
    demo.create()
    with demo.run_all():
        demo.json("demo-gateway", "refund", payment["charge"], "--cents", "900")
        demo.receive_events(*_NEW_SUBSCRIPTION_EVENTS, "charge.refunded")

    assert _list_conversions(demo) == {payment["invoice"]: (4_900, 1_200, "OneTime")}


def test_undelivered_event_is_sent_again(demo):
    demo.create()
    with demo.run_gateway():
        demo.json("demo-gateway", "pay")
        with serve_app(demo.app, port=settings.current().web.port):
            demo.receive_events(*_NEW_SUBSCRIPTION_EVENTS)

    assert [row[0] for row in _list_conversions(demo).values()] == [4_900]


def test_undelivered_event_is_dropped_when_the_gateway_stops(demo):
    demo.create()
    with demo.run_gateway():  # the service does not run
        demo.json("demo-gateway", "pay")

    assert server.SENDER not in {thread.name for thread in threading.enumerate()}
    assert all(": not accepted (" in line for line in demo.gateway_lines)


def test_undelivered_event_is_found_by_a_reconcile(demo, monkeypatch):
    monkeypatch.setattr(server, "_PAUSES_S", (0.0,))
    demo.create()
    with demo.run_gateway():  # the service does not run
        payment = demo.json("demo-gateway", "pay")
        (connection,) = demo.json("connection", "list", "--org", demo.facts["gatewayOrganizationId"])

        assert demo.json("connection", "reconcile", connection["id"], "--since", "1h")["new"] == 3

        demo.receive_events(*_NEW_SUBSCRIPTION_EVENTS)
    assert _list_conversions(demo) == {payment["invoice"]: (4_900, 1_470, "OneTime")}
