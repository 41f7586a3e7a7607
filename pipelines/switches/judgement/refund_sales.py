"""Which sale each refund of a slice takes back, and how much of it."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from domain import emails
from domain.switches.decisions import external_event_id
from models.switches.judgement import refund_lookups
from models.switches.judgement.items import Item
from models.switches.judgement.refund_lookups import CustomerToRefund, RefundableSale
from pipelines.switches.understanding.context import Judging

# More sales of one affiliate to one customer are not searched at once.
_MAX_OF_CUSTOMER = 20_000
# Of one affiliate's commissions of one payment only so many can be refunded.
_MAX_OF_PAYMENT = 20
_Owner = tuple[str | None, str | None]
_Group = tuple[str | None, _Owner]


@dataclass(frozen=True, slots=True)
class RefundShare:
    """The sale of a refund, and what the refund takes of its amount and commission, in minor units."""

    sale: RefundableSale
    amount_cents: int
    commission_cents: int


def choose(judging: Judging, refunds: Sequence[Item]) -> dict[str, RefundShare]:
    """Return the sale of each refund by the refund's source id; refunds that find nothing to take are left out.

    A payment or charge that the switch has decides alone: the refund is taken from the same affiliate's commission.
    Else it is the customer's newest sale before it that has enough left of its commission, also one that an earlier
    switch brought. Refunds before it leave less. Budget: 5 round trips for any number of refunds.
    """
    of_payments = _find_of_payments(judging, refunds)
    groups: dict[_Group, list[Item]] = defaultdict(list)
    for refund in refunds:
        if refund.source_id not in of_payments:
            groups[_group(refund)].append(refund)
    alone = [_customer(members[0], members[0].source_id) for members in groups.values() if len(members) == 1]
    candidates = of_payments | _find_newest(judging, alone, limit=1)
    left = _Left()
    left.load(judging, candidates.values())
    contested = _find_contested(refunds, candidates, left)
    wide = {group: each for group, each in groups.items() if len(each) > 1 or each[0].source_id in contested}
    stocks = _load_stocks(judging, wide, left)
    shares = {}
    for refund in refunds:
        stock = stocks.get(_group(refund)) if refund.source_id not in of_payments else None
        if stock is not None:
            sale = stock.choose(refund, left)
        else:
            sale = left.choose(refund, candidates.get(refund.source_id, ()))
        share = left.take(refund, sale) if sale is not None else None
        if share is not None:
            shares[refund.source_id] = share
    return shares


def _find_of_payments(judging: Judging, refunds: Sequence[Item]) -> dict[str, list[RefundableSale]]:
    """Return the sales that a refund may take of its payment, else of its charge; refunds without either are left out.

    A payment whose sales are left out, or of other affiliates, leaves no sale.
    """
    names = {
        refund.source_id: [name for name in (refund.key, (refund.record or {}).get("charge_id")) if name is not None]
        for refund in refunds
    }
    by_payment = refund_lookups.find_sales_of_payments(
        **judging.switch.key, payments=sorted({name for each in names.values() for name in each})
    )
    takeable: dict[tuple[str, _Owner], list[RefundableSale]] = defaultdict(list)
    for payment, sales in by_payment.items():
        for sale in sales:
            of_owner = takeable[payment, (sale.affiliate_ref, sale.currency)]
            if sale.comes_over and len(of_owner) < _MAX_OF_PAYMENT:
                of_owner.append(sale)
    by_refund = {}
    for refund in refunds:
        payment_or_charge = next((name for name in names[refund.source_id] if name in by_payment), None)
        if payment_or_charge is not None:
            by_refund[refund.source_id] = takeable.get((payment_or_charge, (refund.affiliate_ref, refund.currency)), [])
    return by_refund


class _Left:
    """What is left of sales in the course of a slice: amount and commission by source id."""

    def __init__(self) -> None:
        self._left: dict[str, tuple[int, int]] = {}

    def load(self, judging: Judging, sales: Iterable[Sequence[RefundableSale]]) -> None:
        """Load what refunds of earlier slices left of these sales. Budget: 1 round trip."""
        unknown = {sale.source_id: sale for each in sales for sale in each if sale.source_id not in self._left}
        taken = refund_lookups.sum_refunds(**judging.switch.key, sale_ids=list(unknown)) if unknown else {}
        for source_id, sale in unknown.items():
            amount, commission = taken.get(source_id, (0, 0))
            self._left[source_id] = max(sale.amount_cents - amount, 0), max(sale.commission_cents - commission, 0)

    def find(self, sale: RefundableSale) -> tuple[int, int]:
        """Return what is left of a loaded sale's amount and commission."""
        return self._left[sale.source_id]

    def choose(self, refund: Item, sales: Sequence[RefundableSale]) -> RefundableSale | None:
        """Return the first sale with enough left of its commission, else the one with most left; None without any."""
        enough = (sale for sale in sales if self.find(sale)[1] >= _cents(refund))
        return next(enough, None) or max(sales, key=lambda sale: self.find(sale)[::-1], default=None)

    def take(self, refund: Item, sale: RefundableSale) -> RefundShare | None:
        """Return the share of a refund, and take it from what is left; None if nothing is left."""
        amount_cents, commission_cents = self.find(sale)
        share = RefundShare(
            sale, min(-min(refund.amount_cents or 0, 0), amount_cents), min(_cents(refund), commission_cents)
        )
        if not share.amount_cents and not share.commission_cents:
            return None
        self._left[sale.source_id] = (amount_cents - share.amount_cents, commission_cents - share.commission_cents)
        return share


class _NewestFirst:
    """The sales of one affiliate to one customer, newest first. Sales that are used up are passed over once."""

    def __init__(self, sales: Sequence[RefundableSale], least_cents: int) -> None:
        self._sales, self._least_cents = sales, least_cents
        self._times = [-sale.occurred_at.timestamp() for sale in sales if sale.occurred_at is not None]
        self._next = list(range(len(sales) + 1))

    def choose(self, refund: Item, left: _Left) -> RefundableSale | None:
        """Return the newest sale before a refund with enough left; None without one."""
        assert refund.occurred_at is not None  # else it is left out
        place = self._skip(bisect_left(self._times, -refund.occurred_at.timestamp()))
        while place < len(self._sales):
            cents = left.find(self._sales[place])[1]
            if cents >= _cents(refund):
                return self._sales[place]
            if cents < self._least_cents:
                self._next[place] = place + 1
            place = self._skip(place + 1)
        return None

    def _skip(self, place: int) -> int:
        """Return the first place from this one on that may have enough left."""
        while self._next[place] != place:
            self._next[place] = self._next[self._next[place]]
            place = self._next[place]
        return place


def _find_contested(
    refunds: Sequence[Item], candidates: Mapping[str, Sequence[RefundableSale]], left: _Left
) -> set[str]:
    """Return the refunds one of whose sales has not enough left for all refunds of the slice that may take it."""
    demand_cents: Counter[str] = Counter()
    for refund in refunds:
        for sale in candidates.get(refund.source_id, ()):
            demand_cents[sale.source_id] += _cents(refund)
    return {
        refund.source_id
        for refund in refunds
        if any(demand_cents[sale.source_id] > left.find(sale)[1] for sale in candidates.get(refund.source_id, ()))
    }


def _load_stocks(judging: Judging, groups: Mapping[_Group, Sequence[Item]], left: _Left) -> dict[_Group, _NewestFirst]:
    """Return the sales that refunds of the same customer and affiliate may take."""
    customers = {}
    for place, (group, members) in enumerate(groups.items()):
        of_group = [_customer(refund, str(place)) for refund in members]
        customers[group] = replace(
            of_group[0],
            latest_at=max(customer.latest_at for customer in of_group),
            least_cents=min(customer.least_cents for customer in of_group),
        )
    sales = _find_newest(judging, list(customers.values()), limit=_MAX_OF_CUSTOMER)
    left.load(judging, sales.values())
    return {
        group: _NewestFirst(sales.get(customer.id, ()), customer.least_cents) for group, customer in customers.items()
    }


def _find_newest(
    judging: Judging, customers: Sequence[CustomerToRefund], *, limit: int
) -> dict[str, list[RefundableSale]]:
    if not customers:
        return {}
    prefix = external_event_id(judging.switch.source, "")
    return refund_lookups.find_newest_sales(customers, **judging.switch.key, id_prefix=prefix, limit=limit)


def _customer(refund: Item, name: str) -> CustomerToRefund:
    record = refund.record or {}
    email = record.get("customer_email")
    assert refund.affiliate_ref is not None  # else it is left out
    assert refund.owner_id is not None
    assert refund.currency is not None
    assert refund.occurred_at is not None
    return CustomerToRefund(
        id=name,
        customer_ref=refund.customer_ref,
        affiliate_ref=refund.affiliate_ref,
        owner_id=refund.owner_id,
        currency=refund.currency,
        latest_at=refund.occurred_at,
        least_cents=_cents(refund),
        customer_id=record.get("billing_id"),
        subscription_id=record.get("subscription_id"),
        email=emails.normalize(email) if email else None,
    )


def _group(refund: Item) -> _Group:
    return refund.customer_ref, (refund.affiliate_ref, refund.currency)


def _cents(refund: Item) -> int:
    """Return the commission that a refund takes back."""
    return -(refund.commission_cents or 0)
