"""Slugs that payments carry are read as in links, and a number credits no one: every gateway, from event to books.

Source: tracking spec, "Attribution method taxonomy".
"""

from tests.support.databases import run_as_brand
from tests.support.gateways.stage import Purchase
from tests.support.gateways.stages import all_gateways
from tests.support.rows.link_visits import SLUG_IN_TEXT


@all_gateways
def test_slug_is_read_up_to_what_stands_behind_it(shop):
    _sell(shop, *(written.format("Jane") for written in SLUG_IN_TEXT))

    assert len(shop.conversions()) == len(SLUG_IN_TEXT)


@all_gateways
def test_number_that_a_shop_writes_where_a_slug_may_be_credits_nobody(shop):
    ((jane,),) = shop.brand.rows("select id from affiliate")
    answer = shop.brand.post(f"/api/v1/affiliates/{jane}/links", {"customAlias": "54830"})
    assert (answer.status_code, answer.json["error"]) == (400, "slug_reserved")

    _sell(shop, "54830", "54830/1", "54830.")

    assert shop.conversions() == []
    assert [reason for (reason,) in shop.events("reason")].count("nobody_referred") == 3


@all_gateways
def test_number_that_is_a_slug_from_before_goes_on_crediting(shop):
    run_as_brand(shop.brand, "update tracking_link set slug = '54830' where slug = 'jane'")

    shop.sell(slug="54830")

    assert len(shop.conversions()) == 1


def _sell(shop, *slugs):
    """Book a payment of another buyer for each of these carried texts."""
    sales = [
        shop.stage.pay(Purchase(slug=slug, customer=str(number), email=f"b-{number}@example.com"))
        for number, slug in enumerate(slugs)
    ]
    shop.hear(*(sent for sale in sales for sent in sale.notifications))
