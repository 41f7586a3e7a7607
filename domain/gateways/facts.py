"""The meaning of events of any payment gateway. Adapters translate into these and decide nothing.

Money is minor units by our own exponents (`domain.money.currencies`), with tax and after discounts: the sum paid.
Times are aware UTC. Ids are the gateway's own. Source: tracking spec, "Attribution method taxonomy" and section 8.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum


class UnreadableEvent(Exception):
    """An authenticated event of a gateway is malformed. The message goes into the inbox row."""


class UnsupportedCurrency(Exception):
    """Money in a currency that the service does not support. The message is its code."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """A place in a payment that may name an affiliate, with the attribution method to store if it does.

    `fields` is everything in that place: `affiliate_slug` is checked first, then the organization's parameters; a URL
    is split into its query. `method` is such as `stripe_reference_id`.
    """

    method: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RedeemedCode:
    """A code that the buyer redeemed, with the attribution method to store if it credits its owner.

    `id` is the gateway's id of the code, None where the payment does not contain one; `text` is empty where only the id
    is known. `is_id_certain` is False where the id may be of another kind than the one that minting returned: then both
    the id and the text must match.
    """

    text: str
    method: str
    id: str | None = None
    is_id_certain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class BuyerOrigin:
    """The customer of a payment, and everything that may credit an affiliate for them.

    `customer_id` is the gateway's; `carriers` are in order of priority. `is_test` is the payment's own flag; payments
    of a test connection are tests anyway. `is_referral_lost`: the checkout may have named an affiliate, but only events
    carry it, and the payment was read from a list. `checkout` is the token of a store's checkout, by which a web pixel
    may have reported who referred its browser.
    """

    customer_id: str | None = None
    email: str | None = None
    name: str | None = None
    subscription_id: str | None = None
    carriers: tuple[Carrier, ...] = ()
    codes: tuple[RedeemedCode, ...] = ()
    is_test: bool = False
    is_referral_lost: bool = False
    checkout: str | None = None

    def with_more(self, *, email: str | None, name: str | None, carriers: tuple[Carrier, ...] = ()) -> "BuyerOrigin":
        """Return it completed from another object: existing values stay, and the new carriers count last."""
        new_carriers = (carrier for carrier in carriers if carrier not in self.carriers)
        return replace(
            self, email=self.email or email, name=self.name or name, carriers=(*self.carriers, *new_carriers)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentFact:
    """Money that was paid. `external_id` is permanently unique at the gateway; refunds may use any of `aliases`.

    `net_cents` is without tax and shipping where the gateway reports them, else None. A payment of 0 is reported too:
    it is never a sale, but it may be a lead. `order_id` is the order or invoice that it pays in part, where that has an
    id of its own: payments of one order are one sale. If its amount can change after payment, `told_at` is when the
    gateway's object last changed, and `total_cents` its total at that time if that is less than the amount.
    """

    external_id: str
    amount_cents: int
    currency: str
    paid_at: datetime
    origin: BuyerOrigin
    aliases: tuple[str, ...] = ()
    net_cents: int | None = None
    order_id: str | None = None
    told_at: datetime | None = None
    total_cents: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TotalFact:
    """The current total of an order, reported separately from its payment; ignored for an unknown order.

    `amount_cents` is the sum paid for it and `total_cents` its total after edits, less its refunds, both gross.
    `told_at` is when the order last changed.
    """

    sale_ids: tuple[str, ...]
    amount_cents: int
    total_cents: int
    currency: str
    told_at: datetime
    net_cents: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelledFact:
    """An order or a payment that a gateway no longer counts as paid: cancelled, failed, declined, voided, deleted.

    A known payment is refunded in full until it is reported as paid again. `told_at` is when it last changed.
    """

    sale_ids: tuple[str, ...]
    told_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StartFact:
    """A trial or a free signup without a payment yet. `external_id` is the subscription's or the order's."""

    external_id: str
    started_at: datetime
    origin: BuyerOrigin


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferralFact:
    """The referrer of a customer or a subscription, reported separately; it counts for payments that name none."""

    told_at: datetime
    origin: BuyerOrigin


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasFact:
    """All ids of one payment; any of them may already be known."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundFact:
    """Money that went back. `sale_ids` are ids of the payment.

    `amount_cents` is this refund's own, or with `is_cumulative` the total so far; None is all that remains. A refund is
    booked once by its id, a cumulative one as far as it exceeds the booked total.
    """

    refund_id: str
    sale_ids: tuple[str, ...]
    amount_cents: int | None
    currency: str | None
    refunded_at: datetime
    is_cumulative: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredFact:
    """Money of refunds or chargebacks that came back to the brand.

    Either the refund with `refund_id` is undone, or `refunded_cents` is the sum still refunded of the payment, just
    read from the gateway.
    """

    sale_ids: tuple[str, ...]
    restored_at: datetime
    refund_id: str | None = None
    refunded_cents: int | None = None
    currency: str | None = None


class DisputeState(StrEnum):
    """The state of a dispute: opened holds the money, lost takes it back, won releases it."""

    Opened = "opened"
    Lost = "lost"
    Won = "won"


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeFact:
    """A buyer's claim through their bank to get their money back.

    `amount_cents` is what a lost dispute takes, in `currency`; None is all that remains. `covers_refunds`: earlier
    refunds of the payment are part of that.
    """

    dispute_id: str
    sale_ids: tuple[str, ...]
    state: DisputeState
    at: datetime
    amount_cents: int | None = None
    currency: str | None = None
    covers_refunds: bool = False


@dataclass(frozen=True, slots=True)
class DisconnectedFact:
    """The brand revoked our access on the gateway's side."""

    why: str


@dataclass(frozen=True, slots=True)
class UnclearFact:
    """Money that moved, but the gateway does not report or confirm how much: it waits for a person's decision.

    `reason` is a code such as refund_amount_unknown, not_confirmed.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class IgnoredFact:
    """An event without effect here: `reason` is a code such as unknown_type, duplicate_of_another_event, ping."""

    reason: str


Fact = (
    PaymentFact
    | TotalFact
    | CancelledFact
    | StartFact
    | ReferralFact
    | AliasFact
    | RefundFact
    | RestoredFact
    | DisputeFact
    | DisconnectedFact
    | UnclearFact
    | IgnoredFact
)
Facts = Fact | Sequence[Fact]
