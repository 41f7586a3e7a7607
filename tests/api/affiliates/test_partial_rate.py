"""A PATCH that sends customCommissionValue without its type."""

from decimal import Decimal

import pytest

URL = "/api/v1/affiliates"


@pytest.fixture
def campaign(brand):
    brand.program()
    return brand


def _change(brand, affiliate_id, **fields):
    return brand.call("PATCH", f"{URL}/{affiliate_id}", fields)


@pytest.mark.parametrize("type", ["Percentage", "Fixed"])
def test_value_alone_changes_the_rate_of_the_current_type(campaign, type):
    ann = campaign.affiliate("ann", custom_commission_type=type, custom_commission_value=Decimal(5))

    changed = _change(campaign, ann, customCommissionValue=12.5)

    assert changed.status_code == 200
    assert (changed.json["customCommissionType"], changed.json["customCommissionValue"]) == (type, 12.5)
    ((currency,),) = campaign.rows("select custom_commission_currency from affiliate")
    assert currency == ("USD" if type == "Fixed" else None)


def test_value_alone_is_validated_against_the_current_type(campaign):
    ann = campaign.affiliate("ann", custom_commission_type="Percentage", custom_commission_value=Decimal(5))

    refused = _change(campaign, ann, customCommissionValue=101)

    assert (refused.status_code, refused.json["error"]) == (400, "percentage_out_of_range")


def test_value_alone_without_a_current_type_is_refused(campaign):
    ann = campaign.affiliate("ann")

    refused = _change(campaign, ann, customCommissionValue=5, fullName="Other")

    assert (refused.status_code, list(refused.json["errors"])) == (400, ["customCommissionType"])
    assert campaign.rows("select full_name, custom_commission_value from affiliate") == [("Ann", None)]


@pytest.mark.parametrize(
    "fields",
    [
        {"customCommissionType": "Fixed"},
        {"customCommissionValue": None},
        {"customCommissionType": None},
        {"customCommissionType": None, "customCommissionValue": 5},
    ],
)
def test_ambiguous_half_of_a_rate_is_refused(campaign, fields):
    ann = campaign.affiliate("ann", custom_commission_type="Percentage", custom_commission_value=Decimal(5))

    assert _change(campaign, ann, **fields).status_code == 400
    assert campaign.rows("select custom_commission_value::int from affiliate") == [(5,)]
