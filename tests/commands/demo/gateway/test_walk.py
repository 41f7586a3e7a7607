"""The demo's second brand end to end: what is paid, renewed and given back at its gateway becomes the affiliate's."""

import threading

import settings
from adapters.embedded.data_folder import wait_until
from commands.demo.gateway import server
from tests.support.app_server import serve_app
from tests.support.job_queues import drain
from tests.support.rows.brands import Brand, Partner

_PATIENCE_S = 120
_STARTED = ("customer.subscription.created", "invoice.paid", "invoice_payment.paid")
_RENEWED = ("invoice.paid", "invoice_payment.paid")


def _conversions(demo):
    rows = demo.shop.get("/api/v1/conversions").json["items"]
    return {row["externalEventId"]: (row["amountCents"], row["commissionCents"], row["type"]) for row in rows}


def test_a_sale_a_renewal_and_a_refund_are_the_affiliates(made):
    paid = made.json("demo-gateway", "pay")
    made.hear(*_STARTED)
    renewed = made.json("demo-gateway", "renew")
    back = made.json("demo-gateway", "refund", "--cents", "1000")
    made.hear(*_STARTED, *_RENEWED, "charge.refunded")

    assert (renewed["subscription"], back["charge"]) == (paid["subscription"], renewed["charge"])
    assert _conversions(made) == {
        paid["invoice"]: (4_900, 1_470, "OneTime"),
        renewed["invoice"]: (4_900, 1_170, "Recurring"),
    }
    first = made.shop.get("/api/v1/conversions").json["items"][-1]
    decided = made.shop.get(f"/api/v1/conversions/{first['id']}/attribution").json
    assert decided["attributionMethod"] == first["attributionMethod"] == "metadata_or_customer"
    assert [step["outcome"] for step in decided["steps"]][:2] == ["skipped", "matched"]
    told = made.shop.rows("select type from event where type like 'conversion.%%' order by created_at, id")
    assert told == [("conversion.created",), ("conversion.created",), ("conversion.refunded",)]


def _minted(demo, affiliate, **terms):
    """Have the brand make a coupon, and its affiliate mint a code of it."""
    body = {"name": "20 off", "discountType": "PercentOff", "discountValue": 20, "duration": "Once"}
    coupons = f"/api/v1/campaigns/{demo.facts['gatewayProgramId']}/coupons"
    made = demo.shop.post(coupons, {**body, "selfMintMode": "AllAffiliates", **terms})
    assert made.status_code == 201, made.json
    minted = affiliate.post("/api/me/coupons/mint", {"campaignCouponId": made.json["id"]})
    assert minted.status_code == 201, minted.json
    return f"{coupons}/{made.json['id']}", minted.json


def _redemptions(affiliate, code):
    """Return how often a code was redeemed, of all that this person has, at brands of other tests as well."""
    (found,) = (one for one in affiliate.get("/api/me/coupons").json["items"] if one["id"] == code["id"])
    return found["redemptionCount"]


def test_a_code_that_an_affiliate_minted_is_redeemed_refunded_in_parts_and_archived(made):
    nora = Partner(made.app, "nora@example.com")
    coupon, code = _minted(made, nora)

    paid = made.json("demo-gateway", "pay", "--code", code["code"])
    made.hear(*_STARTED)
    (sold,) = made.shop.get("/api/v1/conversions").json["items"]
    assert (paid["amountCents"], paid["discountCents"], paid["metadata"]) == (3_920, 980, {})
    assert (sold["amountCents"], sold["commissionCents"]) == (3_920, 1_176)
    assert (sold["attributionMethod"], sold["couponCode"]) == ("coupon", code["code"])
    counted = [_redemptions(nora, code)]
    for number, cents in enumerate(("1000", "2920"), start=1):
        made.json("demo-gateway", "refund", "--cents", cents)
        made.hear(*_STARTED, *["charge.refunded"] * number)
        counted.append(_redemptions(nora, code))
    assert counted == [1, 1, 0]

    archived = made.shop.post(f"{coupon}/archive", {})
    drain("gateways")
    assert (archived.status_code, made.shop.get(coupon).json["archive"]) == (200, {"pending": 0})
    status, said = made.flask("demo-gateway", "pay", "--code", code["code"])
    assert (status, said.startswith(f"Error: The gateway has no active promotion code {code['code']}.")) == (1, True)


def test_a_code_that_takes_everything_off_is_a_lead_and_nothing_is_charged(made):
    nora = Partner(made.app, "nora@example.com")
    _, code = _minted(made, nora, discountValue=100)

    status, said = made.flask("demo-gateway", "pay", "--code", code["code"])
    made.hear("customer.subscription.created", "invoice.paid")

    assert status == 0
    assert said.startswith("0 cents paid (4900 discounted by the code) for sub_")
    assert "without a charge" in said
    assert "refund" not in said
    (lead,) = made.shop.get("/api/v1/conversions").json["items"]
    assert (lead["amountCents"], lead["attributionMethod"], lead["couponCode"]) == (0, "lead_signup", code["code"])


def test_the_signed_sales_of_the_first_brand_go_on_and_those_of_the_second_are_kept_out(made):
    first = Brand(made.app, made.facts["organizationId"], made.facts["apiKey"], made.facts["signingSecret"])
    second = made.shop.other_key()

    assert first.sale(affiliateSlug=made.facts["affiliateSlug"]).status_code == 200
    refused = second.sale(affiliateSlug=made.facts["gatewayAffiliateSlug"])
    assert (refused.status_code, refused.json["error"]) == (409, "stripe_connect_active")


def test_a_payment_that_names_nobody_we_know_is_no_conversion(made):
    made.json("demo-gateway", "pay", "--affiliate", "nobody-here", "--cents", "1200")
    made.hear(*_STARTED)

    assert _conversions(made) == {}
    assert ("invoice.paid", "nobody_referred") in made.shop.rows("select type, reason from gateway_event")


def test_referral_written_after_the_checkout_credits_the_payment(made):
    paid = made.json("demo-gateway", "pay", "--affiliate", "nobody-here")
    made.hear(*_STARTED)
    assert _conversions(made) == {}
    referred = made.json("demo-gateway", "refer")
    made.hear(*_STARTED, "customer.subscription.updated")

    assert (referred["subscription"], referred["metadata"]["affiliate_slug"]) == (paid["subscription"], "nora")
    assert _conversions(made) == {paid["invoice"]: (4_900, 1_470, "OneTime")}


def test_a_person_is_told_what_happened_and_what_to_do_next(made):
    code, said = made.flask("demo-gateway", "pay")
    made.hear(*_STARTED)
    subscription = next(word for word in said.split() if word.startswith("sub_")).strip(",")

    assert code == 0
    assert said.startswith(f"4900 cents paid for {subscription}, whose metadata says affiliate_slug=nora\n")
    assert f".venv/bin/flask demo-gateway renew {subscription}\n" in said
    assert f"DATA_DIR={settings.current().servers.data_dir} PORT=" in said
    code, said = made.flask("demo-gateway", "refund")
    assert (code, said.startswith("4900 cents of ch_")) == (0, True)
    made.hear(*_STARTED, "charge.refunded")
    assert wait_until(lambda: len(made.said) == 4, timeout_s=_PATIENCE_S)  # by who has read that it was taken
    assert [line.split(" of ")[0] for line in made.said] == [*_STARTED, "charge.refunded"]
    assert all(line.endswith(": accepted") for line in made.said)


def test_an_operator_asks_the_gateway_that_is_played(made):
    (listed,) = made.json("connection", "list", "--org", made.facts["gatewayOrganizationId"])

    assert made.json("connection", "check", listed["id"])["refusal"] is None


def test_the_gateway_remembers_over_a_restart_and_finds_the_service_on_another_port(demo):
    demo.make()
    with demo.up():
        paid = demo.json("demo-gateway", "pay")
        demo.hear(*_STARTED)
    demo.move()
    demo.make()
    with demo.up():
        demo.json("demo-gateway", "refund", paid["charge"], "--cents", "900")
        demo.hear(*_STARTED, "charge.refunded")

    assert _conversions(demo) == {paid["invoice"]: (4_900, 1_200, "OneTime")}


def test_an_event_that_nobody_takes_is_sent_again(demo):
    demo.make()
    with demo.playing():
        demo.json("demo-gateway", "pay")
        with serve_app(demo.app, port=settings.current().web.port):
            demo.hear(*_STARTED)

    assert [row[0] for row in _conversions(demo).values()] == [4_900]


def test_what_was_not_taken_by_the_end_is_not_sent_any_more(demo):
    demo.make()
    with demo.playing():  # nobody listens where the service would be
        demo.json("demo-gateway", "pay")

    assert server.SENDER not in {thread.name for thread in threading.enumerate()}
    assert all(": not accepted (" in line for line in demo.said)


def test_what_was_never_taken_is_found_by_a_reconcile(demo, monkeypatch):
    monkeypatch.setattr(server, "_PAUSES_S", (0.0,))
    demo.make()
    with demo.playing():  # nobody listens where the service would be
        paid = demo.json("demo-gateway", "pay")
        (listed,) = demo.json("connection", "list", "--org", demo.facts["gatewayOrganizationId"])

        assert demo.json("connection", "reconcile", listed["id"], "--since", "1h")["new"] == 3

        demo.hear(*_STARTED)
    assert _conversions(demo) == {paid["invoice"]: (4_900, 1_470, "OneTime")}
