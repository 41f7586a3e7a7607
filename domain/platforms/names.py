"""The platforms that are queried for the affiliate of a buyer when nothing else names one.

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
    """The state of a connection to a platform. Broken: the platform refuses its credentials and is not queried."""

    Active = "Active"
    Broken = "Broken"
