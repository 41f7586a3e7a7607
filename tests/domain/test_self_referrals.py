"""Conversions whose buyer is the affiliate: detection, and the initial status under each policy."""

import pytest

from domain.attribution import self_referrals
from domain.statuses import ConversionStatus

_BEN = "ben@example.com"


@pytest.mark.parametrize(
    ("buyer", "is_own"),
    [
        ("Ben@Example.com", True),
        (" ben+shop@example.com ", True),
        ("benn@example.com", False),
        ("", False),
        (None, False),
    ],
)
def test_same_inbox_in_any_spelling_is_a_self_referral(buyer, is_own):
    assert self_referrals.is_self_referral(buyer_email=buyer, affiliate_email=_BEN) is is_own


def test_missing_affiliate_email_is_no_self_referral():
    assert not self_referrals.is_self_referral(buyer_email=_BEN, affiliate_email=None)


@pytest.mark.parametrize(
    ("policy", "status", "initial_status", "needs_approval"),
    [
        ("earn", "Pending", "Pending", False),
        ("earn", "Approved", "Approved", False),
        ("hold", "Pending", "Pending", True),
        ("hold", "Approved", "Pending", True),
        ("hold", "Invalidated", "Invalidated", True),
        ("hold", "Paid", "Paid", False),
        ("deny", "Pending", "Denied", False),
        ("deny", "Approved", "Denied", False),
        ("deny", "Invalidated", "Denied", False),
        ("deny", "Paid", "Paid", False),
    ],
)
def test_policy_sets_the_initial_state_of_a_self_referral(policy, status, initial_status, needs_approval):
    arguments = {"policy": policy, "status": ConversionStatus(status)}

    self_referral = self_referrals.initial_state(buyer_email=_BEN, affiliate_email=_BEN, **arguments)
    other = self_referrals.initial_state(buyer_email="ann@example.com", affiliate_email=_BEN, **arguments)

    assert self_referral == self_referrals.InitialState(True, ConversionStatus(initial_status), needs_approval)
    assert other == self_referrals.InitialState(False, ConversionStatus(status), needs_approval=False)
