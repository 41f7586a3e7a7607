"""Verdicts on rows, reasons for leaving a row out, and warnings: closed lists.

Source: the switch-over rules, "Reasons (closed list)".
"""

from enum import StrEnum


class SwitchVerdict(StrEnum):
    """What becomes of a row."""

    New = "new"
    Known = "known"
    Changed = "changed"
    Merged = "merged"
    LeftOut = "left_out"


class LeftOutReason(StrEnum):
    """Why a row is left out."""

    StatusExcluded = "status_excluded"
    NoEmail = "no_email"
    InvalidEmail = "invalid_email"
    CampaignNotMapped = "campaign_not_mapped"
    AffiliateUnknown = "affiliate_unknown"
    SlugTaken = "slug_taken"
    CodeTaken = "code_taken"
    CodeArchived = "code_archived"
    CustomerWithoutAffiliate = "customer_without_affiliate"
    CustomerWithoutName = "customer_without_name"
    MovedCustomer = "moved_customer"
    LeadExpired = "lead_expired"
    TestRow = "test_row"
    NotMoney = "not_money"
    UnsupportedCurrency = "unsupported_currency"
    AmountOutOfRange = "amount_out_of_range"
    InFuture = "in_future"
    AfterCutOver = "after_cut_over"
    AlreadyTracked = "already_tracked"
    NegativeWithoutSale = "negative_without_sale"
    UnknownStatus = "unknown_status"
    IdKnownElsewhere = "id_known_elsewhere"
    UnreadableRow = "unreadable_row"


class SwitchWarning(StrEnum):
    """What a person should look at, though it stops nothing."""

    UnknownStatus = "unknown_status"
    RecruitsNotBrought = "recruits_not_brought"
    ParameterNotAdded = "parameter_not_added"
    LinksOnForeignHost = "links_on_foreign_host"
    AmountsDisagree = "amounts_disagree"
    SaleInOtherCurrency = "sale_in_other_currency"
    PaidTwice = "paid_twice"
    MovedWhileRead = "moved_while_read"
    CollectionNotAvailable = "collection_not_available"
    EqualRows = "equal_rows"
    MoreFiguresDiffer = "more_figures_differ"
    UnpaidEarningsGrew = "unpaid_earnings_grew"
