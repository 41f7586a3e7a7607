"""The affiliate that a gateway's payment credits, by the six steps: referral, customer history, codes, leads."""

import pytest

from tests.support.gateways.card.paypal import sign
from tests.support.gateways.stage import Purchase

STEPS = ["coupon_override", "carried_referral", "customer_history", "coupon", "email_match", "platform_lookup"]
_METHOD = "attribution_method"


def _build_checkout_session(shop, *, slug="jane", customer="1"):
    """Return a subscription's checkout session, which names the affiliate; its invoice does not."""
    session = {
        "id": f"cs_{shop.stage.number()}",
        "object": "checkout.session",
        "mode": "subscription",
        "payment_status": "paid",
        "client_reference_id": slug,
        "customer": f"cus_{customer}",
        "subscription": f"sub_{customer}",
        "livemode": True,
    }
    return shop.build_stripe_event("checkout.session.completed", session)


def test_payment_becomes_a_conversion_of_the_named_affiliate(shop):
    sale = shop.sell(cents=10_890)
    assert shop.conversions("external_event_id, amount_cents, commission_cents, type, attribution_method, status") == [
        (sale.id, 10_890, 2_178, "OneTime", "metadata_or_customer", "Pending")
    ]
    assert shop.events() == [("invoice.paid", "Processed", None), ("invoice_payment.paid", "Processed", None)]


def test_repeated_events_in_any_order_count_once(shop):
    first = shop.stage.pay(Purchase())
    renewal = shop.stage.pay(Purchase(renews=first))
    notifications = [*first.notifications, *renewal.notifications]
    shop.receive(*reversed(notifications), *notifications)
    shop.receive(*notifications)

    assert {row[0] for row in shop.conversions()} == {first.id, renewal.id}
    assert len(shop.conversions()) == 2
    assert {status for (status,) in shop.events("status")} == {"Processed"}


def test_payment_without_referral_is_stored_without_a_conversion(shop):
    shop.sell(slug=None)
    assert shop.conversions() == []
    assert shop.events()[0] == ("invoice.paid", "Processed", "nobody_referred")
    assert shop.brand.get("/api/v1/uncredited-conversions").json == []


def test_later_payment_of_the_customer_is_credited_by_history(shop):
    first = shop.sell()
    shop.sell(slug=None, renews=first)
    assert shop.conversions("type, attribution_method") == [
        ("OneTime", "metadata_or_customer"),
        ("Recurring", "stripe_customer_history"),
    ]


def test_customer_with_a_new_id_is_recognized_by_email(shop):
    shop.sell(email="ann@example.com")
    shop.sell(slug=None, customer="2", email="Ann+shop@Example.com")
    assert shop.conversions(_METHOD)[1:] == [("stripe_customer_history",)]


def test_test_sales_and_denied_sales_are_no_history(shop):
    shop.sell(is_test=True)
    shop.sell(slug=None)
    shop.sell(customer="2", email="bob@example.com")
    for (conversion_id,) in shop.conversions("id"):
        response = shop.brand.person("Owner").post(f"/api/conversions/{conversion_id}/deny", {"reason": "theirs"})
        assert response.status_code == 200
    shop.sell(slug=None, customer="2", email="bob@example.com")
    assert len(shop.conversions()) == 2


@pytest.mark.parametrize("stage", ["paypal"], indirect=True)
def test_paypal_renewal_is_recognized_by_its_subscription(shop):
    hook = next(path for path in reversed(shop.stage.objects) if "/webhooks/" in path).rsplit("/", 1)[1]
    order = shop.stage.pay(Purchase())
    first = shop.stage.pay(Purchase(renews=order))
    shop.receive(*(sign(notification.body, hook) for notification in first.notifications))
    renewal = shop.stage.pay(Purchase(slug=None, renews=order))
    shop.change("update gateway_payment set customer_id = null, email_normalized = null")
    shop.receive(*(sign(notification.body, hook) for notification in renewal.notifications))
    assert shop.conversions(_METHOD)[1:] == [("paypal_subscription_history",)]


def test_referral_delivered_before_the_payment_credits_it(shop):
    shop.receive(_build_checkout_session(shop))
    shop.sell(slug=None)
    assert shop.conversions(_METHOD) == [("stripe_reference_id",)]


def test_referral_delivered_after_the_payment_credits_it_once(shop):
    sale = shop.sell(slug=None, cents=10_000)
    shop.receive(*shop.stage.refund(sale, 4_000), *shop.stage.dispute(sale, "opened"))
    assert shop.conversions() == []
    session = _build_checkout_session(shop)
    shop.receive(session, session)
    assert shop.conversions(f"{_METHOD}, refunded_cents, reversed_cents, disputed_at is null") == [
        ("stripe_reference_id", 4_000, 800, False)
    ]
    assert [event[1:] for event in shop.events() if event[0] == "invoice.paid"] == [("Processed", None)]


def test_newest_referral_by_the_gateways_clock_counts_in_any_arrival_order(shop):
    rob = shop.brand.affiliate("rob")
    earlier = _build_checkout_session(shop, slug="jane")
    shop.advance_clock()
    shop.receive(_build_checkout_session(shop, slug="rob"), earlier)
    shop.sell(slug=None)
    assert shop.conversions("affiliate_id") == [(rob,)]


def test_payments_own_referral_precedes_a_separate_one(shop):
    shop.brand.affiliate("rob")
    shop.receive(_build_checkout_session(shop, slug="rob"))
    shop.sell(slug="jane")
    assert shop.conversions(_METHOD) == [("metadata_or_customer",)]


@pytest.mark.parametrize("status", ["Paused", "Banned", "Pending"])
def test_payment_for_inactive_affiliate_is_listed_as_uncredited(shop, status):
    shop.change("update affiliate set status = %s", status)
    sale = shop.sell(cents=10_000)
    shop.receive(*shop.stage.refund(sale, 4_000))
    assert shop.conversions() == []
    assert shop.events()[0] == ("invoice.paid", "Processed", "affiliate_not_active")
    assert len(shop.brand.get("/api/v1/uncredited-conversions").json) == 1
    assert shop.brand.rows(
        "select external_event_id, amount_cents, affiliate_status_at_drop from uncredited_conversion"
    ) == [(sale.id, 10_000, status)]


@pytest.mark.parametrize("closing", ["is_active = false", "archived_at = now()", "suspended_at = now()"])
def test_closed_campaign_credits_no_one(shop, closing):
    shop.change(f"update program set {closing}")
    shop.sell()
    assert shop.conversions() == []
    assert shop.events()[0] == ("invoice.paid", "Processed", "no_active_program")
    assert shop.brand.get("/api/v1/uncredited-conversions").json == []


@pytest.mark.parametrize(("stage", "credited"), [("stripe", 1), ("paddle", 0)], indirect=["stage"])
def test_affiliates_own_lead_credits_them_only_at_gateways_with_self_referral(shop, credited):
    ((email,),) = shop.brand.rows("select email from affiliate")
    shop.receive(*shop.stage.start_trial(Purchase(cents=0, email=email)))
    assert shop.brand.rows("select count(*) from lead") == [(1,)]
    shop.sell(slug=None, email=email, customer="2")
    assert shop.conversions(_METHOD) == [("self_referral",)] * credited


def test_attribution_log_shows_the_six_steps(shop):
    first = shop.sell()
    shop.sell(slug=None, renews=first)
    logs = [
        shop.brand.get(f"/api/v1/conversions/{conversion_id}/attribution").json
        for (conversion_id,) in shop.conversions("id")
    ]
    assert [[step["step"] for step in log["steps"]] for log in logs] == [STEPS, STEPS]
    assert [[step["outcome"] for step in log["steps"]].index("matched") for log in logs] == [1, 2]
    assert [log["attributionMethod"] for log in logs] == ["metadata_or_customer", "stripe_customer_history"]


def test_sub_id_is_stored_on_the_conversion(shop):
    sale = shop.stage.pay(Purchase())
    shop.receive(shop.replace_fields(sale.notifications[0], metadata={"affiliate_slug": "jane", "sub_id": "news-may"}))
    assert shop.conversions("sub_id") == [("news-may",)]


@pytest.mark.parametrize("slug", ["Jane", "JANE", " jane "])
def test_slug_credits_in_any_letter_case(shop, slug):
    shop.sell(slug=slug)
    assert shop.conversions(_METHOD) == [("metadata_or_customer",)]
