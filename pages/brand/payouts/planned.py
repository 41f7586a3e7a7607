"""What a run would pay now, as people look at it and confirm it: the preview of the API, sorted for the eye.

The figures that somebody saw travel with the form, so that the API compares each of them with those of the moment.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson

from domain.money import currencies, wording
from pages.brand.payouts import states

CURRENCY = "USD"
#: Why somebody stays behind, in words.
REASONS: Mapping[str, str] = {
    "test_affiliate": "Made to rehearse with",
    "affiliate_not_approved": "Not approved",
    "negative_balance": "Owes more than was earned",
    "fx_unavailable": "No fresh rate",
    "no_payout_account": "No payout account",
    "tax_form_required": "No tax form",
    "below_minimum": "Below the minimum",
    "below_one_cent": "Less than one cent in all",
}
#: What changes that.
REMEDIES: Mapping[str, str] = {
    "test_affiliate": "Rehearsals are not paid.",
    "affiliate_not_approved": "Approve them, then they are paid.",
    "negative_balance": "What they earn next makes up for it.",
    "fx_unavailable": "It waits for a rate that is not older than three days.",
    "no_payout_account": "They say in their portal where to pay.",
    "tax_form_required": "You pay nobody without a tax form.",
    "below_minimum": "It goes on growing.",
    "below_one_cent": "It is paid once it comes to a cent of US money or more.",
}
_MOST_ROWS = 50
_MOST_CENTS = 10**15
_TYPED = re.compile(r"(?P<number>[0-9]{1,15}(\.[0-9]{1,2})?)(USD)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CurrencyPart:
    """What a run pays of one currency: `native` in its minor units, `usd` in US cents; `rate` is per 1 USD."""

    currency: str
    affiliates: int
    native: int
    rate: object
    as_of: str
    usd: int


@dataclass(frozen=True, slots=True)
class PaidAffiliate:
    """Whom a run pays: US cents, for so many conversions."""

    id: str
    name: str
    usd: int
    conversions: int


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """What is due to somebody in one currency and not paid, in its minor units, and why."""

    id: str
    name: str
    cents: int
    currency: str
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A preview for the eye. `total` in US cents; of long lists the largest rows, and how many there are in all.

    `methods` are those by which money leaves, each with how many affiliates are paid so.
    """

    total: int
    count: int
    conversions: int
    parts: Sequence[CurrencyPart]
    methods: Sequence[tuple[str, int]]
    paid: Sequence[PaidAffiliate]
    behind: Sequence[LeftBehind]
    behind_count: int
    figures: "ConfirmedFigures"


@dataclass(frozen=True, slots=True)
class ConfirmedFigures:
    """The figures that somebody saw: the total in US cents, native minor units and rates by currency."""

    total: int
    native: Mapping[str, Any]
    rates: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The figures as a form carries them."""
        return orjson.dumps([self.total, self.native, self.rates], option=orjson.OPT_SORT_KEYS).decode()

    @property
    def body(self) -> dict[str, Any]:
        """What the API is sent to compare with."""
        return {
            "confirmTotalCents": max(0, sum(self.native.values())),
            "confirmTotals": self.native,
            "confirmFxRates": self.rates,
            "confirmPayoutTotalUsdCents": self.total,
        }


def planned(preview: Mapping[str, Any]) -> PlannedRun:
    """Return what a preview says, the largest first."""
    candidates = preview["candidates"]
    going = [one for one in candidates if one["payoutReady"]]
    staying = [one for one in candidates if not one["payoutReady"]]
    behind = [_left(one) for one in sorted(staying, key=lambda one: (one["blockedReason"], -one["eligibleCents"]))]
    native, rates = preview["nativeTotalsForRun"], preview["fxRunRates"]
    return PlannedRun(
        total=preview["payoutTotalUsdCents"],
        count=preview["payoutCount"],
        conversions=sum(one["conversionCount"] for one in going),
        parts=[_part(currency, going, rates[currency]) for currency in native],
        methods=_methods(going),
        paid=_paid(going)[:_MOST_ROWS],
        behind=behind[:_MOST_ROWS],
        behind_count=len(behind),
        figures=ConfirmedFigures(preview["payoutTotalUsdCents"], native, rates),
    )


def confirmed(text: str) -> ConfirmedFigures | None:
    """Return the figures that a form carried; None for what is none."""
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


def typed_cents(text: str) -> int | None:
    """Return US cents of what somebody typed, as it is shown or the digits alone; None for what is no amount."""
    found = _TYPED.fullmatch(re.sub(r"[\s,]", "", text))
    return int(Decimal(found["number"]).scaleb(2)) if found else None


def changes(old: ConfirmedFigures, new: ConfirmedFigures) -> list[str]:
    """Return what moved between two sets of figures, in words: the total first, then each currency."""
    moved = []
    if old.total != new.total:
        moved.append(f"{wording.format_money(old.total, CURRENCY)} → {wording.format_money(new.total, CURRENCY)}")
    for currency in sorted({*old.native, *new.native}):
        was, now = old.native.get(currency), new.native.get(currency)
        if was != now:
            moved.append(f"{_native(was, currency)} → {_native(now, currency)}")
        elif old.rates.get(currency) != new.rates.get(currency):
            moved.append(f"{currency}: {_rate(old, currency)} → {_rate(new, currency)}")
    return moved


def _is_cents(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _MOST_CENTS


def _is_rate(value: Any) -> bool:
    is_told = isinstance(value, dict) and set(value) == {"rate", "asOf"}
    return is_told and isinstance(value["rate"], int | float) and isinstance(value["asOf"], str)


def _part(currency: str, going: Sequence[Mapping[str, Any]], rate: Mapping[str, Any]) -> CurrencyPart:
    of_it = [one for one in going if one["currency"] == currency]
    native, usd = (sum(one[name] for one in of_it) for name in ("eligibleCents", "payoutUsdCents"))
    return CurrencyPart(currency, len(of_it), native, rate["rate"], rate["asOf"], usd)


def _methods(going: Sequence[Mapping[str, Any]]) -> list[tuple[str, int]]:
    used = Counter({one["affiliateId"]: one["method"] for one in going}.values())
    return [(states.METHODS.get(method, method), count) for method, count in used.most_common()]


def _paid(going: Sequence[Mapping[str, Any]]) -> list[PaidAffiliate]:
    usd: Counter[str] = Counter()
    conversions: Counter[str] = Counter()
    for one in going:
        usd[one["affiliateId"]] += one["payoutUsdCents"]
        conversions[one["affiliateId"]] += one["conversionCount"]
    names = {one["affiliateId"]: _name(one) for one in going}
    return [PaidAffiliate(id, names[id], cents, conversions[id]) for id, cents in usd.most_common()]


def _left(one: Mapping[str, Any]) -> LeftBehind:
    why = one["blockedReason"]
    return LeftBehind(
        one["affiliateId"], _name(one), one["eligibleCents"], one["currency"], REASONS[why], REMEDIES[why]
    )


def _name(one: Mapping[str, Any]) -> str:
    return str(one["affiliateName"] or one["affiliateEmail"])


def _native(cents: int | None, currency: str) -> str:
    return wording.format_money(cents or 0, currency)


def _rate(figures: ConfirmedFigures, currency: str) -> str:
    known = figures.rates.get(currency)
    return f"{known['rate']} ({known['asOf']})" if known else wording.DASH
