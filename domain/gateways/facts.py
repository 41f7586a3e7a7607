"""The facts of events, the same for all payment gateways. Adapters translate into these and decide nothing.

Money is minor units by our own exponents (`domain.money.currencies`), with tax, after discount: the money paid.
Times are aware UTC. Ids are the gateway's own. Source: tracking spec, "Attribution method taxonomy" and section 8.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum


class UnreadableEvent(Exception):
    """A proved event of a gateway cannot be read. The message goes into the inbox row."""


class UnsupportedCurrency(Exception):
    """Money in a currency that the service does not know. The message is its code."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """A place of a payment that may name an affiliate, with the method that is written if it does.

    `fields` are all its values: `affiliate_slug` is looked for first, then the organization's parameters; an
    address is taken apart into its query. `method` is such as `stripe_reference_id`.
    """

    method: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RedeemedCode:
    """A code that the buyer redeemed, with the method that is written if it credits its owner.

    `id` is the gateway's id of the code, None where the payment does not contain one; where only that is known `text`
    is empty. `is_id_certain` is False where the id may be of another kind than the one that minting returned: then it
    counts together with the text.
    """

    text: str
    method: str
    id: str | None = None
    is_id_certain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class BuyerOrigin:
    """Where a payment comes from: the customer, and everything that may credit an affiliate for them.

    `customer_id` is the gateway's; `carriers` are in the order in which they count. `is_test` is what the payment says
    of itself: everything of a test connection is a rehearsal anyhow. `is_referral_lost`: it was read from a list, which
    cannot name an affiliate, though the checkout may have had one: only events carry it. `checkout` is the token of a
    store's checkout, by which a web pixel may have reported who referred its browser.
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
        """Return the origin with values of another object: existing values stay, and its carriers count last."""
        more = (carrier for carrier in carriers if carrier not in self.carriers)
        all_carriers = (*self.carriers, *more)
        return replace(self, email=self.email or email, name=self.name or name, carriers=all_carriers)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentFact:
    """Money that was taken. `external_id` is unique at the gateway for ever; refunds may name it by any of `aliases`.

    `net_cents` is without tax and shipping where the gateway has them, else None. A payment of 0 is a fact too: it is
    never a sale, but it may be a lead. `order_id` is the order or invoice that it pays in part, where that has an id of
    its own: payments of one order are one sale. `told_at` is when the gateway's object last changed, where its amount
    may change after it was paid; `total_cents` is the total of the object then, where that is less than the amount.
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
    """The present total of an order, apart from its payment; it means nothing for an unknown order.

    `amount_cents` is the payment in all and `total_cents` the total after edits, also with its refunds
    taken off, both gross. `told_at` is when the order last changed.
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

    A known payment is taken back whole, until it is reported as paid again. `told_at` is when it last changed.
    """

    sale_ids: tuple[str, ...]
    told_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StartFact:
    """A trial or a free signup, without a payment so far. `external_id` is the subscription's or the order's."""

    external_id: str
    started_at: datetime
    origin: BuyerOrigin


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferralFact:
    """The referral of a customer or a subscription; it counts for their payments that name no affiliate."""

    told_at: datetime
    origin: BuyerOrigin


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasFact:
    """Other ids of one payment; any of them may be the one that is known already."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundFact:
    """Money that was refunded. `sale_ids` name the payment, by any of its ids.

    `amount_cents` is this refund's own, or with `is_cumulative` everything that was refunded so far; None is all that
    remains. A refund is booked once by its id, a cumulative one as far as it exceeds what is booked.
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

    Either the refund with `refund_id` is undone, or `refunded_cents` is the amount still refunded of the payment, read
    from the gateway just now.
    """

    sale_ids: tuple[str, ...]
    restored_at: datetime
    refund_id: str | None = None
    refunded_cents: int | None = None
    currency: str | None = None


class DisputeState(StrEnum):
    """The state of a dispute: opened holds the money, lost takes it back, won lets it go."""

    Opened = "opened"
    Lost = "lost"
    Won = "won"


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeFact:
    """A buyer who wants their money back through their bank.

    `amount_cents` is the amount that a lost one takes, in `currency`; None is all that remains. `covers_refunds`: the
    earlier refunds of the payment are part of that.
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
    """The brand took our access away on the gateway's side."""

    why: str


@dataclass(frozen=True, slots=True)
class UnclearFact:
    """Money that moved, of an amount that the gateway does not report or confirm: it waits for a person.

    `reason` is a code such as refund_amount_unknown, not_confirmed.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class IgnoredFact:
    """Nothing that matters here: `reason` is a code such as unknown_type, duplicate_of_another_event, ping."""

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
