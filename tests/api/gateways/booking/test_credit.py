"""Whom a gateway's payment credits, by the six steps: what it names, who its customer was of, codes, leads."""

import pytest

from tests.support.gateways.card.paypal import sign
from tests.support.gateways.stage import Purchase

STEPS = ["coupon_override", "carried_referral", "customer_history", "coupon", "email_match", "platform_lookup"]
_METHOD = "attribution_method"


def _session(shop, *, slug="jane", customer="1"):
    """Return a checkout session of a subscription: it names who referred, its invoice does not."""
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
    return shop.event("checkout.session.completed", session)


def test_a_payment_becomes_a_conversion_of_whom_it_names(shop):
    sale = shop.sell(cents=10_890)
    assert shop.conversions("external_event_id, amount_cents, commission_cents, type, attribution_method, status") == [
        (sale.id, 10_890, 2_178, "OneTime", "metadata_or_customer", "Pending")
    ]
    assert shop.events() == [("invoice.paid", "Processed", None), ("invoice_payment.paid", "Processed", None)]


def test_whatever_comes_again_and_in_whatever_order_is_counted_once(shop):
    first = shop.stage.pay(Purchase())
    again = shop.stage.pay(Purchase(renews=first))
    sent = [*first.notifications, *again.notifications]
    shop.hear(*reversed(sent), *sent)
    shop.hear(*sent)

    assert {row[0] for row in shop.conversions()} == {first.id, again.id}
    assert len(shop.conversions()) == 2
    assert {status for (status,) in shop.events("status")} == {"Processed"}


def test_a_payment_that_names_nobody_is_kept_without_a_conversion(shop):
    shop.sell(slug=None)
    assert shop.conversions() == []
    assert shop.events()[0] == ("invoice.paid", "Processed", "nobody_referred")
    assert shop.brand.get("/api/v1/uncredited-conversions").json == []


def test_a_later_payment_of_the_same_customer_is_credited_by_their_history(shop):
    first = shop.sell()
    shop.sell(slug=None, renews=first)
    assert shop.conversions("type, attribution_method") == [
        ("OneTime", "metadata_or_customer"),
        ("Recurring", "stripe_customer_history"),
    ]


def test_a_customer_who_has_a_new_id_is_known_by_the_inbox_of_their_email(shop):
    shop.sell(email="ann@example.com")
    shop.sell(slug=None, customer="2", email="Ann+shop@Example.com")
    assert shop.conversions(_METHOD)[1:] == [("stripe_customer_history",)]


def test_neither_rehearsals_nor_denied_sales_are_history(shop):
    shop.sell(is_test=True)
    shop.sell(slug=None)
    shop.sell(customer="2", email="bob@example.com")
    for (conversion_id,) in shop.conversions("id"):
        answer = shop.brand.person("Owner").post(f"/api/conversions/{conversion_id}/deny", {"reason": "theirs"})
        assert answer.status_code == 200
    shop.sell(slug=None, customer="2", email="bob@example.com")
    assert len(shop.conversions()) == 2


@pytest.mark.parametrize("stage", ["paypal"], indirect=True)
def test_a_renewal_at_paypal_is_known_by_its_subscription(shop):
    hook = next(path for path in reversed(shop.stage.objects) if "/webhooks/" in path).rsplit("/", 1)[1]
    opened = shop.stage.pay(Purchase())
    first = shop.stage.pay(Purchase(renews=opened))
    shop.hear(*(sign(sent.body, hook) for sent in first.notifications))
    again = shop.stage.pay(Purchase(slug=None, renews=opened))
    shop.change("update gateway_payment set customer_id = null, email_normalized = null")
    shop.hear(*(sign(sent.body, hook) for sent in again.notifications))
    assert shop.conversions(_METHOD)[1:] == [("paypal_subscription_history",)]


def test_a_referral_that_is_told_before_the_payment_counts_for_it(shop):
    shop.hear(_session(shop))
    shop.sell(slug=None)
    assert shop.conversions(_METHOD) == [("stripe_reference_id",)]


def test_a_referral_that_is_told_after_the_payment_counts_for_it_once(shop):
    sale = shop.sell(slug=None, cents=10_000)
    shop.hear(*shop.stage.refund(sale, 4_000), *shop.stage.dispute(sale, "opened"))
    assert shop.conversions() == []
    session = _session(shop)
    shop.hear(session, session)
    assert shop.conversions(f"{_METHOD}, refunded_cents, reversed_cents, disputed_at is null") == [
        ("stripe_reference_id", 4_000, 800, False)
    ]
    assert [event[1:] for event in shop.events() if event[0] == "invoice.paid"] == [("Processed", None)]


def test_of_two_referrals_the_later_by_the_gateways_time_counts_also_where_it_comes_first(shop):
    rob = shop.brand.affiliate("rob")
    earlier = _session(shop, slug="jane")
    shop.wait()
    shop.hear(_session(shop, slug="rob"), earlier)
    shop.sell(slug=None)
    assert shop.conversions("affiliate_id") == [(rob,)]


def test_what_a_payment_names_counts_before_what_was_told_apart(shop):
    shop.brand.affiliate("rob")
    shop.hear(_session(shop, slug="rob"))
    shop.sell(slug="jane")
    assert shop.conversions(_METHOD) == [("metadata_or_customer",)]


@pytest.mark.parametrize("status", ["Paused", "Banned", "Pending"])
def test_a_payment_for_an_affiliate_who_cannot_earn_is_an_uncredited_row(shop, status):
    shop.change("update affiliate set status = %s", status)
    sale = shop.sell(cents=10_000)
    shop.hear(*shop.stage.refund(sale, 4_000))
    assert shop.conversions() == []
    assert shop.events()[0] == ("invoice.paid", "Processed", "affiliate_not_active")
    assert len(shop.brand.get("/api/v1/uncredited-conversions").json) == 1
    assert shop.brand.rows(
        "select external_event_id, amount_cents, affiliate_status_at_drop from uncredited_conversion"
    ) == [(sale.id, 10_000, status)]


@pytest.mark.parametrize("closing", ["is_active = false", "archived_at = now()", "suspended_at = now()"])
def test_a_campaign_that_is_closed_is_not_asked(shop, closing):
    shop.change(f"update program set {closing}")
    shop.sell()
    assert shop.conversions() == []
    assert shop.events()[0] == ("invoice.paid", "Processed", "no_active_program")
    assert shop.brand.get("/api/v1/uncredited-conversions").json == []


@pytest.mark.parametrize(("stage", "credited"), [("stripe", 1), ("paddle", 0)], indirect=["stage"])
def test_an_affiliates_own_lead_credits_them_where_the_gateway_is_one_that_goes_on_doing_so(shop, credited):
    ((email,),) = shop.brand.rows("select email from affiliate")
    shop.hear(*shop.stage.start_trial(Purchase(cents=0, email=email)))
    assert shop.brand.rows("select count(*) from lead") == [(1,)]
    shop.sell(slug=None, email=email, customer="2")
    assert shop.conversions(_METHOD) == [("self_referral",)] * credited


def test_the_log_of_a_decision_shows_the_six_steps(shop):
    first = shop.sell()
    shop.sell(slug=None, renews=first)
    shown = [
        shop.brand.get(f"/api/v1/conversions/{conversion_id}/attribution").json
        for (conversion_id,) in shop.conversions("id")
    ]
    assert [[step["step"] for step in each["steps"]] for each in shown] == [STEPS, STEPS]
    assert [[step["outcome"] for step in each["steps"]].index("matched") for each in shown] == [1, 2]
    assert [each["attributionMethod"] for each in shown] == ["metadata_or_customer", "stripe_customer_history"]


def test_the_channel_tag_is_kept(shop):
    sale = shop.stage.pay(Purchase())
    shop.hear(shop.changed(sale.notifications[0], metadata={"affiliate_slug": "jane", "sub_id": "news-may"}))
    assert shop.conversions("sub_id") == [("news-may",)]


@pytest.mark.parametrize("slug", ["Jane", "JANE", " jane "])
def test_a_slug_counts_in_any_case(shop, slug):
    shop.sell(slug=slug)
    assert shop.conversions(_METHOD) == [("metadata_or_customer",)]
