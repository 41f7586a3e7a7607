"""The API's preview of a payout run, sorted for display, and the figures that a person confirms.

The form contains the figures that were shown, so that the API compares each of them with the current ones.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson

from domain.money import currencies, wording
from domain.payouts.destinations import METHOD_NAMES

CURRENCY = "USD"
#: Reasons for not paying an affiliate, in words.
REASONS: Mapping[str, str] = {
    "test_affiliate": "Test affiliate",
    "affiliate_not_approved": "Not approved",
    "negative_balance": "Negative balance",
    "fx_unavailable": "No current exchange rate",
    "no_payout_account": "No payout account",
    "tax_form_required": "Missing tax form",
    "below_minimum": "Below the minimum payout",
    "below_one_cent": "Each commission is worth less than one cent after conversion",
}
#: Remedies by reason.
REMEDIES: Mapping[str, str] = {
    "test_affiliate": "Test affiliates are never paid.",
    "affiliate_not_approved": "Approve the affiliate to pay them.",
    "negative_balance": "New commissions offset the balance first.",
    "fx_unavailable": "Paid once there is an exchange rate of the last three days.",
    "no_payout_account": "The affiliate adds one in their portal.",
    "tax_form_required": "The affiliate submits a tax form first.",
    "below_minimum": "Paid once the balance reaches the minimum.",
    "below_one_cent": "Paid once at least one commission is worth a US cent.",
}
_MAX_ROWS = 50
_MAX_CENTS = 10**15
_TOTAL = re.compile(r"(?P<number>[0-9]{1,15}(\.[0-9]{1,2})?)(USD)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PreviewTotal:
    """The amount of a run in one currency: `native` in its minor units, `usd` in US cents; `rate` is per 1 USD."""

    currency: str
    affiliates: int
    native: int
    rate: object
    as_of: str
    usd: int


@dataclass(frozen=True, slots=True)
class PaidAffiliate:
    """An affiliate in a run: the amount in US cents, and the number of conversions."""

    id: str
    name: str
    usd: int
    conversions: int


@dataclass(frozen=True, slots=True)
class UnpaidBalance:
    """An amount due to an affiliate that the run does not pay, in minor units, with the reason."""

    id: str
    name: str
    cents: int
    currency: str
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class RunPreview:
    """A preview for display. `total` in US cents; long lists have their largest rows, and a count of all.

    `methods` are the payout methods with their numbers of affiliates.
    """

    total: int
    count: int
    conversions: int
    parts: Sequence[PreviewTotal]
    methods: Sequence[tuple[str, int]]
    paid: Sequence[PaidAffiliate]
    behind: Sequence[UnpaidBalance]
    behind_count: int
    figures: "ConfirmedFigures"


@dataclass(frozen=True, slots=True)
class ConfirmedFigures:
    """The figures that a person saw: the total in US cents, native minor units and rates by currency."""

    total: int
    native: Mapping[str, Any]
    rates: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The figures as the value of a hidden field."""
        return orjson.dumps([self.total, self.native, self.rates], option=orjson.OPT_SORT_KEYS).decode()

    @property
    def body(self) -> dict[str, Any]:
        """The figures as the body for the API, which compares them with the current ones."""
        return {
            "confirmTotalCents": max(0, sum(self.native.values())),
            "confirmTotals": self.native,
            "confirmFxRates": self.rates,
            "confirmPayoutTotalUsdCents": self.total,
        }


def read_preview(preview: Mapping[str, Any]) -> RunPreview:
    """Return a preview of the API for display, the largest amounts first."""
    candidates = preview["candidates"]
    paid = [candidate for candidate in candidates if candidate["payoutReady"]]
    unpaid = [candidate for candidate in candidates if not candidate["payoutReady"]]
    unpaid_balances = [
        _unpaid_balance(candidate)
        for candidate in sorted(unpaid, key=lambda row: (row["blockedReason"], -row["eligibleCents"]))
    ]
    native, rates = preview["nativeTotalsForRun"], preview["fxRunRates"]
    return RunPreview(
        total=preview["payoutTotalUsdCents"],
        count=preview["payoutCount"],
        conversions=sum(candidate["conversionCount"] for candidate in paid),
        parts=[_total_currency(currency, paid, rates[currency]) for currency in native],
        methods=_count_methods(paid),
        paid=_list_paid(paid)[:_MAX_ROWS],
        behind=unpaid_balances[:_MAX_ROWS],
        behind_count=len(unpaid_balances),
        figures=ConfirmedFigures(preview["payoutTotalUsdCents"], native, rates),
    )


def parse_figures(text: str) -> ConfirmedFigures | None:
    """Return the figures of a form; None if they are invalid."""
    try:
        total, native, rates = orjson.loads(text)
    except (orjson.JSONDecodeError, TypeError, ValueError):
        return None
    if not (_is_cents(total) and total >= 0 and isinstance(native, dict) and isinstance(rates, dict)):
        return None
    is_whole = all(currency in currencies.EXPONENTS and _is_cents(cents) for currency, cents in native.items())
    if not is_whole or not all(currency in currencies.EXPONENTS and _is_rate(rate) for currency, rate in rates.items()):
        return None
    return ConfirmedFigures(total, native, rates)


def parse_total(text: str) -> int | None:
    """Return a typed total in US cents, formatted or plain digits; None if it is invalid."""
    match = _TOTAL.fullmatch(re.sub(r"[\s,]", "", text))
    return int(Decimal(match["number"]).scaleb(2)) if match else None


def describe_changes(old: ConfirmedFigures, new: ConfirmedFigures) -> list[str]:
    """Return the changes between two sets of figures in words: the total first, then each currency."""
    changed = []
    if old.total != new.total:
        changed.append(f"{wording.format_money(old.total, CURRENCY)} → {wording.format_money(new.total, CURRENCY)}")
    for currency in sorted({*old.native, *new.native}):
        was, now = old.native.get(currency), new.native.get(currency)
        if was != now:
            changed.append(f"{_format_cents(was, currency)} → {_format_cents(now, currency)}")
        elif old.rates.get(currency) != new.rates.get(currency):
            changed.append(f"{currency}: {_format_rate(old, currency)} → {_format_rate(new, currency)}")
    return changed


def _is_cents(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _MAX_CENTS


def _is_rate(value: Any) -> bool:
    has_fields = isinstance(value, dict) and set(value) == {"rate", "asOf"}
    return has_fields and isinstance(value["rate"], int | float) and isinstance(value["asOf"], str)


def _total_currency(currency: str, paid: Sequence[Mapping[str, Any]], rate: Mapping[str, Any]) -> PreviewTotal:
    candidates = [candidate for candidate in paid if candidate["currency"] == currency]
    native, usd = (sum(candidate[name] for candidate in candidates) for name in ("eligibleCents", "payoutUsdCents"))
    return PreviewTotal(currency, len(candidates), native, rate["rate"], rate["asOf"], usd)


def _count_methods(paid: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
    used = Counter({candidate["affiliateId"]: candidate["method"] for candidate in paid}.values())
    return [(METHOD_NAMES.get(method, method), count) for method, count in used.most_common()]


def _list_paid(paid: Sequence[Mapping[str, Any]]) -> list[PaidAffiliate]:
    usd: Counter[str] = Counter()
    conversions: Counter[str] = Counter()
    for candidate in paid:
        usd[candidate["affiliateId"]] += candidate["payoutUsdCents"]
        conversions[candidate["affiliateId"]] += candidate["conversionCount"]
    names = {candidate["affiliateId"]: _affiliate_name(candidate) for candidate in paid}
    return [PaidAffiliate(id, names[id], cents, conversions[id]) for id, cents in usd.most_common()]


def _unpaid_balance(candidate: Mapping[str, Any]) -> UnpaidBalance:
    reason = candidate["blockedReason"]
    return UnpaidBalance(
        candidate["affiliateId"],
        _affiliate_name(candidate),
        candidate["eligibleCents"],
        candidate["currency"],
        REASONS[reason],
        REMEDIES[reason],
    )


def _affiliate_name(candidate: Mapping[str, Any]) -> str:
    return str(candidate["affiliateName"] or candidate["affiliateEmail"])


def _format_cents(cents: int | None, currency: str) -> str:
    return wording.format_money(cents or 0, currency)


def _format_rate(figures: ConfirmedFigures, currency: str) -> str:
    rate = figures.rates.get(currency)
    return f"{rate['rate']} ({rate['asOf']})" if rate else wording.DASH
