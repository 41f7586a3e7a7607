"""The states and kinds of the API, in its spelling.

Source: core spec, section 2 "Resources and their fields", and tracking spec, section 3 "States and transitions".
Commission types are in `commission`, plan tiers and subscription states in `plans`.
"""

from enum import StrEnum


class ConversionStatus(StrEnum):
    """The state of a conversion. Source: core spec, "Conversion"."""

    Pending = "Pending"
    Approved = "Approved"
    Paid = "Paid"
    Refunded = "Refunded"
    Denied = "Denied"
    Invalidated = "Invalidated"


#: A conversion in one of these states earns nothing.
EARNS_NOTHING = (ConversionStatus.Denied, ConversionStatus.Invalidated)
#: A conversion in one of these states is not yet paid and can still be reviewed.
UNPAID = (ConversionStatus.Pending, ConversionStatus.Approved)


class ConversionType(StrEnum):
    """The reason of a conversion's reward. Source: core spec, "Conversion"."""

    OneTime = "OneTime"
    Recurring = "Recurring"
    Bonus = "Bonus"
    ClickReward = "ClickReward"
    LeadReward = "LeadReward"


#: The types of conversions that have an amount of their own, and of their overrides.
SALES = (ConversionType.OneTime, ConversionType.Recurring)


class ProgramStatus(StrEnum):
    """The state of a program for operators: only an Active one earns anything new."""

    Active = "Active"
    Inactive = "Inactive"
    Suspended = "Suspended"
    Archived = "Archived"


class AffiliateStatus(StrEnum):
    """The state of an affiliate in one program. Source: core spec, "Affiliate"."""

    Pending = "Pending"
    Approved = "Approved"
    Rejected = "Rejected"
    Paused = "Paused"
    Banned = "Banned"


class DeliveryStatus(StrEnum):
    """The state of a webhook delivery. Source: tracking spec, section 3, "Webhook delivery"."""

    Pending = "Pending"
    Delivered = "Delivered"
    Failed = "Failed"


class Payability(StrEnum):
    """Whether a conversion can ever earn. Source: core spec, "Conversion", payability."""

    payable = "payable"
    not_paid_on_campaign = "not_paid_on_campaign"
    attribution_only = "attribution_only"


class CommissionModel(StrEnum):
    """The event that a program primarily rewards. Source: core spec, "Program", defaultCommissionModel."""

    Cps = "Cps"
    Cpc = "Cpc"
    Cpl = "Cpl"
    Cpa = "Cpa"
    RevShare = "RevShare"
    Hybrid = "Hybrid"


class AttributionModel(StrEnum):
    """Which visit is credited. Source: core spec, "Program"."""

    FirstTouch = "FirstTouch"
    LastTouch = "LastTouch"


class NetworkVisibility(StrEnum):
    """Who may find a program. Source: core spec, "Program"."""

    Private = "Private"
    Networked = "Networked"
    InviteOnly = "InviteOnly"


class LinkFormat(StrEnum):
    """How a tracking link carries its slug. Source: core spec, "Affiliate", tracking link."""

    Short = "Short"
    Query = "Query"
    Path = "Path"
    Hash = "Hash"


class AffiliateSource(StrEnum):
    """How an affiliate joined a program. Source: core spec, "Affiliate"."""

    Direct = "Direct"
    Public = "Public"
    Invite = "Invite"
    Network = "Network"


def pays_on_sale(model: str) -> bool:
    """Return whether a program of that commission model rewards sales.

    True for all except Cpc and Cpl: the legacy models behave like Cps.
    Raises ValueError for an unknown model.
    Source: core spec, "Program", defaultCommissionModel.
    """
    return CommissionModel(model) not in (CommissionModel.Cpc, CommissionModel.Cpl)
