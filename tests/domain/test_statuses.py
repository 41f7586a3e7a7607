"""Status and kind values equal those of the API."""

from enum import StrEnum

import pytest

from domain import statuses


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (statuses.ConversionStatus, "Pending Approved Paid Refunded Denied Invalidated"),
        (statuses.ConversionType, "OneTime Recurring Bonus ClickReward LeadReward"),
        (statuses.AffiliateStatus, "Pending Approved Rejected Paused Banned"),
        (statuses.DeliveryStatus, "Pending Delivered Failed"),
        (statuses.Payability, "payable not_paid_on_campaign attribution_only"),
        (statuses.CommissionModel, "Cps Cpc Cpl Cpa RevShare Hybrid"),
        (statuses.AttributionModel, "FirstTouch LastTouch"),
        (statuses.NetworkVisibility, "Private Networked InviteOnly"),
        (statuses.LinkFormat, "Short Query Path Hash"),
        (statuses.AffiliateSource, "Direct Public Invite Network"),
    ],
)
def test_status_values_match_the_spec(kind: type[StrEnum], values: str) -> None:
    assert [str(member) for member in kind] == values.split()


@pytest.mark.parametrize(
    ("model", "is_paid"),
    [("Cps", True), ("Cpc", False), ("Cpl", False), ("Cpa", True), ("RevShare", True), ("Hybrid", True)],
)
def test_every_model_except_cpc_and_cpl_pays_on_a_sale(model: str, is_paid: bool) -> None:
    assert statuses.pays_on_sale(model) is is_paid


def test_unknown_model_is_refused() -> None:
    with pytest.raises(ValueError, match="Cpx"):
        statuses.pays_on_sale("Cpx")
