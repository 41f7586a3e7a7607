"""Conversions whose buyer is the affiliate: which they are, and how they start under each policy."""

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
def test_own_inbox_in_any_spelling_is_a_self_referral(buyer, is_own):
    assert self_referrals.is_self_referral(buyer_email=buyer, affiliate_email=_BEN) is is_own


def test_unknown_address_of_the_affiliate_is_no_self_referral():
    assert not self_referrals.is_self_referral(buyer_email=_BEN, affiliate_email=None)


@pytest.mark.parametrize(
    ("policy", "status", "starts_as", "needs_approval"),
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
def test_policy_decides_how_a_self_referral_starts(policy, status, starts_as, needs_approval):
    own = {"policy": policy, "status": ConversionStatus(status)}

    found = self_referrals.initial_state(buyer_email=_BEN, affiliate_email=_BEN, **own)
    other = self_referrals.initial_state(buyer_email="ann@example.com", affiliate_email=_BEN, **own)

    assert found == self_referrals.InitialState(True, ConversionStatus(starts_as), needs_approval)
    assert other == self_referrals.InitialState(False, ConversionStatus(status), needs_approval=False)
