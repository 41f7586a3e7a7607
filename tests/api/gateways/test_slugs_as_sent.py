"""Slugs in payments are read as in links, and a numeric slug credits no one, at every gateway.

Source: tracking spec, "Attribution method taxonomy".
"""

from tests.support.databases import run_as_brand
from tests.support.gateways.stage import Purchase
from tests.support.gateways.stages import all_gateways
from tests.support.rows.link_visits import SLUG_IN_TEXT


@all_gateways
def test_slug_with_trailing_text_credits_its_affiliate(shop):
    _sell_with_slugs(shop, *(template.format("Jane") for template in SLUG_IN_TEXT))

    assert len(shop.conversions()) == len(SLUG_IN_TEXT)


@all_gateways
def test_number_in_place_of_a_slug_credits_no_one(shop):
    ((jane,),) = shop.brand.rows("select id from affiliate")
    response = shop.brand.post(f"/api/v1/affiliates/{jane}/links", {"customAlias": "54830"})
    assert (response.status_code, response.json["error"]) == (400, "slug_reserved")

    _sell_with_slugs(shop, "54830", "54830/1", "54830.")

    assert shop.conversions() == []
    assert [reason for (reason,) in shop.events("reason")].count("nobody_referred") == 3


@all_gateways
def test_existing_numeric_slug_still_credits(shop):
    run_as_brand(shop.brand, "update tracking_link set slug = '54830' where slug = 'jane'")

    shop.sell(slug="54830")

    assert len(shop.conversions()) == 1


def _sell_with_slugs(shop, *slugs):
    """Book one payment per slug, each of another buyer."""
    sales = [
        shop.stage.pay(Purchase(slug=slug, customer=str(number), email=f"b-{number}@example.com"))
        for number, slug in enumerate(slugs)
    ]
    shop.receive(*(notification for sale in sales for notification in sale.notifications))
