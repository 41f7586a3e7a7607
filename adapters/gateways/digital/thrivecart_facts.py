"""What thrivecart's events mean, once its list of transactions confirmed them: orders, rebills, refunds.

Both of its families of names are read. An order is told whole by one event; its items are told again one by one, which
is the same money. Amounts are hundredths; what they are in other currencies is not described, and never guessed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from adapters import clock
from adapters.gateways import shapes
from adapters.gateways.base import GatewayUnreachable
from adapters.gateways.wire import GatewayWire
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

Reader = Callable[[GatewayWire, Any, bool], Facts]

#: How many transactions a page has at most; their own client refuses more.
PAGE = 25

_NULL = "null"
_MOST_PAGES = 20
# How long a transaction may take to be listed after it was told.
_LISTED_WITHIN = timedelta(hours=1)
_NOT_CONFIRMED, _AMOUNT_NOT_CONFIRMED = UnclearFact("not_confirmed"), UnclearFact("amount_not_confirmed")


@dataclass(frozen=True, slots=True)
class ToldMoney:
    """An amount as an event tells it, in minor units: without tax, with it, the tax; None for what it leaves out.

    The tax is None too where it cannot be read.
    """

    plain: int | None
    gross: int | None
    tax: int | None

    def within(self, confirmed: int) -> int | None:
        """Return what was paid, or None where the event claims more than is confirmed; the tax may come on top.

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
    """Return what reads events of a kind; None for those that mean nothing, or the same as another."""
    if kind.startswith("order_refund_"):
        return _refund
    return {
        "order.success": _order,
        "order_created": _order,
        "order.subscription_payment": _rebill,
        "order_rebill": _rebill,
        "order.refund": _refund,
    }.get(kind)


def text(told: Any, *path: str) -> str | None:
    """Return a text at a path; what is nothing is written as the text null."""
    found = shapes.text(told, *path)
    return None if found == _NULL else found


def _order(wire: GatewayWire, told: Any, is_test: bool) -> Facts:
    order_id, at, currency = _order_id(told), _at(told), _currency(told)
    money, origin = _money(told, currency, "order", "total"), _origin(told, is_test)
    if (money.gross if money.gross is not None else money.plain) == 0:
        if text(told, "order", "future_charges") or shapes.at(told, "order", "future_charges"):
            return StartFact(external_id=order_id, started_at=at, origin=origin)
        return _payment(f"order:{order_id}", 0, currency, at, origin)
    charges = [one for one in _transactions(wire, order_id) if text(one, "transaction_type") == "charge"]
    if not charges:
        return _unlisted(at)
    paid = money.within(sum(_listed_amount(one, currency) for one in charges))
    if paid is None:
        return _AMOUNT_NOT_CONFIRMED
    invoice_id = _invoice_id(told) or _invoice_id(charges[0]) or ""
    payment = _payment(f"{order_id}:{invoice_id}", paid, currency, at, origin)
    return replace(payment, aliases=(f"order:{order_id}",), net_cents=_net(money, paid))


def _rebill(wire: GatewayWire, told: Any, is_test: bool) -> Facts:
    order_id, at, currency = _order_id(told), _at(told), _currency(told)
    money = _money(told, currency, "subscription", "amount")
    if money.plain is None and money.gross is None:
        money = _money(told, currency, "order", "total")
    listed = _same(_transactions(wire, order_id), told, "rebill")
    if listed is None:
        return _unlisted(at)
    paid = money.within(_listed_amount(listed, currency))
    if paid is None:
        return _AMOUNT_NOT_CONFIRMED
    invoice_id, event_id = _invoice_id(told) or _invoice_id(listed) or "", shapes.needed(listed, "event_id")
    external_id = f"{order_id}:{invoice_id}:{event_id}"
    payment = _payment(external_id, paid, currency, at, _origin(told, is_test))
    # A name for refunds, apart from the payment: whether each rebill has an invoice of its own is not described.
    alias = AliasFact(ids=(external_id, _by_invoice(order_id, invoice_id)))
    return (replace(payment, net_cents=_net(money, paid)), alias)


def _refund(wire: GatewayWire, told: Any, is_test: bool) -> Facts:
    order_id, at, currency = _order_id(told), _at(told), _currency(told)
    money = _money(told, currency, "refund", "amount")
    listed = _same(_transactions(wire, order_id), told, "refund")
    if listed is None:
        return _unlisted(at)
    back = money.within(_listed_amount(listed, currency))
    if back is None:
        return _AMOUNT_NOT_CONFIRMED
    invoice_id = _invoice_id(told) or _invoice_id(listed)
    by_invoice = (f"{order_id}:{invoice_id}", _by_invoice(order_id, invoice_id)) if invoice_id else ()
    return RefundFact(
        refund_id=f"refund:{shapes.needed(listed, 'event_id')}",
        sale_ids=by_invoice or (f"order:{order_id}",),
        amount_cents=back,
        currency=currency,
        refunded_at=at,
    )


def _transactions(wire: GatewayWire, order_id: str) -> list[Any]:
    """Return what is listed of an order."""
    found: list[Any] = []
    for number in range(1, _MOST_PAGES + 1):
        params = {"query": order_id, "transactionType": "any", "page": str(number), "perPage": str(PAGE)}
        page = shapes.items(wire.get("/transactions", params), "transactions")
        found += [one for one in page if text(one, "order_id") == order_id]
        if len(page) < PAGE:
            break
    return found


def _same(transactions: Sequence[Any], told: Any, kind: str) -> Any | None:
    """Return the one transaction that an event tells: by its id, else the only one of its invoice and amount."""
    of_kind = [one for one in transactions if text(one, "transaction_type") == kind]
    event_id, invoice_id = text(told, "event_id"), _invoice_id(told)
    found = [one for one in of_kind if event_id and text(one, "event_id") == event_id]
    if not found and invoice_id:
        holder = "refund" if kind == "refund" else "subscription"
        said = {text(told, holder, "amount"), text(told, holder, "amount_gross")}
        found = [one for one in of_kind if _invoice_id(one) == invoice_id and text(one, "amount") in said]
    return found[0] if len(found) == 1 else None


def _unlisted(at: datetime) -> Fact:
    """Wait for a transaction that was told just now; an older one is for a person."""
    if clock.now() - at < _LISTED_WITHIN:
        raise GatewayUnreachable("the transaction is not listed yet")
    return _NOT_CONFIRMED


def _payment(external_id: str, paid: int, currency: str, at: datetime, origin: BuyerOrigin) -> PaymentFact:
    return PaymentFact(external_id=external_id, amount_cents=paid, currency=currency, paid_at=at, origin=origin)


def _net(money: ToldMoney, paid: int) -> int | None:
    return None if money.gross is None else amounts.subtract_parts(paid, money.tax)


def _money(told: Any, currency: str, holder: str, name: str) -> ToldMoney:
    def value_of(*names: str) -> object:
        values = (shapes.at(told, holder, field) for field in names)
        return next((value for value in values if value not in (None, "", _NULL)), None)

    plain, gross = (
        None if value is None else _hundredths(value, currency) for value in (value_of(name), value_of(f"{name}_gross"))
    )
    return ToldMoney(plain, gross, amounts.parse_exact_minor(value_of("tax", "tax_paid"), currency))


def _listed_amount(listed: Any, currency: str) -> int:
    return _hundredths(shapes.at(listed, "amount"), currency)


def _hundredths(said: object, currency: str) -> int:
    if currencies.exponent(currency) != 2:
        raise UnreadableEvent(f"what their units of {currency} are is not described")
    return amounts.from_minor(said.strip() if isinstance(said, str) else said, currency)


def _currency(told: Any) -> str:
    return amounts.currency(shapes.at(told, "currency"))


def _order_id(told: Any) -> str:
    return shapes.identity(told, "order_id") or shapes.needed(told, "order", "id")


def _invoice_id(told: Any) -> str | None:
    found = shapes.identity(told, "invoice_id") or shapes.identity(told, "order", "invoice_id")
    return None if found == _NULL else found


def _by_invoice(order_id: str, invoice_id: str) -> str:
    return f"invoice:{order_id}:{invoice_id}"


def _at(told: Any) -> datetime:
    return shapes.moment(told, "date_unix" if text(told, "date_unix") else "order_timestamp")


def _origin(told: Any, is_test: bool) -> BuyerOrigin:
    names = [name for part in ("first_name", "last_name") if (name := text(told, "customer", part))]
    fields = _table(told, "customer", "custom_fields")
    tables = (("thrivecart_url_param", _passthrough(told)), ("thrivecart_custom_field", fields))
    places = (("coupon",), ("coupon", "code"), ("coupon_code",), ("order", "coupon"))
    codes = dict.fromkeys(code for place in places if (code := text(told, *place)))
    customer = shapes.identity(told, "customer_id") or shapes.identity(told, "customer", "id")
    return BuyerOrigin(
        customer_id=None if customer == _NULL else customer,
        email=text(told, "customer", "email"),
        name=text(told, "customer", "name") or " ".join(names) or None,
        subscription_id=text(told, "subscription_id"),
        carriers=tuple(Carrier(method, table) for method, table in tables if table),
        codes=tuple(RedeemedCode(code, "thrivecart_coupon_code") for code in codes),
        is_test=is_test,
        is_referral_lost=shapes.at(told, "from_list") is True,
    )


def _passthrough(told: Any) -> dict[str, str]:
    """Return what the address of the checkout passed through; where it stands is not described, so all is looked at."""
    found: dict[str, str] = {}
    for path in ((), ("order",), ("customer",), ("customer", "custom_fields")):
        prefix = "passthrough_"
        flat = {
            name.removeprefix(prefix): said for name, said in _table(told, *path).items() if name.startswith(prefix)
        }
        query = fields_from_query(text(told, *path, "passthrough") or "")
        found = {**query, **flat, **_table(told, *path, "passthrough"), **found}
    return found


def _table(told: Any, *path: str) -> Mapping[str, str]:
    return {name: said for name, said in shapes.table(told, *path).items() if said != _NULL}
