"""Bans: an affiliate whose traffic is fraud earns nothing from now on.

Clicks, leads, sales and overrides look at the affiliate's status when they come in, so the status is all that it takes.
What was earned before stays as it is.
Source: core spec, "Click and lead fraud review" and section 3 (affiliate).
"""

from datetime import datetime

from domain.statuses import AffiliateStatus
from models.affiliates import Affiliate
from pipelines import affiliate_changes, payout_decisions


def ban(*, affiliate: Affiliate, now: datetime) -> bool:
    """Ban a locked affiliate, whatever their status; False when they are banned already."""
    if affiliate.status == AffiliateStatus.Banned:
        return False
    affiliate_changes.change(affiliate=affiliate, changes={"status": AffiliateStatus.Banned.value}, now=now)
    payout_decisions.ban(organization_id=affiliate.organization_id, affiliate_id=affiliate.id, now=now)
    return True
