"""A deterministic sample account in a neutral form. Each row is computed from its index, so its size costs no memory.

Commissions are in the order of their times. Commission i belongs to customer i % payers, so that customers come again;
customers after the payers are leads. Every affiliate has one link, some a second one, some a code.
"""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

AffiliateWord = Literal["active", "pending", "rejected", "paused", "banned"]
CommissionWord = Literal["paid", "owed", "pending", "refunded", "denied"]

_UNTIL = datetime(2026, 11, 1, tzinfo=UTC)
_AGE = timedelta(days=720)
_NAMES = ("Anna", "Björn", "Chloé", "Dmitri", "Elif", "Fatima", "Giulia", "Hiro", "Ines", "Jürgen")
_FAMILIES = ("Berg", "Cole", "Dupont", "Esposito", "Fischer", "García", "Haddad")
# Seven of ten affiliates are active.
_AFFILIATE_WORDS: tuple[AffiliateWord, ...] = (
    "active", "active", "active", "paused", "active", "pending", "active", "rejected", "active", "banned",
)  # fmt: skip
# What happened to commissions of the last tenth, whose fate is open; older ones are paid or lost.
_RECENT_WORDS: tuple[CommissionWord, ...] = ("pending", "owed", "pending", "owed", "denied")
# Tokens that are no slug here: capitals, a dot, one letter, an underscore.
_ODD_TOKENS = ("Anna.Bell", "x", "the_one", "UPPER-case", "ünïcode")

_KINDS = {
    name: number
    for number, name in enumerate(
        ("campaign", "affiliate", "link", "code", "customer", "commission", "payout", "sale", "program"), start=1
    )
}


@dataclass(frozen=True, slots=True)
class SampleCampaign:
    """A campaign and its terms: percent, months, days."""

    index: int
    name: str
    percent: int
    months: int | None
    cookie_days: int = 60
    hold_days: int = 30


@dataclass(frozen=True, slots=True)
class SampleAffiliate:
    """An affiliate; `tokens` are their links in order."""

    index: int
    campaign: int
    email: str
    first_name: str
    last_name: str
    paypal_email: str | None
    word: AffiliateWord
    tokens: tuple[str, ...]
    code: str | None
    is_code_archived: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SampleCustomer:
    """A customer, or a lead: then `first_paid_at` is None and the billing system has no id of them."""

    index: int
    affiliate: int
    email: str
    name: str
    billing_id: str | None
    subscription_id: str | None
    created_at: datetime
    first_paid_at: datetime | None
    payments: int


@dataclass(frozen=True, slots=True)
class SampleCommission:
    """A commission and its sale. `commission_cents` is as the source states it now: 0 if it was refunded."""

    index: int
    customer: int
    affiliate: int
    currency: str
    charge_id: str
    sale_cents: int
    tax_cents: int
    refunded_cents: int
    commission_cents: int
    word: CommissionWord
    is_first: bool
    paid_by_customer_at: datetime
    due_at: datetime


@dataclass(frozen=True, slots=True)
class SamplePayout:
    """All that was paid to an affiliate in one currency."""

    index: int
    affiliate: int
    currency: str
    cents: int
    paid_at: datetime


@dataclass(frozen=True, slots=True)
class Sample:
    """An account of so many rows. One of ten customers is a lead.

    `currencies` are those of an affiliate's customers in turn.
    """

    affiliates: int = 20
    customers: int = 60
    commissions: int = 200
    campaigns: int = 2
    currencies: tuple[str, ...] = ("USD", "EUR")
    until: datetime = _UNTIL

    @property
    def payers(self) -> int:
        """The number of customers who have paid."""
        return min(self.commissions, max(1, self.customers - self.customers // 10))

    def id(self, kind: str, index: int) -> str:
        """Return the UUID of a row."""
        return str(uuid.UUID(int=(_KINDS[kind] << 96) | (index + 1), version=4))

    def index(self, kind: str, row_id: str) -> int | None:
        """Return the index of a row by its UUID; None for another one's."""
        try:
            number = uuid.UUID(row_id).int
        except ValueError:
            return None
        index = (number & ((1 << 48) - 1)) - 1
        return index if index >= 0 and self.id(kind, index) == row_id else None

    def campaign(self, index: int) -> SampleCampaign:
        """Return a campaign."""
        return SampleCampaign(
            index, ("Partners", "Agencies", "Press")[index % 3], 30 - 5 * index, 12 if index else None
        )

    def affiliate(self, index: int) -> SampleAffiliate:
        """Return an affiliate."""
        first, last = _NAMES[index % 10], _FAMILIES[index % 7]
        token = _ODD_TOKENS[index] if index < len(_ODD_TOKENS) else f"partner{index}"
        return SampleAffiliate(
            index=index,
            campaign=index % self.campaigns,
            email=f"Partner{index}@Example.com" if index % 10 == 1 else f"partner{index}@example.com",
            first_name=first,
            last_name=last,
            paypal_email=f"paypal{index}@example.com" if index % 3 == 0 else None,
            word=_AFFILIATE_WORDS[index % 10],
            tokens=(token, f"blog-{index}") if index % 4 == 0 else (token,),
            code=f"SAVE{index}" if index % 5 == 0 else None,
            is_code_archived=index % 10 == 5,
            created_at=self.until - _AGE - timedelta(hours=self.affiliates - index),
        )

    def customer(self, index: int) -> SampleCustomer:
        """Return a customer."""
        has_paid = index < self.payers
        payments = -(-(self.commissions - index) // self.payers) if has_paid else 0
        first_paid_at = self._paid_at(index) if has_paid else None
        return SampleCustomer(
            index=index,
            affiliate=self.affiliate_of(index),
            email=f"buyer{index}@customers.example.com",
            name=f"{_NAMES[index % 10]} {_FAMILIES[(index + 3) % 7]}",
            billing_id=f"cus_{index:014d}" if has_paid else None,
            subscription_id=f"sub_{index:014d}" if has_paid else None,
            created_at=(first_paid_at or self.until) - timedelta(days=3),
            first_paid_at=first_paid_at,
            payments=payments,
        )

    def commission(self, index: int) -> SampleCommission:
        """Return a commission."""
        customer = index % self.payers
        affiliate = self.affiliate_of(customer)
        word, sale, refunded, cents = self._money(index, affiliate)
        return SampleCommission(
            index=index,
            customer=customer,
            affiliate=affiliate,
            currency=self._currency(customer),
            charge_id=f"ch_{index:014d}",
            sale_cents=sale,
            tax_cents=sale // 5,
            refunded_cents=refunded,
            commission_cents=cents,
            word=word,
            is_first=index < self.payers,
            paid_by_customer_at=self._paid_at(index),
            due_at=self._paid_at(index) + timedelta(days=30),
        )

    def sale_cents(self, index: int) -> int:
        """Return the sale of a commission, before tax."""
        return 1_900 + index % 7 * 1_000

    def affiliate_of(self, customer: int) -> int:
        """Return the affiliate of a customer: every fifth affiliate has no customer."""
        return customer % max(1, self.affiliates - self.affiliates // 5)

    def payouts(self) -> list[SamplePayout]:
        """Return a payout per affiliate and currency: the sum of their paid commissions. Computes all commissions."""
        sums: dict[tuple[int, str], int] = {}
        for index in range(self.commissions):
            customer = index % self.payers
            affiliate = self.affiliate_of(customer)
            word, _, _, cents = self._money(index, affiliate)
            if word == "paid":
                key = affiliate, self._currency(customer)
                sums[key] = sums.get(key, 0) + cents
        return [
            SamplePayout(place, affiliate, currency, cents, self.until - timedelta(days=20))
            for place, ((affiliate, currency), cents) in enumerate(sorted(sums.items()))
        ]

    def _currency(self, customer: int) -> str:
        earning = max(1, self.affiliates - self.affiliates // 5)
        return self.currencies[customer // earning % len(self.currencies)]

    def _paid_at(self, index: int) -> datetime:
        step = (_AGE - timedelta(days=2)) / max(1, self.commissions)
        return (self.until - _AGE + timedelta(days=1) + step * index).replace(microsecond=0)

    def _money(self, index: int, affiliate: int) -> tuple[CommissionWord, int, int, int]:
        """Return word, sale, refund and commission in cents. The sale is before tax."""
        sale = self.sale_cents(index)
        percent = 30 - 5 * (affiliate % self.campaigns)
        cents = sale * percent // 100
        if index >= self.commissions - self.commissions // 10:
            return _RECENT_WORDS[index % 5], sale, 0, cents
        if index % 25 == 24:
            return "refunded", sale, sale, 0
        if index % 25 == 12:
            return "paid", sale, sale // 2, cents - cents // 2
        return "paid", sale, 0, cents
