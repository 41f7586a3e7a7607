"""gumroad: sales, renewals, refunds and disputes, each read again at its API before anything is booked.

Its deliveries are not signed: one only names a sale, which is read from the API. Only the referral is taken from the
delivery. All amounts are US cents, whatever the product's currency is. A gift is two sales:
the receiver's, without money, which a delivery may name, and the giver's, with the money, which is booked.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from adapters import clock
from adapters.gateways import forms, paging, proofs, shapes
from adapters.gateways.adapter import ApiAdapter, ManyWebhooksAdapter, make_listed
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    GatewayRejected,
    GatewayUnreachable,
    Inbound,
    Known,
    NotProved,
    Subscribed,
)
from adapters.gateways.wire import GatewayApi, Params, bearer, parse_json
from domain.gateways import amounts
from domain.gateways.facts import (
    BuyerOrigin,
    Carrier,
    DisputeFact,
    DisputeState,
    Fact,
    Facts,
    IgnoredFact,
    PaymentFact,
    RedeemedCode,
    RefundFact,
    StartFact,
    UnclearFact,
    UnreadableEvent,
)

_RESOURCES = ("sale", "refund", "dispute", "dispute_won")
_SUBSCRIPTIONS = "/resource_subscriptions"
_CURRENCY = "USD"
_GIVEN_WITHIN = timedelta(hours=1)
# Their dates are days of the seller's; and refunds have no list of their own.
_OVERLAP, _REFUNDED_WITHIN = timedelta(days=2), timedelta(days=14)


class Gumroad(ManyWebhooksAdapter, ApiAdapter):
    name = "gumroad"
    label = "Gumroad"
    kind = "digital_goods"
    fields = (
        CredentialField(
            "accessToken", "Access token", "Settings, Advanced, your application; rights view_sales and edit_products"
        ),
    )
    capabilities = Capabilities(
        coupons=True,
        disputes=(DisputeState.Lost, DisputeState.Won),
        lacks=(
            "A partial refund of a product that is not priced in US dollars waits for a person's decision.",
            "A payment whose webhook was lost is credited only by custom field, code, history or email.",
            "A refund whose webhook was lost, and every refund of a gift, is found for sales of the last 14 days.",
        ),
    )
    webhooks_key = "subscriptions"

    def api(self, account: GatewayAccount) -> GatewayApi:
        return GatewayApi("gumroad", "https://api.gumroad.com/v2", bearer(account.credentials.get("accessToken", "")))

    def check(self, account: GatewayAccount) -> Known:
        """Read whose token it is."""
        seller = _seller(self.api(account))
        return Known(seller, identity=(seller,))

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Subscribe to each resource, and read the seller's id, which every delivery repeats."""

        def make_subscription(name: str) -> str:
            answer = api.request("PUT", _SUBSCRIPTIONS, form={"resource_name": name, "post_url": address}).json
            if shapes.get(answer, "success") is not True:
                raise GatewayRejected(422, shapes.text(answer, "message") or "it does not say why")
            return shapes.require(answer, "resource_subscription", "id")

        api = self.api(account)
        seller = _seller(api)
        subscriptions = self.make_webhooks(account, map(make_subscription, _RESOURCES))
        return Subscribed({"sellerId": seller, self.webhooks_key: " ".join(subscriptions)})

    def delete_webhooks(self, account: GatewayAccount, webhooks: Sequence[str]) -> None:
        api = self.api(account)
        for webhook in webhooks:
            api.delete(f"{_SUBSCRIPTIONS}/{shapes.segment(webhook)}")

    def verify(self, account: GatewayAccount, request: Inbound) -> None:
        """Accept any POST to the address, which only gumroad knows: the API must confirm everything that is booked."""
        if request.method != "POST" or not account.secrets("sellerId"):
            raise NotProved

    def parse(self, raw: bytes) -> Any:
        """Return a form, or JSON, as lists and some subscriptions have it."""
        return parse_json(raw) if raw.lstrip().startswith(b"{") else forms.parse_nested(raw)

    def read_event(self, raw: bytes) -> Any:
        ping = super().read_event(raw)
        if shapes.text(ping, "resource_name") is None:  # the account's own address receives sales alone
            shapes.require(ping, "sale_id")
        return ping

    def read_delivery(self, request: Inbound) -> GatewayDelivery:
        try:
            ping = self.read_event(request.body)
            kind, sale_id = shapes.text(ping, "resource_name") or "sale", shapes.text(ping, "sale_id")
        except UnreadableEvent:
            return GatewayDelivery(proofs.fingerprint(request.body), "unreadable", request.body)
        if sale_id is None:
            return GatewayDelivery(proofs.fingerprint(request.body), kind, request.body)
        parts = [kind, sale_id]
        if _flag(ping, "test") == "true":  # so that a test never has the id of the real sale
            parts.append("test")
        if kind == "refund":  # all refunds of a sale look alike: the sale is read again each time
            parts.append(request.received_at.isoformat())
        return GatewayDelivery(":".join(parts), kind, request.body, sale_id)

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        """Read the sale that a delivery names, and translate that."""
        if (resource := shapes.text(event, "resource_name") or "sale") not in _RESOURCES:
            return IgnoredFact("unknown_type")
        sale_id = shapes.require(event, "sale_id")
        if shapes.require(event, "seller_id") not in account.secrets("sellerId"):
            return IgnoredFact("wrong_seller")
        if _flag(event, "test") == "true":  # also a rehearsal with the last real sale
            return IgnoredFact("test_event")
        api = self.api(account)
        sale = _find_sale(api, sale_id)
        if sale is None or shapes.text(sale, "seller_id") not in account.secrets("sellerId"):
            return IgnoredFact("unknown_sale")
        return _read(api, resource, sale, event)

    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Read the sales, the newest first: those since then, and refunds of older ones."""

        def find_next_query(page: Any) -> Params | None:
            key = shapes.text(page, "next_page_key")
            if key is None or key in seen:
                return None
            seen.append(key)
            return {**first, "page_key": key}

        api, sellers, seen = self.api(account), account.secrets("sellerId"), list[str]()
        first: Params = {"after": (since - _REFUNDED_WITHIN).strftime("%Y-%m-%d")}
        for page in paging.follow(lambda query: api.get("/sales", query), first, find_next_query):
            if shapes.get(page, "success") is not True:
                raise GatewayUnreachable("it does not list the sales")
            sales = [sale for sale in shapes.items(page, "sales") if shapes.text(sale, "seller_id") in sellers]
            if deliveries := [delivery for sale in sales for delivery in _to_deliveries(sale, since - _OVERLAP)]:
                yield deliveries


GATEWAY = Gumroad()


def _seller(api: GatewayApi) -> str:
    """Return the id of the seller, as deliveries spell it."""
    answer = api.get("/user")
    if shapes.get(answer, "success") is not True:
        raise CredentialsRefused(shapes.text(answer, "message") or "the token belongs to no account")
    return shapes.identity(answer, "user", "user_id") or shapes.require(answer, "user", "id")


def _to_deliveries(sale: Any, since: datetime) -> Iterator[GatewayDelivery]:
    """Yield a sale since then, its refunds and its dispute, each amount and state once."""
    sale_id = shapes.require(sale, "id")
    if shapes.moment(sale, "created_at") >= since:
        yield _listed_event("sale", sale_id, sale)
    if shapes.get(sale, "refunded") is True:
        yield _listed_event("refund", f"{sale_id}:refunded", sale)
    elif shapes.get(sale, "partially_refunded") is True:
        left = shapes.text(sale, "amount_refundable_in_currency")
        yield _listed_event("refund", f"{sale_id}:left:{left}", sale)
    if shapes.get(sale, "disputed") is True:
        kind, state = ("dispute_won", "won") if shapes.get(sale, "dispute_won") is True else ("dispute", "disputed")
        yield _listed_event(kind, f"{sale_id}:{state}", sale)


def _listed_event(kind: str, external_id: str, sale: Any) -> GatewayDelivery:
    ping = {"resource_name": kind, "from_list": True}
    ping |= {"sale_id": shapes.get(sale, "id"), "seller_id": shapes.get(sale, "seller_id")}
    return make_listed(external_id, kind, ping, shapes.text(sale, "id"))


def _find_sale(api: GatewayApi, sale_id: str) -> Any | None:
    """Return a sale, or None for one that the API does not know. Raises as `GatewayApi.request`."""
    answer = api.find(f"/sales/{shapes.segment(sale_id)}")
    sale = shapes.get(answer, "sale") if shapes.get(answer, "success") is True else None
    return sale if shapes.text(sale, "id") == sale_id else None


def _read(api: GatewayApi, kind: str, sale: Any, ping: Any) -> Facts:
    """Return the facts of a sale after an event of `kind`. Raises as `GatewayAdapter.facts`."""
    if shapes.get(sale, "is_bundle_product_purchase") is True:
        return IgnoredFact("part_of_a_bundle")
    if "true" in (_flag(sale, "is_preorder_authorization"), _flag(ping, "is_preorder_authorization")):
        return IgnoredFact("not_paid")
    if shapes.get(sale, "is_gift_receiver_purchase") is True:
        given = _find_given(api, sale)
        if given is None:
            return UnclearFact("gift_not_found")
        sale = given
    match kind:
        case "sale":
            return _payment(sale, ping)
        case "refund":
            return _refund(sale, ping)
        case _:
            return (_dispute(sale),)


def _payment(sale: Any, ping: Any) -> Facts:
    sale_id, at = shapes.require(sale, "id"), shapes.moment(sale, "created_at")
    origin = _origin(sale, ping)
    if _is_trial(sale):
        return StartFact(external_id=origin.subscription_id or sale_id, started_at=at, origin=origin)
    payment = PaymentFact(
        external_id=sale_id,
        amount_cents=amounts.from_minor(shapes.get(sale, "price"), _CURRENCY),
        currency=_CURRENCY,
        paid_at=at,
        origin=origin,
    )
    return (payment, *_refund(sale, ping, is_own_event=False))


def _is_trial(sale: Any) -> bool:
    """Return whether nothing was charged: the first sale of a subscription that has a trial, with the plan's price."""
    if shapes.text(sale, "subscription_id") is None or shapes.get(sale, "recurring_charge") is not False:
        return False
    return shapes.get(sale, "free_trial_ends_on") is not None or shapes.get(sale, "free_trial_ended") is False


def _refund(sale: Any, ping: Any, *, is_own_event: bool = True) -> tuple[Fact, ...]:
    """Return the total refund; without one, a fact only if the event is a refund's own."""
    is_whole = shapes.get(sale, "refunded") is True
    if not is_whole and shapes.get(sale, "partially_refunded") is not True:
        return (IgnoredFact("no_money_moved"),) if is_own_event else ()
    refunded_cents = None if is_whole else _refunded_cents(sale, ping)
    if refunded_cents is None and not is_whole:
        return (UnclearFact("refund_amount_unknown"),) if is_own_event else ()
    sale_id = shapes.require(sale, "id")
    refund = RefundFact(
        refund_id=sale_id,
        sale_ids=(sale_id,),
        amount_cents=refunded_cents,
        currency=_CURRENCY,
        refunded_at=clock.now(),  # the time is not reported
        is_cumulative=True,
    )
    return (refund,)


def _refunded_cents(sale: Any, ping: Any) -> int | None:
    """Return the refunded part of a sale in US cents: its price less what can still be refunded.

    None if that is unknown: what can still be refunded is reported in another currency, or as 0, which gumroad also
    reports when it can no longer refund.
    """
    code, symbol = shapes.text(ping, "currency"), shapes.text(sale, "currency_symbol")
    if (code or "usd").lower() != "usd" or (symbol or (code and "$")) != "$":
        return None
    paid = amounts.from_minor(shapes.get(sale, "price"), _CURRENCY)
    try:
        left = int(Decimal((shapes.text(sale, "amount_refundable_in_currency") or "").replace(",", "")).scaleb(2))
    except (InvalidOperation, ValueError, OverflowError):
        return None
    return paid - left if 0 < left < paid else None


def _dispute(sale: Any) -> Fact:
    if shapes.get(sale, "disputed") is not True:
        return IgnoredFact("no_money_moved")
    sale_id = shapes.require(sale, "id")
    state = DisputeState.Won if shapes.get(sale, "dispute_won") is True else DisputeState.Lost
    return DisputeFact(dispute_id=sale_id, sale_ids=(sale_id,), state=state, at=clock.now())


def _find_given(api: GatewayApi, received: Any) -> Any | None:
    """Return the giver's sale of a gift: same product, for the same receiver, at the same time."""
    giver, at = shapes.text(received, "gifter_email"), shapes.moment(received, "created_at")
    if giver is None:
        return None
    params = {"email": giver, "after": (at - timedelta(days=2)).strftime("%Y-%m-%d")}
    receiver = (shapes.text(received, "giftee_email"), shapes.text(received, "email"))
    given = [
        sale
        for sale in shapes.items(api.get("/sales", params), "sales")
        if shapes.get(sale, "is_gift_sender_purchase") is True
        and shapes.text(sale, "product_id") == shapes.text(received, "product_id")
        and shapes.text(sale, "seller_id") == shapes.text(received, "seller_id")
        and shapes.text(sale, "giftee_email") in receiver
        and abs(shapes.moment(sale, "created_at") - at) <= _GIVEN_WITHIN
    ]
    return given[0] if len(given) == 1 else None


def _origin(sale: Any, ping: Any) -> BuyerOrigin:
    email = shapes.text(sale, "email")
    tables = (
        ("gumroad_url_param", shapes.table(ping, "url_params")),
        ("gumroad_custom_field", {**shapes.table(sale, "custom_fields"), **shapes.table(ping, "custom_fields")}),
    )
    code = shapes.text(sale, "offer_code", "code") or shapes.text(ping, "offer_code")
    return BuyerOrigin(
        customer_id=shapes.identity(sale, "purchaser_id") or email,
        email=email,
        name=shapes.text(sale, "full_name"),
        subscription_id=shapes.identity(sale, "subscription_id"),
        carriers=tuple(Carrier(method, table) for method, table in tables if table),
        codes=(RedeemedCode(code, "gumroad_coupon_code"),) if code else (),
        is_referral_lost=shapes.get(ping, "from_list") is True,
    )


def _flag(holder: Mapping[str, Any], name: str) -> str:
    """Return a flag as a form has it: true, also for the true of JSON."""
    return str(shapes.get(holder, name)).lower()
