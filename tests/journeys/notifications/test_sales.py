"""People of a brand are notified of the first sale and of large ones, each once."""

from decimal import Decimal

import pytest

from domain.money.valuation import PublishedRate
from models import db
from models.money import fx_rates
from tests.journeys.notifications.feed import end_digests, list_emails, list_notifications, list_titles
from tests.support.databases import run_for_all_tenants


@pytest.fixture
def shop(brand):
    brand.program()
    brand.affiliate("ben", full_name="Ben Osei")
    return brand


def _store_rate(currency, per_usd):
    with db.any_org_work():
        ((today,),) = db.db.run("select (now() at time zone 'UTC')::date")
        fx_rates.upsert([PublishedRate(currency, today, Decimal(per_usd))])


def test_first_sale_is_notified_once_with_its_figure(office, shop, drain):
    owner = shop.person("Owner")
    shop.sale(amountCents=4_900)
    drain()
    shop.sale(amountCents=5_000)
    drain(deliveries=2)

    assert list_titles(owner) == ["First sale: 49.00 USD via Ben Osei"]
    ((_, recipient, subject),) = list_emails(shop)
    assert (recipient, subject) == ("owner@example.com", "First sale: 49.00 USD via Ben Osei")
    assert shop.rows("select first_sale_at is not null from organization") == [(True,)]


def test_first_sale_that_is_settled_after_a_later_one_is_notified(office, shop, drain):
    owner = shop.person("Owner")
    shop.sale(amountCents=1_000)
    shop.sale(amountCents=2_000)
    drain("sales")
    later = "(select id from conversion order by created_at desc, id desc limit 1)"
    later_first = f"case when args->>'conversion_id' = {later}::text then now() - interval '1 hour' else now() end"
    with db.any_org_work():
        db.db.run(f"update job set run_at = {later_first} where name = 'notification.sale' returning 1")
    drain()

    assert list_titles(owner) == ["First sale: 10.00 USD via Ben Osei"]


def test_brand_with_old_sales_has_had_its_first(office, shop, drain):
    owner = shop.person("Owner")
    shop.sale()
    drain("sales")
    with db.any_org_work():
        db.db.run("delete from job where name = 'notification.sale' returning 1")
    run_for_all_tenants("update conversion set created_at = created_at - interval '31 days'")
    shop.sale()
    drain()

    assert list_titles(owner) == []
    assert shop.rows("select first_sale_at is not null from organization") == [(True,)]


@pytest.mark.parametrize("is_first", [True, False])
def test_test_sale_notifies_no_one(office, shop, drain, is_first):
    if not is_first:
        shop.skip_first_sale()
    shop.other_key(is_test=True).sale(amountCents=9_000_000)
    end_digests(drain)

    assert list_notifications(shop.person("Owner"))["items"] == []


def test_denied_self_referral_notifies_no_one(office, shop, drain):
    owner = shop.person("Owner")
    assert owner.call("PATCH", "/api/organizations/me", {"selfReferrals": "deny"}).status_code == 200
    shop.sale(customerEmail="ben@example.com")
    drain()

    assert list_titles(owner) == []


def test_sale_that_was_denied_before_its_notification_notifies_no_one(office, shop, drain):
    owner = shop.person("Owner")
    shop.sale(amountCents=4_900)
    drain("sales")
    ((conversion_id,),) = shop.rows("select id from conversion")
    assert owner.post(f"/api/conversions/{conversion_id}/deny").status_code == 200
    drain()
    assert list_titles(owner) == []
    shop.sale(amountCents=5_000)
    drain()

    assert list_titles(owner) == ["First sale: 50.00 USD via Ben Osei"]


@pytest.mark.parametrize(("cents", "is_large"), [(99_999, False), (100_000, True)])
def test_default_amount_of_a_large_sale_is_1000_usd(office, shop, drain, cents, is_large):
    shop.skip_first_sale()
    shop.sale(amountCents=cents)
    drain()

    assert list_titles(shop.person("Owner")) == (["Large sale: 1,000.00 USD via Ben Osei"] if is_large else [])


@pytest.mark.parametrize(("cents", "is_large"), [(8_999, False), (9_000, True)])
def test_sale_in_another_currency_is_converted(office, shop, drain, cents, is_large):
    owner = shop.person("Owner")
    shop.skip_first_sale()
    _store_rate("EUR", "0.9")
    assert owner.call("PATCH", "/api/organizations/me", {"largeSaleCents": 10_000}).status_code == 200
    shop.sale(amountCents=cents, currency="EUR")
    drain()

    assert list_titles(owner) == (["Large sale: 90.00 EUR via Ben Osei"] if is_large else [])


def test_sale_without_a_rate_is_not_large(office, shop, drain):
    shop.skip_first_sale()
    shop.sale(amountCents=900_000_000, currency="MWK")
    drain()

    assert list_titles(shop.person("Owner")) == []


def test_large_sales_of_an_hour_are_one_notification_and_one_email(office, shop, drain):
    owner = shop.person("Owner")
    shop.skip_first_sale()
    for number in range(12):
        shop.sale(amountCents=200_000 + number, externalEventId=f"large-{number}")
        drain()
    assert list_emails(shop) == []

    end_digests(drain)
    assert list_titles(owner) == ["12 large sales"]
    ((_, _, subject),) = list_emails(shop)
    assert subject == "12 large sales"
    (received,) = office.sink.messages
    assert "2,000.00 USD via Ben Osei" in received.text
    assert "and 2 more" in received.text

    shop.sale(amountCents=300_000)
    end_digests(drain)
    assert list_titles(owner) == ["Large sale: 3,000.00 USD via Ben Osei", "12 large sales"]


def test_changed_amount_applies_to_the_next_sale(office, shop, drain):
    owner = shop.person("Owner")
    shop.skip_first_sale()
    changed = owner.call("PATCH", "/api/organizations/me", {"largeSaleCents": 500}).json
    assert (changed["largeSaleCents"], changed["largeSaleCurrency"]) == (500, "USD")
    shop.sale(amountCents=500)
    drain()

    assert list_titles(owner) == ["Large sale: 5.00 USD via Ben Osei"]
