"""Attribution by checkout doors. Source: tracking spec, "Attribution method taxonomy" (Checkout door), section 8."""

from datetime import UTC, datetime, timedelta

import pytest

from adapters.fraud import human_check
from tests.support.api.doors import PAY, create_door_program, submit_door_form, visit_door
from tests.support.coupons import create_coupon, mint_code
from tests.support.gateways.stage import Purchase

_ANN = "ann@example.com"


@pytest.fixture(autouse=True)
def _no_minimum_filling_time(monkeypatch):
    monkeypatch.setattr(human_check, "MIN_FILLING_S", 0)


@pytest.fixture
def submit_at_door(shop):
    """Open the checkout door of jane's campaign in email mode; return a function that submits an email at it."""
    shop.stage.now = datetime.now(UTC).replace(microsecond=0)
    _open_door(shop, "email")

    def submit_email(email=_ANN, slug="jane", *, days_ago=0):
        assert submit_door_form(shop.brand, slug, email).status_code == 303
        _age_visits(shop, slug, days_ago)

    return submit_email


def _open_door(shop, mode):
    shop.change(
        "update program set hosted_checkout_door_enabled = true, hosted_checkout_door_mode = %s,"
        " referral_destination_url = %s",
        mode,
        PAY,
    )


def _age_visits(shop, slug, days):
    ago = timedelta(days=days)
    shop.change(
        "update door_visit set first_at = first_at - %s, last_at = last_at - %s, expires_at = expires_at - %s"
        " where slug = %s",
        ago,
        ago,
        ago,
        slug,
    )


def _list_credits(shop):
    """Return the slug and the attribution method of each conversion."""
    return shop.brand.rows(
        "select l.slug, c.attribution_method from conversion c join tracking_link l on l.affiliate_id = c.affiliate_id"
        " order by c.occurred_at, c.created_at"
    )


def _get_email_step(shop):
    ((conversion_id,), *_) = shop.conversions("id")
    steps = shop.brand.get(f"/api/v1/conversions/{conversion_id}/attribution").json["steps"]
    assert len(steps) == 6
    return next(step for step in steps if step["step"] == "email_match")


def test_payment_without_referral_credits_the_door_of_its_email(shop, submit_at_door):
    submit_at_door("Ann+x@Example.com")
    shop.sell(slug=None)

    assert _list_credits(shop) == [("jane", "checkout_door")]
    step = _get_email_step(shop)
    assert (step["outcome"], step["code"]) == ("matched", "door_matched")
    assert step["detail"].startswith("The buyer gave this email at the affiliate's checkout door")
    (data,) = shop.list_webhook_data("conversion.created")
    assert data["attributionMethod"] == "checkout_door"


def test_another_email_credits_no_one(shop, submit_at_door):
    submit_at_door("bob@example.com")
    shop.sell(slug=None)
    assert shop.conversions() == []


@pytest.mark.parametrize(("days", "count"), [(29, 1), (31, 0), (-1, 0)])
def test_door_email_counts_within_the_cookie_window(shop, submit_at_door, days, count):
    submit_at_door(days_ago=days)
    shop.sell(slug=None)
    assert len(shop.conversions()) == count


def test_repeated_door_visit_continues_within_the_window_and_restarts_after(shop, submit_at_door):
    submit_at_door(days_ago=20)
    submit_at_door()
    assert shop.brand.rows("select last_at - first_at > interval '19 days' from door_visit") == [(True,)]
    _age_visits(shop, "jane", 40)
    submit_at_door()
    assert shop.brand.rows("select last_at = first_at from door_visit") == [(True,)]


def test_newest_door_visit_counts(shop, submit_at_door):
    shop.brand.affiliate("rob")
    submit_at_door(slug="rob")
    submit_at_door(slug="jane", days_ago=3)
    shop.sell(slug=None)
    assert _list_credits(shop) == [("rob", "checkout_door")]


def test_door_precedes_a_lead_and_converts_the_affiliates_lead(shop, submit_at_door):
    shop.receive(*shop.stage.start_trial(Purchase(cents=0, customer="7")))
    shop.advance_clock()
    submit_at_door()
    shop.sell(slug=None, customer="8")
    assert _list_credits(shop) == [("jane", "lead_signup"), ("jane", "checkout_door")]
    assert shop.brand.rows("select state from lead") == [("Converted",)]


def test_lead_of_another_affiliate_stays_open(shop, submit_at_door):
    shop.brand.affiliate("rob")
    shop.receive(*shop.stage.start_trial(Purchase(cents=0, slug="rob", customer="7")))
    shop.advance_clock()
    submit_at_door()
    shop.sell(slug=None, customer="8")
    assert _list_credits(shop)[-1] == ("jane", "checkout_door")
    assert shop.brand.rows("select state from lead") == [("Open",)]


def test_payments_slug_precedes_the_door(shop, submit_at_door):
    shop.brand.affiliate("rob")
    submit_at_door(slug="rob")
    shop.sell(slug="jane")
    assert _list_credits(shop) == [("jane", "metadata_or_customer")]
    assert _get_email_step(shop)["code"] == "decided_earlier"


def test_customer_history_precedes_the_door(shop, submit_at_door):
    first = shop.sell(slug="jane")
    shop.brand.affiliate("rob")
    submit_at_door(slug="rob")
    shop.sell(slug=None, renews=first)
    assert _list_credits(shop)[-1] == ("jane", "stripe_customer_history")


def test_code_precedes_the_door(shop, submit_at_door):
    rob = shop.brand.affiliate("rob")
    mint_code(shop.brand, rob, create_coupon(shop.brand, overridesClickAttribution=False)["id"], "ROB-10")
    submit_at_door()
    shop.sell(slug=None, code="ROB-10")
    assert _list_credits(shop) == [("rob", "coupon")]


@pytest.mark.parametrize(("stage", "count"), [("stripe", 1), ("paddle", 0)], indirect=["stage"])
def test_affiliates_own_email_at_their_door_counts_like_their_own_lead(shop, submit_at_door, count):
    submit_at_door("jane@example.com")
    shop.sell(slug=None, email="jane@example.com")
    assert len(shop.conversions()) == count


def test_door_of_paused_affiliate_lists_the_sale_as_uncredited(shop, submit_at_door):
    submit_at_door()
    shop.change("update affiliate set status = 'Paused'")
    shop.sell(slug=None)
    assert shop.conversions() == []
    assert shop.brand.rows("select affiliate_status_at_drop from uncredited_conversion") == [("Paused",)]


def test_email_at_another_brands_door_credits_no_one(shop, submit_at_door, rival):
    assert submit_door_form(rival, create_door_program(rival, mode="email"), _ANN).status_code == 303
    shop.sell(slug=None)
    assert shop.conversions() == []


def test_test_payment_credits_as_test_and_test_door_credits_no_live_payment(shop, submit_at_door):
    submit_at_door()
    shop.sell(slug=None, is_test=True)
    assert shop.conversions("is_test, attribution_method") == [(True, "checkout_door")]
    shop.change("update door_visit set is_test = true")
    shop.sell(slug=None, customer="2")
    assert len(shop.conversions()) == 1
    shop.sell(slug=None, customer="3", is_test=True)
    assert len(shop.conversions()) == 2


@pytest.mark.parametrize(
    ("days", "method"),
    [(0, "checkout_door"), (29, "checkout_door"), (31, "metadata_or_customer"), (-1, "metadata_or_customer")],
)
def test_slug_visited_at_the_door_has_its_method_within_the_window(shop, submit_at_door, days, method):
    _open_door(shop, "redirect")
    visit_door(shop.brand, "jane")
    _age_visits(shop, "jane", days)
    shop.sell(slug="jane")
    assert _list_credits(shop) == [("jane", method)]


def test_slug_not_visited_at_the_door_has_the_payments_method(shop, submit_at_door):
    _open_door(shop, "redirect")
    visit_door(shop.brand, "jane")
    shop.brand.affiliate("rob")
    shop.sell(slug="rob")
    assert _list_credits(shop) == [("rob", "metadata_or_customer")]


def test_log_of_slug_visited_at_the_door_shows_the_payments_referral(shop, submit_at_door):
    _open_door(shop, "redirect")
    visit_door(shop.brand, "jane")
    shop.sell(slug="jane")
    ((conversion_id,),) = shop.conversions("id")
    log = shop.brand.get(f"/api/v1/conversions/{conversion_id}/attribution").json
    assert log["attributionMethod"] == "checkout_door"
    assert [step["code"] for step in log["steps"] if step["outcome"] == "matched"] == ["referral_carried"]
