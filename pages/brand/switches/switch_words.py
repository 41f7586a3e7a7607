"""Words for the codes of a switch: collections, verdicts, reasons, warnings, figures, terms and columns of files."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from domain.money import currencies, wording
from domain.switches.reason_texts import REASON_TEXTS
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
#: What an undo removes, by its stage.
UNDO_STAGES: Mapping[str, str] = MappingProxyType({**COLLECTIONS, "refunds": "Refunds"})
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
REASONS = REASON_TEXTS
#: Warnings for one row and for several.
WARNINGS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "unknown_status": (
            "%(num)s affiliate has an unknown status there and comes as Pending. Review it afterwards.",
            "%(num)s affiliates have an unknown status there and come as Pending. Review them afterwards.",
        ),
        "recruits_not_brought": (
            "%(num)s affiliate was recruited by another one there. Recruits and tiers don't come over.",
            "%(num)s affiliates were recruited by others there. Recruits and tiers don't come over.",
        ),
        "parameter_not_added": (
            "There is no room for %(num)s link parameter. Remove one under Settings, Tracking.",
            "There is no room for %(num)s link parameters. Remove others under Settings, Tracking.",
        ),
        "links_on_foreign_host": (
            "%(num)s link is on the host of the old system. It stops working when that account ends, so ask the"
            " affiliate to use the new link.",
            "%(num)s links are on the host of the old system. They stop working when that account ends, so ask these"
            " affiliates to use their new links.",
        ),
        "amounts_disagree": (
            "The amounts of %(num)s sale disagree at the source. The amount after refunds was taken.",
            "The amounts of %(num)s sales disagree at the source. The amounts after refunds were taken.",
        ),
        "sale_in_other_currency": (
            "%(num)s sale is in another currency than its commission, so its amount is 0.",
            "%(num)s sales are in another currency than their commissions, so their amounts are 0.",
        ),
        "paid_twice": (
            "%(num)s commission was paid there, and is part of a payout here. Check it with the affiliate.",
            "%(num)s commissions were paid there, and are part of payouts here. Check them with the affiliates.",
        ),
        "moved_while_read": (
            "A list changed while it was read: %(num)s row more or less than stated. Read again if numbers differ.",
            "A list changed while it was read: %(num)s rows more or less than stated. Read again if numbers differ.",
        ),
        "collection_not_available": (
            "Your plan there doesn't offer %(num)s list, so it is empty.",
            "Your plan there doesn't offer %(num)s lists, so they are empty.",
        ),
        "equal_rows": (
            "%(num)s row without an id is identical to another one, and counts once.",
            "%(num)s rows without an id are identical to others, and count once.",
        ),
        "unpaid_earnings_grew": (
            "%(num)s affiliate has more unpaid there than was brought. Add a bonus if you pay the rest here.",
            "%(num)s affiliates have more unpaid there than was brought. Add a bonus if you pay the rest here.",
        ),
        "more_figures_differ": (
            "%(num)s further number differs from what the system states itself. The largest differences are listed.",
            "%(num)s further numbers differ from what the system states itself. The largest differences are listed.",
        ),
    }
)
TERMS: Mapping[str, str] = MappingProxyType(
    {
        "commissionType": "Commission type",
        "commissionValue": "Commission",
        "commissionCurrency": "Currency",
        "cookieWindowDays": "Cookie window",
        "recurringMonths": "Recurring",
        "holdDays": "Hold period",
        "minimumPayoutCents": "Minimum payout",
    }
)
#: Terms of a program that are not set. What a source does not state is not compared.
_UNLIMITED: Mapping[str, str] = MappingProxyType(
    {"recurringMonths": "without limit", "minimumPayoutCents": "no minimum"}
)
_UNITS: Mapping[str, str] = MappingProxyType(
    {"cookieWindowDays": "days", "recurringMonths": "months", "holdDays": "days"}
)
#: Why an undo keeps records.
KEPT: Mapping[str, str] = MappingProxyType(
    {
        "later_payment": "a customer has a later payment, lead or sale here",
        "in_payout": "a payout here names the commission",
        "refunded": "the commission was refunded here",
        "override": "a recruiter earned on the commission",
        "in_use": "the affiliate has an account, clicks, recruits or other activity here",
        "merged": "the affiliate was here before",
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


def list_differences(comparison: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the terms of a comparison that differ, each with its name, theirs and ours."""
    return [
        (TERMS.get(name, name), _to_text(comparison["theirs"], name), _to_text(comparison["ours"], name))
        for name in comparison["differ"]
    ]


def _to_text(terms: Mapping[str, Any], name: str) -> str:
    """Return a term with its unit; a dash for one that is not stated."""
    value, currency = terms.get(name), terms.get("commissionCurrency")
    if value is None:
        return _UNLIMITED.get(name, wording.DASH)
    if name == "commissionValue" and terms.get("commissionType") == "Fixed":
        is_money = currency is not None and is_supported(currency)
        return wording.format_major(value, currency) if is_money else wording.format_plain(value)
    if name == "commissionValue":
        return wording.format_percent(value)
    if name == "minimumPayoutCents":
        return format_amount(value, currency or "USD")
    if name == "recurringMonths" and value == 0:
        return "first payment only"
    unit = _UNITS.get(name, "")
    return f"{value} {unit.rstrip('s') if value == 1 else unit}".strip()


def list_changes(counts: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return the collections that a run confirms and of which rows change records that are here, with their number."""
    confirmed = ("affiliates", "customers", "commissions")
    return [(COLLECTIONS[name], counts[name]["changed"]) for name in confirmed if counts.get(name, {}).get("changed")]


def is_supported(currency: str) -> bool:
    """Return whether amounts of a currency can be shown in major units."""
    return currency in currencies.EXPONENTS


def format_amount(cents: int | None, currency: str | None) -> str:
    """Return minor units as money; for an unsupported currency the number as the source states it, and its code."""
    if cents is None:
        return wording.DASH
    if currency and is_supported(currency):
        return wording.format_money(cents, currency)
    number = f"{wording.MINUS if cents < 0 else ''}{abs(cents):,}"
    return f"{number} {currency}" if currency else number


def list_unsupported(currency_codes: Iterable[str | None]) -> str:
    """Return the unsupported currencies among these, separated by commas."""
    return ", ".join(sorted({code for code in currency_codes if code and not is_supported(code)}))


def describe(words: Mapping[str, str], code: str) -> str:
    """Return a code in words; one that is not listed has spaces in place of underscores."""
    return words.get(code) or code.replace("_", " ").capitalize()


def list_warning_forms(code: str) -> tuple[str, str]:
    """Return the words of a warning for one row and for several."""
    text = code.replace("_", " ").capitalize()
    return WARNINGS.get(code) or (f"{text}: %(num)s", f"{text}: %(num)s")


def name_figure(name: str) -> str:
    """Return the name of a compared figure in words."""
    return describe(_FIGURES, name)
