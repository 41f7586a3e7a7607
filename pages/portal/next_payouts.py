"""When each brand pays next, and what of the affiliate's commission is payable by then."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class NextPayout:
    """The next payout of a brand. `payable` are the amounts payable by then, by currency; None if they are not known.

    They are not known without a day, and for an affiliate of several brands, whose balance is that of all.
    """

    brand: str
    day: str | None
    cadence: str
    minimums: Sequence[Mapping[str, Any]]
    payable: Mapping[str, int] | None

    @property
    def is_too_small(self) -> bool:
        """Whether the payable amount is below every minimum; unknown, and so no, if their currencies differ."""
        if not self.payable or not self.minimums:
            return False
        return all(
            set(self.payable) == {minimum["currency"]} and self.payable[minimum["currency"]] < minimum["amountCents"]
            for minimum in self.minimums
        )


def list_next_payouts(brands: Sequence[Mapping[str, Any]], balance: Mapping[str, Any]) -> list[NextPayout]:
    """Return the next payout of each brand."""
    return [
        NextPayout(
            brand=brand["name"],
            day=brand["nextPayoutOn"],
            cadence=brand["payoutCadence"],
            minimums=brand["minPayouts"],
            payable=_sum_payable(brand, balance) if brand["nextPayoutOn"] and len(brands) == 1 else None,
        )
        for brand in brands
    ]


def _sum_payable(brand: Mapping[str, Any], balance: Mapping[str, Any]) -> dict[str, int]:
    """Return what is payable when the brand's payout day begins, by currency."""
    zone = ZoneInfo(brand["timezone"])
    start = datetime.combine(date.fromisoformat(brand["nextPayoutOn"]), datetime.min.time(), zone)
    sums = Counter({part["currency"]: part["payableCents"] for part in balance["balances"]})
    for part in balance["coming"]:
        if datetime.fromisoformat(part["payableAt"]) <= start:
            sums[part["currency"]] += part["amountCents"]
    return {currency: cents for currency, cents in sorted(sums.items()) if cents > 0}
