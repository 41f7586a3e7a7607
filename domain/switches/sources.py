"""The systems that a brand can switch from, and the collections that are read of each.

Source: the switch-over rules, "Words and records".
"""

from enum import StrEnum


class SourceName(StrEnum):
    """A system to switch from; `Files` are the exports of any other."""

    Rewardful = "rewardful"
    FirstPromoter = "firstpromoter"
    Tolt = "tolt"
    PartnerStack = "partnerstack"
    Tapfiliate = "tapfiliate"
    LemonSqueezy = "lemonsqueezy"
    Dub = "dub"
    Files = "files"


class Collection(StrEnum):
    """A kind of rows, in the order in which they are judged and written. Payouts are only compared."""

    Campaigns = "campaigns"
    Affiliates = "affiliates"
    Links = "links"
    Codes = "codes"
    Customers = "customers"
    Commissions = "commissions"
    Payouts = "payouts"


#: The collections that Run writes, in order.
WRITTEN = (
    Collection.Affiliates,
    Collection.Links,
    Collection.Codes,
    Collection.Customers,
    Collection.Commissions,
)
#: The source id of the only campaign of a source without campaigns.
ONLY_CAMPAIGN = "all"
#: More commissions than this pause a switch (`too_many_rows`).
MAX_COMMISSIONS = 2_000_000
#: Campaigns of one account that can lead to programs.
MAX_CAMPAIGNS = 500
#: Rows that one job judges, writes or takes back.
SLICE_ROWS = 2_000
