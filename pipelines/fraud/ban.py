"""Bans: an affiliate whose traffic is fraud earns nothing from now on.

Clicks, leads, sales and overrides check the affiliate's status on arrival. Earlier earnings stay, and payouts that
were not sent yet fail (`pipelines.affiliates.management`).
Source: core spec, "Click and lead fraud review" and section 3 (affiliate).
"""

from datetime import datetime

from domain.statuses import AffiliateStatus
from models.affiliates.affiliates import Affiliate
from pipelines.affiliates import management


def ban(*, affiliate: Affiliate, now: datetime) -> Affiliate:
    """Ban a locked affiliate in any status, and return the new row."""
    return management.change(affiliate=affiliate, changes={"status": AffiliateStatus.Banned.value}, now=now)
