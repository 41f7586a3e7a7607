"""Bans: an affiliate whose traffic is fraud earns nothing from now on.

Clicks, leads, sales and overrides look at the affiliate's status when they come in. What was earned before stays as it
is, and payouts that were not sent yet fail (`pipelines.affiliates.management` sees to that).
Source: core spec, "Click and lead fraud review" and section 3 (affiliate).
"""

from datetime import datetime

from domain.statuses import AffiliateStatus
from models.affiliates.affiliates import Affiliate
from pipelines.affiliates import management


def ban(*, affiliate: Affiliate, now: datetime) -> Affiliate:
    """Ban a locked affiliate in any status, and return them as they are now."""
    return management.change(affiliate=affiliate, changes={"status": AffiliateStatus.Banned.value}, now=now)
