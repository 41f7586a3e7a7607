"""Whom a checkout door credits. Source: tracking spec, "Attribution method taxonomy" (Checkout door), section 8."""

from datetime import UTC, datetime, timedelta

import pytest

from adapters.fraud import human_check
from tests.support.api.doors import PAY, create_door_program, submit_door_form, visit_door
from tests.support.coupons import create_coupon, mint_code
from tests.support.gateways.stage import Purchase

_ANN = "ann@example.com"


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(human_check, "MIN_FILLING_S", 0)


@pytest.fixture
def door(shop):
    """Open the door of jane's campaign, which asks for the email; returns how to give one at it."""
    shop.stage.now = datetime.now(UTC).replace(microsecond=0)
    _open(shop, "email")

    def pass_through(email=_ANN, slug="jane", *, days_ago=0):
        assert submit_door_form(shop.brand, slug, email).status_code == 303
        _age(shop, slug, days_ago)

    return pass_through


def _open(shop, mode):
    shop.change(
        "update program set hosted_checkout_door_enabled = true, hosted_checkout_door_mode = %s,"
        " referral_destination_url = %s",
        mode,
        PAY,
    )


def _age(shop, slug, days):
    ago = timedelta(days=days)
    shop.change(
        "update door_visit set first_at = first_at - %s, last_at = last_at - %s, expires_at = expires_at - %s"
        " where slug = %s",
        ago,
        ago,
        ago,
        slug,
    )


def _credited(shop):
    """Return the slug and the method of each conversion."""
    return shop.brand.rows(
        "select l.slug, c.attribution_method from conversion c join tracking_link l on l.affiliate_id = c.affiliate_id"
        " order by c.occurred_at, c.created_at"
    )


def _email_step(shop):
    ((conversion_id,), *_) = shop.conversions("id")
    steps = shop.brand.get(f"/api/v1/conversions/{conversion_id}/attribution").json["steps"]
    assert len(steps) == 6
    return next(step for step in steps if step["step"] == "email_match")


def test_a_payment_that_names_nobody_is_of_whose_door_its_email_was_given_at(shop, door):
    door("Ann+x@Example.com")
    shop.sell(slug=None)

    assert _credited(shop) == [("jane", "checkout_door")]
    step = _email_step(shop)
    assert (step["outcome"], step["code"]) == ("matched", "door_matched")
    assert step["detail"].startswith("The buyer gave this email at the affiliate's checkout door")
    (told,) = shop.told("conversion.created")
    assert told["attributionMethod"] == "checkout_door"


def test_another_email_credits_nobody(shop, door):
    door("bob@example.com")
    shop.sell(slug=None)
    assert shop.conversions() == []


@pytest.mark.parametrize(("days", "number"), [(29, 1), (31, 0), (-1, 0)])
def test_an_email_counts_for_the_cookie_window_and_not_before_it_was_given(shop, door, days, number):
    door(days_ago=days)
    shop.sell(slug=None)
    assert len(shop.conversions()) == number


def test_who_comes_again_after_the_window_is_new_and_within_it_goes_on(shop, door):
    door(days_ago=20)
    door()
    assert shop.brand.rows("select last_at - first_at > interval '19 days' from door_visit") == [(True,)]
    _age(shop, "jane", 40)
    door()
    assert shop.brand.rows("select last_at = first_at from door_visit") == [(True,)]


def test_the_newest_door_counts(shop, door):
    shop.brand.affiliate("rob")
    door(slug="rob")
    door(slug="jane", days_ago=3)
    shop.sell(slug=None)
    assert _credited(shop) == [("rob", "checkout_door")]


def test_a_door_counts_before_a_lead_and_the_lead_of_the_same_person_is_converted(shop, door):
    shop.hear(*shop.stage.start_trial(Purchase(cents=0, customer="7")))
    shop.wait()
    door()
    shop.sell(slug=None, customer="8")
    assert _credited(shop) == [("jane", "lead_signup"), ("jane", "checkout_door")]
    assert shop.brand.rows("select state from lead") == [("Converted",)]


def test_a_lead_of_another_affiliate_stays_open(shop, door):
    shop.brand.affiliate("rob")
    shop.hear(*shop.stage.start_trial(Purchase(cents=0, slug="rob", customer="7")))
    shop.wait()
    door()
    shop.sell(slug=None, customer="8")
    assert _credited(shop)[-1] == ("jane", "checkout_door")
    assert shop.brand.rows("select state from lead") == [("Open",)]


def test_what_the_payment_names_comes_before_the_door(shop, door):
    shop.brand.affiliate("rob")
    door(slug="rob")
    shop.sell(slug="jane")
    assert _credited(shop) == [("jane", "metadata_or_customer")]
    assert _email_step(shop)["code"] == "decided_earlier"


def test_customer_history_comes_before_the_door(shop, door):
    first = shop.sell(slug="jane")
    shop.brand.affiliate("rob")
    door(slug="rob")
    shop.sell(slug=None, renews=first)
    assert _credited(shop)[-1] == ("jane", "stripe_customer_history")


def test_a_code_comes_before_the_door(shop, door):
    rob = shop.brand.affiliate("rob")
    mint_code(shop.brand, rob, create_coupon(shop.brand, overridesClickAttribution=False)["id"], "ROB-10")
    door()
    shop.sell(slug=None, code="ROB-10")
    assert _credited(shop) == [("rob", "coupon")]


@pytest.mark.parametrize(("stage", "number"), [("stripe", 1), ("paddle", 0)], indirect=["stage"])
def test_an_affiliates_own_email_at_their_own_door_is_as_with_their_own_lead(shop, door, number):
    door("jane@example.com")
    shop.sell(slug=None, email="jane@example.com")
    assert len(shop.conversions()) == number


def test_an_affiliate_who_is_not_active_any_more_is_an_uncredited_row(shop, door):
    door()
    shop.change("update affiliate set status = 'Paused'")
    shop.sell(slug=None)
    assert shop.conversions() == []
    assert shop.brand.rows("select affiliate_status_at_drop from uncredited_conversion") == [("Paused",)]


def test_the_email_of_another_brands_buyer_says_nothing(shop, door, rival):
    assert submit_door_form(rival, create_door_program(rival, mode="email"), _ANN).status_code == 303
    shop.sell(slug=None)
    assert shop.conversions() == []


def test_a_rehearsed_payment_is_credited_as_one_and_a_test_affiliates_door_credits_no_money(shop, door):
    door()
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
def test_a_slug_that_came_through_the_door_has_its_method_within_the_window(shop, door, days, method):
    _open(shop, "redirect")
    visit_door(shop.brand, "jane")
    _age(shop, "jane", days)
    shop.sell(slug="jane")
    assert _credited(shop) == [("jane", method)]


def test_a_slug_of_another_affiliate_did_not_come_through_the_door(shop, door):
    _open(shop, "redirect")
    visit_door(shop.brand, "jane")
    shop.brand.affiliate("rob")
    shop.sell(slug="rob")
    assert _credited(shop) == [("rob", "metadata_or_customer")]


def test_the_log_of_a_slug_that_came_through_the_door_says_that_the_payment_names_it(shop, door):
    _open(shop, "redirect")
    visit_door(shop.brand, "jane")
    shop.sell(slug="jane")
    ((conversion_id,),) = shop.conversions("id")
    shown = shop.brand.get(f"/api/v1/conversions/{conversion_id}/attribution").json
    assert shown["attributionMethod"] == "checkout_door"
    assert [step["code"] for step in shown["steps"] if step["outcome"] == "matched"] == ["referral_carried"]
