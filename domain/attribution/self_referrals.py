"""Self-referrals: conversions whose buyer is the affiliate that they credit.

An organization decides whether they earn as any other conversion does, wait for a Manager's approval, or are denied.
"""

from dataclasses import dataclass
from enum import StrEnum

from domain import emails
from domain.statuses import ConversionStatus

#: The attribution method of a gateway's payment, unless a redeemed code credits its owner.
METHOD = "self_referral"

#: The reason that the conversion.denied event of a self-referral carries.
REASON = "self_referral"


class SelfReferralPolicy(StrEnum):
    """What an organization does with a self-referral."""

    Earn = "earn"
    Hold = "hold"
    Deny = "deny"


@dataclass(frozen=True, slots=True)
class InitialStanding:
    """How a new conversion starts: whether it is a self-referral, its status, whether a Manager has to approve it."""

    is_self_referral: bool
    status: ConversionStatus
    needs_approval: bool


def is_self_referral(*, buyer_email: str | None, affiliate_email: str | None) -> bool:
    """Return whether both addresses lead to one inbox. Without an address of the buyer it is not known, so False."""
    if not buyer_email or not affiliate_email:
        return False
    return emails.normalize(buyer_email) == emails.normalize(affiliate_email)


def standing(
    *,
    buyer_email: str | None,
    affiliate_email: str | None,
    policy: str,
    status: ConversionStatus = ConversionStatus.Pending,
) -> InitialStanding:
    """Return how a new conversion starts under the organization's policy.

    `status` is the one that it would have had as any other conversion. What was paid elsewhere before (Paid) stays so.
    """
    if not is_self_referral(buyer_email=buyer_email, affiliate_email=affiliate_email):
        return InitialStanding(False, status, needs_approval=False)
    if policy == SelfReferralPolicy.Earn or status == ConversionStatus.Paid:
        return InitialStanding(True, status, needs_approval=False)
    if policy == SelfReferralPolicy.Deny:
        return InitialStanding(True, ConversionStatus.Denied, needs_approval=False)
    held = ConversionStatus.Pending if status == ConversionStatus.Approved else status
    return InitialStanding(True, held, needs_approval=True)
