"""A platform's record names a slug with links in several campaigns: the look-up considers all of them."""

import pytest

from tests.support.job_queues import drain

ANN = "ann@example.com"
_COLUMNS = "program_id, commission_cents, payability, attribution_method"


@pytest.fixture
def first_campaign(shop):
    """Return the id of the first campaign, which pays for leads; jane is in it."""
    shop.change(
        "update program set default_commission_model = 'Cpl', default_commission_type = 'Fixed',"
        " default_commission_value = 5, fee_currency = 'USD'"
    )
    return shop.brand.programs[-1]


def test_look_up_credits_the_campaign_that_pays_for_sales(shop, first_campaign, platform):
    second_campaign = shop.brand.program()
    shop.brand.affiliate("jane")
    platform.add_person(ANN, slug="jane")
    shop.sell(slug=None, cents=10_000)

    assert shop.conversions(_COLUMNS) == [(second_campaign, 2_000, "payable", "crm_lookup:kit")]


def test_look_up_without_a_paying_campaign_attributes_the_sale_unpaid(shop, first_campaign, platform):
    platform.add_person(ANN, slug="jane")
    shop.sell(slug=None, cents=10_000)

    assert shop.conversions(_COLUMNS) == [(first_campaign, 0, "not_paid_on_campaign", "crm_lookup:kit")]
    assert shop.events("reason")[0] == ("not_a_sale_campaign",)
    assert shop.brand.rows("select count(*) from platform_lookup") == [(0,)]


def test_repeated_look_up_credits_an_affiliate_added_later(shop, first_campaign, connect, skip_to_next_lookup):
    kit, hubspot = connect("kit"), connect("hubspot")
    second_campaign = shop.brand.program()
    shop.brand.affiliate("rob")
    kit.add_person(ANN, slug="jane")
    shop.sell(slug=None, cents=10_000)
    assert shop.conversions() == []

    hubspot.add_person(ANN, slug="rob")
    skip_to_next_lookup()
    drain()
    assert shop.conversions(_COLUMNS) == [(second_campaign, 2_000, "payable", "crm_lookup:hubspot")]
