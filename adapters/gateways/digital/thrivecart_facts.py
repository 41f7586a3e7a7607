"""Translates thrivecart's events, once its list of transactions confirmed them: orders, rebills, refunds.

Both of its sets of field names are read. An order has one event for the whole and one for each item, which repeat the
same money. Amounts are hundredths; their unit in other currencies is not documented, and never guessed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from adapters import clock
from adapters.gateways import shapes
from adapters.gateways.base import GatewayUnreachable
from adapters.gateways.wire import GatewayApi
from domain.gateways import amounts
from domain.gateways.facts import (
    AliasFact,
    BuyerOrigin,
    Carrier,
    Fact,
    Facts,
    PaymentFact,
    RedeemedCode,
    RefundFact,
    StartFact,
    UnclearFact,
    UnreadableEvent,
)
from domain.gateways.referrals import fields_from_query
from domain.money import currencies

Reader = Callable[[GatewayApi, Any, bool], Facts]

#: How many transactions a page has at most; their own client refuses more.
PAGE = 25

_NULL = "null"
_MAX_PAGES = 20
# How long a transaction may take to be listed after its event.
_LISTED_WITHIN = timedelta(hours=1)
_NOT_CONFIRMED, _AMOUNT_NOT_CONFIRMED = UnclearFact("not_confirmed"), UnclearFact("amount_not_confirmed")


@dataclass(frozen=True, slots=True)
class EventMoney:
    """An amount of an event, in minor units: without tax, with it, the tax; None for a missing one.

    The tax is None too where it cannot be read, and the amount without it where that with tax is known.
    """

    plain: int | None
    gross: int | None
    tax: int | None

    def paid_within(self, confirmed: int) -> int | None:
        """Return the paid amount, or None where the event claims more than is confirmed; the tax may come on top.

        Where the tax is unknown, the amount without it counts.
        """
        claimed = self.plain if self.plain is not None else self.gross
        if claimed is None:
            return confirmed
        paid = self.gross if self.gross is not None else claimed
        if claimed > confirmed:
            return None
        if paid <= confirmed or paid == (self.plain or 0) + (self.tax or 0):
            return paid
        return self.plain if self.tax is None else None


def reader(kind: str) -> Reader | None:
    """Return the reader of events of a kind; None for those that mean nothing, or repeat another."""
    if kind.startswith("order_refund_"):
        return _refund
    return {
        "order.success": _order,
        "order_created": _order,
        "order.subscription_payment": _rebill,
        "order_rebill": _rebill,
        "order.refund": _refund,
    }.get(kind)


def text(event: Any, *path: str) -> str | None:
    """Return a text at a path; a missing value is written as the text null."""
    value = shapes.text(event, *path)
    return None if value == _NULL else value


def _order(api: GatewayApi, event: Any, is_test: bool) -> Facts:
    order_id, at, currency = _order_id(event), _event_time(event), _currency(event)
    money, origin = _money(event, currency, "order", "total"), _origin(event, is_test)
    if (money.gross if money.gross is not None else money.plain) == 0:
        if text(event, "order", "future_charges") or shapes.get(event, "order", "future_charges"):
            return StartFact(external_id=order_id, started_at=at, origin=origin)
        return _payment(f"order:{order_id}", 0, currency, at, origin)
    charges = [
        transaction for transaction in _transactions(api, order_id) if text(transaction, "transaction_type") == "charge"
    ]
    if not charges:
        return _wait_for_listing(at)
    paid = money.paid_within(sum(_listed_amount(transaction, currency) for transaction in charges))
    if paid is None:
        return _AMOUNT_NOT_CONFIRMED
    invoice_id = _invoice_id(event) or _invoice_id(charges[0]) or ""
    payment = _payment(f"{order_id}:{invoice_id}", paid, currency, at, origin)
    return replace(payment, aliases=(f"order:{order_id}",), net_cents=_net(money, paid))


def _rebill(api: GatewayApi, event: Any, is_test: bool) -> Facts:
    order_id, at, currency = _order_id(event), _event_time(event), _currency(event)
    money = _money(event, currency, "subscription", "amount")
    if money.plain is None and money.gross is None:
        money = _money(event, currency, "order", "total")
    listed = _matching_transaction(_transactions(api, order_id), event, "rebill")
    if listed is None:
        return _wait_for_listing(at)
    paid = money.paid_within(_listed_amount(listed, currency))
    if paid is None:
        return _AMOUNT_NOT_CONFIRMED
    invoice_id, event_id = _invoice_id(event) or _invoice_id(listed) or "", shapes.require(listed, "event_id")
    external_id = f"{order_id}:{invoice_id}:{event_id}"
    payment = _payment(external_id, paid, currency, at, _origin(event, is_test))
    # A name for refunds, apart from the payment: whether each rebill has an invoice of its own is not described.
    alias = AliasFact(ids=(external_id, _by_invoice(order_id, invoice_id)))
    return (replace(payment, net_cents=_net(money, paid)), alias)


def _refund(api: GatewayApi, event: Any, is_test: bool) -> Facts:
    order_id, at, currency = _order_id(event), _event_time(event), _currency(event)
    money = _money(event, currency, "refund", "amount")
    listed = _matching_transaction(_transactions(api, order_id), event, "refund")
    if listed is None:
        return _wait_for_listing(at)
    back = money.paid_within(_listed_amount(listed, currency))
    if back is None:
        return _AMOUNT_NOT_CONFIRMED
    invoice_id = _invoice_id(event) or _invoice_id(listed)
    by_invoice = (f"{order_id}:{invoice_id}", _by_invoice(order_id, invoice_id)) if invoice_id else ()
    return RefundFact(
        refund_id=f"refund:{shapes.require(listed, 'event_id')}",
        sale_ids=by_invoice or (f"order:{order_id}",),
        amount_cents=back,
        currency=currency,
        refunded_at=at,
    )


def _transactions(api: GatewayApi, order_id: str) -> list[Any]:
    """Return the listed transactions of an order."""
    transactions: list[Any] = []
    for number in range(1, _MAX_PAGES + 1):
        params = {"query": order_id, "transactionType": "any", "page": str(number), "perPage": str(PAGE)}
        page = shapes.items(api.get("/transactions", params), "transactions")
        transactions += [transaction for transaction in page if text(transaction, "order_id") == order_id]
        if len(page) < PAGE:
            break
    return transactions


def _matching_transaction(transactions: Sequence[Any], event: Any, kind: str) -> Any | None:
    """Return the one transaction of an event: by its id, else the only one of its invoice and amount."""
    of_kind = [transaction for transaction in transactions if text(transaction, "transaction_type") == kind]
    event_id, invoice_id = text(event, "event_id"), _invoice_id(event)
    matching = [transaction for transaction in of_kind if event_id and text(transaction, "event_id") == event_id]
    if not matching and invoice_id:
        holder = "refund" if kind == "refund" else "subscription"
        amounts_of_event = {text(event, holder, "amount"), text(event, holder, "amount_gross")}
        matching = [
            transaction
            for transaction in of_kind
            if _invoice_id(transaction) == invoice_id and text(transaction, "amount") in amounts_of_event
        ]
    return matching[0] if len(matching) == 1 else None


def _wait_for_listing(at: datetime) -> Fact:
    """Raise GatewayUnreachable for a recent transaction, which is read again; an older one is for a person."""
    if clock.now() - at < _LISTED_WITHIN:
        raise GatewayUnreachable("the transaction is not listed yet")
    return _NOT_CONFIRMED


def _payment(external_id: str, paid: int, currency: str, at: datetime, origin: BuyerOrigin) -> PaymentFact:
    return PaymentFact(external_id=external_id, amount_cents=paid, currency=currency, paid_at=at, origin=origin)


def _net(money: EventMoney, paid: int) -> int | None:
    return None if money.gross is None else amounts.subtract_parts(paid, money.tax)


def _money(event: Any, currency: str, holder: str, name: str) -> EventMoney:
    def value_of(*names: str) -> object:
        values = (shapes.get(event, holder, field) for field in names)
        value = next((value for value in values if value not in (None, "", _NULL)), None)
        return value.strip() if isinstance(value, str) else value

    plain_value, gross_value = value_of(name), value_of(f"{name}_gross")
    gross = None if gross_value is None else _hundredths(gross_value, currency)
    if gross is not None:
        plain = amounts.parse_exact_minor(plain_value, currency)
    else:
        plain = None if plain_value is None else _hundredths(plain_value, currency)
    return EventMoney(plain, gross, amounts.parse_exact_minor(value_of("tax", "tax_paid"), currency))


def _listed_amount(listed: Any, currency: str) -> int:
    return _hundredths(shapes.get(listed, "amount"), currency)


def _hundredths(value: object, currency: str) -> int:
    if currencies.exponent(currency) != 2:
        raise UnreadableEvent(f"what their units of {currency} are is not described")
    return amounts.from_minor(value.strip() if isinstance(value, str) else value, currency)


def _currency(event: Any) -> str:
    return amounts.currency(shapes.get(event, "currency"))


def _order_id(event: Any) -> str:
    return shapes.identity(event, "order_id") or shapes.require(event, "order", "id")


def _invoice_id(event: Any) -> str | None:
    invoice_id = shapes.identity(event, "invoice_id") or shapes.identity(event, "order", "invoice_id")
    return None if invoice_id == _NULL else invoice_id


def _by_invoice(order_id: str, invoice_id: str) -> str:
    return f"invoice:{order_id}:{invoice_id}"


def _event_time(event: Any) -> datetime:
    return shapes.moment(event, "date_unix" if text(event, "date_unix") else "order_timestamp")


def _origin(event: Any, is_test: bool) -> BuyerOrigin:
    names = [name for part in ("first_name", "last_name") if (name := text(event, "customer", part))]
    fields = _table(event, "customer", "custom_fields")
    tables = (("thrivecart_url_param", _passthrough(event)), ("thrivecart_custom_field", fields))
    places = (("coupon",), ("coupon", "code"), ("coupon_code",), ("order", "coupon"))
    codes = dict.fromkeys(code for place in places if (code := text(event, *place)))
    customer = shapes.identity(event, "customer_id") or shapes.identity(event, "customer", "id")
    return BuyerOrigin(
        customer_id=None if customer == _NULL else customer,
        email=text(event, "customer", "email"),
        name=text(event, "customer", "name") or " ".join(names) or None,
        subscription_id=text(event, "subscription_id"),
        carriers=tuple(Carrier(method, table) for method, table in tables if table),
        codes=tuple(RedeemedCode(code, "thrivecart_coupon_code") for code in codes),
        is_test=is_test,
        is_referral_lost=shapes.get(event, "from_list") is True,
    )


def _passthrough(event: Any) -> dict[str, str]:
    """Return the fields of the checkout's address; their place is not documented, so all places are read."""
    fields: dict[str, str] = {}
    for path in ((), ("order",), ("customer",), ("customer", "custom_fields")):
        prefix = "passthrough_"
        flat = {
            name.removeprefix(prefix): value for name, value in _table(event, *path).items() if name.startswith(prefix)
        }
        query = fields_from_query(text(event, *path, "passthrough") or "")
        fields = {**query, **flat, **_table(event, *path, "passthrough"), **fields}
    return fields


def _table(event: Any, *path: str) -> Mapping[str, str]:
    return {name: value for name, value in shapes.table(event, *path).items() if value != _NULL}
