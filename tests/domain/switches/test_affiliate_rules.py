"""The status, tags and exclusion of one person in one program."""

from decimal import Decimal

import pytest

from domain.statuses import AffiliateStatus
from domain.switches.options import SwitchOptions
from domain.switches.reasons import LeftOutReason
from domain.switches.rules import affiliate_rules


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        (["Rejected"], "Rejected"),
        (["Rejected", "Paused"], "Paused"),
        (["Paused", "Pending"], "Pending"),
        (["Pending", "Approved", "Rejected"], "Approved"),
        (["Approved", "Banned"], "Banned"),
    ],
)
def test_best_status_counts_unless_one_is_banned(statuses, status):
    assert affiliate_rules.status_of_person(AffiliateStatus(each) for each in statuses) == status


@pytest.mark.parametrize(
    ("options", "status", "has_referrals", "reason"),
    [
        (SwitchOptions(), "Rejected", False, None),
        (SwitchOptions(include_statuses=("Approved",)), "Approved", False, None),
        (SwitchOptions(include_statuses=("Approved",)), "Pending", True, LeftOutReason.StatusExcluded),
        (SwitchOptions(without_referrals=False), "Approved", True, None),
        (SwitchOptions(without_referrals=False), "Approved", False, LeftOutReason.StatusExcluded),
    ],
)
def test_options_leave_people_out(options, status, has_referrals, reason):
    actual = affiliate_rules.reason_for_person(
        status=AffiliateStatus(status), has_referrals=has_referrals, options=options
    )

    assert actual == reason


def test_group_name_becomes_a_tag_once_and_trimmed():
    assert affiliate_rules.tags([" Gold ", "Gold", "", "Silver"], SwitchOptions()) == ("Gold", "Silver")


def test_group_that_becomes_a_partner_group_is_no_tag():
    tags = affiliate_rules.tags(["Gold", "Silver"], SwitchOptions(groups="group"), group_names=["Gold"])

    assert tags == ("Silver",)


def test_option_none_brings_no_tags():
    assert affiliate_rules.tags(["Gold"], SwitchOptions(groups="none")) == ()


@pytest.mark.parametrize(
    ("name", "type", "value", "model", "expected"),
    [
        ("Gold", "Percentage", "0", "Cps", True),
        ("Gold", "Percentage", "100", "Cps", True),
        ("Gold", "Percentage", "100.5", "Cps", False),
        ("Gold", "Percentage", "-1", "Cps", False),
        ("Gold", "Percentage", "1.0000001", "Cps", False),
        ("Gold", "Percentage", "1E+300", "Cps", False),
        ("Gold", "Fixed", "1000000", "Cps", True),
        ("Gold", "Fixed", "1000000.01", "Cps", False),
        ("Gold", "Fixed", "20", "Cpc", False),
        ("Gold", "Fixed", "20", "Cpl", False),
        ("Gold", None, None, "Cps", False),
        ("G" * 101, "Percentage", "20", "Cps", False),
        (" ", "Percentage", "20", "Cps", False),
    ],
)
def test_group_is_a_partner_group_only_with_a_rate_that_the_program_can_pay(name, type, value, model, expected):
    rate = None if value is None else Decimal(value)

    assert affiliate_rules.can_be_partner_group(name, type=type, value=rate, model=model) is expected
