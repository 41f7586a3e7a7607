"""The platforms that are asked who brought a buyer when nothing else says so.

Source: tracking spec, "Attribution method taxonomy" (Platform match): five of them.
"""

from enum import StrEnum


class Platform(StrEnum):
    """A newsletter or CRM platform, as `crm_lookup:{platform}` names it."""

    Kit = "kit"
    Beehiiv = "beehiiv"
    Mailchimp = "mailchimp"
    HubSpot = "hubspot"
    ActiveCampaign = "activecampaign"


class PlatformStatus(StrEnum):
    """Where a connection to a platform stands: Broken is one whose credentials it refuses; it is not asked."""

    Active = "Active"
    Broken = "Broken"
