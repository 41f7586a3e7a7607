"""Words for the codes of a switch: collections, verdicts, reasons, warnings, figures, terms and columns of files."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from domain.money import wording
from domain.switches.sources import Collection

#: Collections in the order in which they are shown.
COLLECTIONS: Mapping[str, str] = MappingProxyType(
    {
        Collection.Campaigns.value: "Campaigns",
        Collection.Affiliates.value: "Affiliates",
        Collection.Links.value: "Links",
        Collection.Codes.value: "Coupon codes",
        Collection.Customers.value: "Customers",
        Collection.Commissions.value: "Commissions",
        Collection.Payouts.value: "Payouts (only compared)",
    }
)
#: The collections that a file can have.
FILES: Mapping[str, str] = MappingProxyType(
    {name: COLLECTIONS[name] for name in ("affiliates", "links", "codes", "customers", "commissions")}
    | {"figures": "Totals to compare"}
)
VERDICTS: Mapping[str, str] = MappingProxyType(
    {
        "new": "New",
        "known": "Already here",
        "changed": "Changes",
        "merged": "Added to an affiliate who is here",
        "left_out": "Left out",
    }
)
REASONS: Mapping[str, str] = MappingProxyType(
    {
        "status_excluded": "Their status is excluded by your options",
        "no_email": "No email address",
        "invalid_email": "The email address is not valid",
        "campaign_not_mapped": "Their campaign leads to no program",
        "affiliate_unknown": "Their affiliate is left out or unknown",
        "slug_taken": "Another affiliate of yours has this link name; a new one is created",
        "code_taken": "The coupon code is in use here",
        "code_archived": "The coupon code is archived there",
        "customer_without_affiliate": "The customer has no affiliate",
        "customer_without_name": "The customer has neither an id nor an email address",
        "moved_customer": "The customer was moved to another affiliate there",
        "lead_expired": "The referral expired there",
        "test_row": "Test data",
        "not_money": "Paid in points or credits, not in money",
        "unsupported_currency": "The currency is not supported",
        "amount_out_of_range": "The amount is out of range",
        "in_future": "The date is in the future",
        "after_cut_over": "Later than the time of the switch",
        "already_tracked": "Finderfee has recorded this sale itself",
        "negative_without_sale": "A refund whose sale was not found",
        "unknown_status": "The status is unknown",
        "id_known_elsewhere": "Another program has this id already",
        "unreadable_row": "The row can't be read",
    }
)
WARNINGS: Mapping[str, str] = MappingProxyType(
    {
        "unknown_status": "Affiliates with an unknown status come as Pending. Review them afterwards.",
        "recruits_not_brought": "Affiliates who recruited others: recruits and tiers don't come over.",
        "parameter_not_added": "There is no room for this link parameter. Remove one under Settings, Tracking.",
        "links_on_foreign_host": "Links on the host of the old system. They stop working when that account ends,"
        " so ask these affiliates to use their new link.",
        "amounts_disagree": "The amounts of these sales disagree at the source. The amount after refunds was taken.",
        "sale_in_other_currency": "The sale is in another currency than the commission, so its amount is 0.",
        "paid_twice": "Paid there, and part of a payout here. Check these with the affiliates.",
        "unpaid_earnings_grew": "More is unpaid there than was brought. Add a bonus if you pay the rest here.",
        "moved_while_read": "The list changed while it was read. Read again if numbers differ.",
        "collection_not_available": "Your plan there doesn't offer this list, so it is empty.",
        "equal_rows": "Identical rows without an id count once.",
        "more_figures_differ": "Further numbers differ from what the system states itself. The largest differences are"
        " listed.",
    }
)
TERMS: Mapping[str, str] = MappingProxyType(
    {
        "commissionType": "Commission type",
        "commissionValue": "Commission",
        "commissionCurrency": "Currency",
        "cookieWindowDays": "Cookie window (days)",
        "recurringMonths": "Recurring (months)",
        "holdDays": "Hold period (days)",
        "minimumPayoutCents": "Minimum payout",
    }
)
#: Why an undo keeps records.
KEPT: Mapping[str, str] = MappingProxyType(
    {
        "later_payment": "Customers with a later payment, lead or sale here, with their history",
        "in_payout": "Commissions in a payout",
        "refunded": "Commissions refunded here",
        "override": "Commissions with a recruiter's share",
        "in_use": "Affiliates with an account, clicks, recruits or other activity",
        "merged": "Affiliates who were here before",
    }
)
#: Fields of files.
FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "id": "Id of the row",
        "email": "Email",
        "fullName": "Full name",
        "firstName": "First name",
        "lastName": "Last name",
        "status": "Status",
        "token": "Link code (the part behind ?via= or ?ref=)",
        "walletEmail": "PayPal or wallet email",
        "group": "Group",
        "campaign": "Campaign",
        "parameter": "Name of the link parameter",
        "affiliateId": "Affiliate's id",
        "affiliateEmail": "Affiliate's email",
        "code": "Coupon code",
        "customerId": "Customer id at your payment provider",
        "subscriptionId": "Subscription id at your payment provider",
        "customerEmail": "Customer's email",
        "name": "Name",
        "firstPaidAt": "Date of the first payment",
        "payments": "Number of payments",
        "orderId": "Order or transaction id",
        "amount": "Sale amount, such as 49.00",
        "amountCents": "Sale amount in cents",
        "commission": "Commission, such as 9.80",
        "commissionCents": "Commission in cents",
        "currency": "Currency",
        "occurredAt": "Date of the sale",
        "state": "Status of the commission",
        "refunded": "Refunded amount, such as 10.00",
        "of": "Affiliate's email",
        "cents": "Total in cents",
    }
)
#: Meanings of the words of files.
MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "paid": "Paid to the affiliate",
        "owed": "Due, not paid yet",
        "pending": "Not due yet",
        "held": "Held for review",
        "lost": "Refunded or denied",
    }
)
#: What the old system states of itself.
_FIGURES: Mapping[str, str] = MappingProxyType(
    {
        "total_affiliates": "Number of affiliates",
        "total_links": "Number of links",
        "total_codes": "Number of coupon codes",
        "total_customers": "Number of customers",
        "total_commissions": "Number of commissions",
        "total_payouts": "Number of payouts",
        "referrals": "Customers and leads",
        "paying_customers": "Paying customers",
        "sales": "Sales",
        "customer_sales": "Sales to the customer",
        "sale_amount": "Sales",
        "customer_sale_amount": "Sales to the customer",
        "commission_amount": "Commissions",
        "paid_commission": "Paid commissions",
        "balance": "Balance",
        "paid_payouts": "Completed payouts",
        "group_affiliates": "Affiliates in the group",
    }
)


def list_differences(comparison: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the terms of a comparison that differ, each with its name and "theirs → ours"."""
    return [
        (TERMS.get(name, name), f"{_to_text(comparison['theirs'], name)} → {_to_text(comparison['ours'], name)}")
        for name in comparison["differ"]
    ]


def _to_text(terms: Mapping[str, Any], name: str) -> str:
    value = terms.get(name)
    if value is None:
        return "unlimited" if name == "recurringMonths" and name in terms else "–"
    if name == "minimumPayoutCents":
        return wording.format_money(value, terms.get("commissionCurrency") or "USD")
    return str(value)


def describe(words: Mapping[str, str], code: str) -> str:
    """Return a code in words; one that is not listed has spaces in place of underscores."""
    return words.get(code) or code.replace("_", " ").capitalize()


def name_figure(name: str) -> str:
    """Return the name of a compared figure in words."""
    return describe(_FIGURES, name)
