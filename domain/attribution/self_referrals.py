"""Self-referrals: conversions whose buyer is the affiliate that they credit.

Each organization chooses whether they earn like any other conversion, wait for a Manager's approval, or are denied.
"""

from dataclasses import dataclass
from enum import StrEnum

from domain import emails
from domain.statuses import ConversionStatus

#: The attribution method of a self-referral at a gateway, unless a redeemed code credits its owner.
METHOD = "self_referral"

#: The reason that the conversion.denied event of a self-referral carries.
REASON = "self_referral"


class SelfReferralPolicy(StrEnum):
    """An organization's policy for self-referrals."""

    Earn = "earn"
    Hold = "hold"
    Deny = "deny"


@dataclass(frozen=True, slots=True)
class InitialState:
    """How a new conversion starts: whether it is a self-referral, its status, whether a Manager must approve it."""

    is_self_referral: bool
    status: ConversionStatus
    needs_approval: bool


def is_self_referral(*, buyer_email: str | None, affiliate_email: str | None) -> bool:
    """Return whether both addresses lead to one inbox. Without an address of the buyer that is unknown: False."""
    if not buyer_email or not affiliate_email:
        return False
    return emails.normalize(buyer_email) == emails.normalize(affiliate_email)


def initial_state(
    *,
    buyer_email: str | None,
    affiliate_email: str | None,
    policy: str,
    status: ConversionStatus = ConversionStatus.Pending,
) -> InitialState:
    """Return how a new conversion starts under the organization's policy.

    `status` is the one that it would have as any other conversion. One already paid elsewhere stays Paid.
    """
    if not is_self_referral(buyer_email=buyer_email, affiliate_email=affiliate_email):
        return InitialState(False, status, needs_approval=False)
    if policy == SelfReferralPolicy.Earn or status == ConversionStatus.Paid:
        return InitialState(True, status, needs_approval=False)
    if policy == SelfReferralPolicy.Deny:
        return InitialState(True, ConversionStatus.Denied, needs_approval=False)
    waiting = ConversionStatus.Pending if status == ConversionStatus.Approved else status
    return InitialState(True, waiting, needs_approval=True)
