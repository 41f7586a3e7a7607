"""The base of every gateway's adapter: the acts that all gateways share, and the values that each declares.

Proving happens in the request that brings an event and must be quick; translating happens in a job and may call the
gateway. Nothing here is called inside a transaction. Everything after translation is the same for all gateways.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from adapters.gateways import guides, proofs, shapes
from adapters.gateways.base import (
    Capabilities,
    CredentialField,
    CredentialsRefused,
    GatewayAccount,
    GatewayDelivery,
    GatewayRejected,
    GatewayUnreachable,
    Inbound,
    Kind,
    Known,
    ProvedRequest,
    Setup,
    Subscribed,
)
from adapters.gateways.guides.guide import Guide
from adapters.gateways.wire import GatewayApi, parse_json, serialize
from domain.gateways.facts import BuyerOrigin, Carrier, Fact, Facts, IgnoredFact, UnreadableEvent

#: Translates the object of an event, at the time of the event; reads at the gateway the parts that the object lacks.
Reader = Callable[[GatewayApi, Any, datetime], Facts]

_CALL_ERRORS = (CredentialsRefused, GatewayRejected, GatewayUnreachable)


class GatewayAdapter(ABC):
    """One gateway. An adapter has no state.

    `polls` is how often reconcile must run because something has no event; None is nightly. The paths say where an
    event holds its id and type. `by_hand` are the steps by which a brand makes the webhook, for `sent_events`.
    """

    name: str
    label: str
    kind: Kind
    fields: tuple[CredentialField, ...]
    capabilities: Capabilities
    polls: timedelta | None = None

    id_path: tuple[str, ...] = ("id",)
    type_path: tuple[str, ...] = ("type",)
    proof: proofs.BodyDigest | proofs.StampedHeader | None = None

    by_hand: tuple[str, ...] = ()
    sent_events: Iterable[str] = ()

    @property
    def guide(self) -> Guide:
        """How a brand makes its credentials."""
        return guides.get(self.name)

    @abstractmethod
    def check(self, account: GatewayAccount) -> Known:
        """Prove the credentials by the cheapest call. Raises CredentialsRefused and GatewayUnreachable."""

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Create the webhooks to `address` if the gateway allows it, else return steps for the brand. Repeatable.

        Raises CredentialsRefused, GatewayRejected and GatewayUnreachable; no webhook is left behind then.
        """
        return Subscribed(setup=self.setup_by_hand(address))

    def unsubscribe(self, account: GatewayAccount) -> None:
        """Delete the webhooks of `subscribe` that still exist.

        Raises CredentialsRefused and GatewayUnreachable.
        """
        return  # where the brand made them by hand

    def prove(self, account: GatewayAccount, request: Inbound) -> ProvedRequest:
        """Return the events of a request that the gateway made, by its raw bytes. Raises NotProved.

        A body that cannot be read is a delivery all the same: its key is a digest, and `facts` raises the error.
        Only a gateway whose proof is a call of its own raises GatewayUnreachable.
        """
        self.verify(account, request)
        return ProvedRequest((self.read_delivery(request),))

    def verify(self, account: GatewayAccount, request: Inbound) -> None:
        """Raise NotProved unless the gateway made a request."""
        assert self.proof is not None
        self.proof.require(account, request)

    def facts(self, account: GatewayAccount, delivery: GatewayDelivery) -> Sequence[Fact]:
        """Translate one event, in the order in which its facts count. Reads the parts that it lacks at the gateway.

        Raises UnreadableEvent, UnsupportedCurrency, CredentialsRefused, GatewayRejected and GatewayUnreachable.
        """
        facts = self.translate(account, self.read_event(delivery.raw), delivery.type)
        return facts if isinstance(facts, Sequence) else (facts,)

    @abstractmethod
    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        """Return the facts of an event that was read; `kind` is the type of its delivery. Raises as `facts`."""

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Return an origin with the customer's email, name and the brand's own fields of them.

        Called where an event credits no one. A gateway with nothing more to read returns it as it is.

        Raises as `facts`.
        """
        return origin

    def read_subscription(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        """Return an origin with the fields that the brand wrote on its subscription by now, in one call.

        Called where neither the event nor the customer names an affiliate: the brand may have written it later.

        Raises as `facts`.
        """
        return origin

    @abstractmethod
    def list_payments(self, account: GatewayAccount, since: datetime) -> Iterator[Sequence[GatewayDelivery]]:
        """Yield pages of payments and refunds since then, as deliveries that `facts` reads.

        The key of each is `reconcile:` and the external id of the payment or of the refund. Raises as `facts`.
        """

    def parse(self, raw: bytes) -> Any:
        """Return the fields of a body. Raises ValueError."""
        return parse_json(raw)

    def read_event(self, raw: bytes) -> Any:
        """Return the fields of a stored event. Raises UnreadableEvent."""
        try:
            return self.parse(raw)
        except ValueError as error:
            raise UnreadableEvent(str(error)) from error

    def glance(self, raw: bytes) -> Any:
        """Return the fields of a proved body; None where it cannot be read, for it is stored all the same."""
        try:
            return self.parse(raw)
        except ValueError:
            return None

    def read_delivery(self, request: Inbound) -> GatewayDelivery:
        """Return a proved body as an event under its own id, or under its bytes where it has none."""
        event = self.glance(request.body)
        return make_delivery(request.body, shapes.text(event, *self.id_path), shapes.text(event, *self.type_path))

    def setup_by_hand(self, address: str, *steps: str, **values: str) -> Setup:
        """Return the steps by which a brand makes the webhook, and the values to paste: address, events, and more.

        Without `steps` they are `by_hand`.
        """
        events = ", ".join(self.sent_events)
        pasted = {"webhookUrl": address, **({"events": events} if events else {}), **values}
        return Setup(steps or self.by_hand, tuple(pasted.items()))


class ApiAdapter(GatewayAdapter):
    """A gateway with one API for an account's credentials, at which it reads what an event lacks.

    The paths say where an event holds its object and time; `readers` translate its object, by its type.
    `customer_path` and `subscription_path` are where the brand's own fields are read.
    """

    object_path: tuple[str, ...] = ()
    time_path: tuple[str, ...] = ()
    readers: Mapping[str, Reader] = {}

    customer_path: str | None = None
    customer_in: tuple[str, ...] = ()
    customer_names: tuple[str, ...] = ("name",)
    subscription_path: str | None = None

    @abstractmethod
    def api(self, account: GatewayAccount) -> GatewayApi:
        """Return the API of an account. Raises CredentialsRefused for credentials that cannot be sent."""

    def translate(self, account: GatewayAccount, event: Any, kind: str) -> Facts:
        read = self.readers.get(shapes.text(event, *self.type_path) or "")
        if read is None:
            return IgnoredFact("unknown_type")
        return read(self.api(account), shapes.get(event, *self.object_path), shapes.moment(event, *self.time_path))

    def look_closer(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        if self.customer_path is None or origin.customer_id is None:
            return origin
        customer = shapes.get(self._find(account, self.customer_path, origin), *self.customer_in)
        email, name = shapes.text(customer, "email"), shapes.full_name(customer, *self.customer_names)
        return origin.with_more(email=email, name=name, carriers=self.read_carriers(customer))

    def read_subscription(self, account: GatewayAccount, origin: BuyerOrigin) -> BuyerOrigin:
        path = self.subscription_path
        if path is None or origin.subscription_id is None or ("{customer}" in path and origin.customer_id is None):
            return origin
        subscription = shapes.get(self._find(account, path, origin), *self.customer_in)
        return origin.with_more(email=None, name=None, carriers=self.read_carriers(subscription))

    def read_carriers(self, holder: Any) -> tuple[Carrier, ...]:
        """Return the brand's own fields of a customer or a subscription as carriers."""
        return ()

    def _find(self, account: GatewayAccount, path: str, origin: BuyerOrigin) -> Any:
        customer, subscription = (shapes.segment(name or "") for name in (origin.customer_id, origin.subscription_id))
        return self.api(account).find(path.format(customer=customer, subscription=subscription))


class StoredWebhookAdapter(ApiAdapter):
    """A gateway at which one webhook is made for all events: its id is stored, and deletes it.

    `webhooks_path` is where webhooks are made, and behind it deleted by id. `webhook_key` is the name under which the
    id is stored.
    """

    webhooks_path: str
    webhook_key = "webhook"

    def unsubscribe(self, account: GatewayAccount) -> None:
        if webhook := account.made.get(self.webhook_key):
            self.api(account).delete(f"{self.webhooks_path}/{shapes.segment(webhook)}")


class OneWebhookAdapter(StoredWebhookAdapter):
    """A gateway at which one call makes that webhook; a brand may also give the secret of its own.

    `webhook_id` and `webhook_secret` are where the answer holds both. `own_by_hand` are the steps for a brand that gave
    the secret of its own webhook, where they are not those of `by_hand`.
    """

    webhook_id: tuple[str, ...] = ("id",)
    webhook_secret: tuple[str, ...] = ()
    own_by_hand: tuple[str, ...] = ()

    @abstractmethod
    def make_webhook(self, account: GatewayAccount, address: str) -> Any:
        """Return the gateway's answer to making a webhook. Raises as `GatewayApi.request`."""

    def subscribe(self, account: GatewayAccount, address: str) -> Subscribed:
        """Create the webhook, unless the brand gave the secret of one. Without permission, the brand creates it."""
        if account.credentials.get("webhookSecret"):
            return Subscribed(setup=self.setup_by_hand(address, *self.own_by_hand))
        try:
            webhook = self.make_webhook(account, address)
        except (CredentialsRefused, GatewayRejected):
            return Subscribed(setup=self.setup_by_hand(address))
        webhook_id, secret = shapes.require(webhook, *self.webhook_id), shapes.require(webhook, *self.webhook_secret)
        return Subscribed({self.webhook_key: webhook_id, "webhookSecret": secret})


class ManyWebhooksAdapter(GatewayAdapter):
    """A gateway that has a webhook for each kind of event. Their ids are stored under `webhooks_key`."""

    webhooks_key = "webhooks"

    @abstractmethod
    def delete_webhooks(self, account: GatewayAccount, webhooks: Sequence[str]) -> None:
        """Delete those webhooks that still exist. Raises CredentialsRefused and GatewayUnreachable."""

    def webhooks(self, account: GatewayAccount) -> list[str]:
        """Return the ids of the webhooks that were made."""
        return account.made.get(self.webhooks_key, "").split()

    def unsubscribe(self, account: GatewayAccount) -> None:
        self.delete_webhooks(account, self.webhooks(account))

    def make_webhooks(self, account: GatewayAccount, making: Iterable[str]) -> list[str]:
        """Return the ids of webhooks as `making` makes them one by one; where one fails, those made before are deleted.

        Raises as `making`.
        """
        webhooks: list[str] = []
        try:
            for webhook in making:
                webhooks.append(webhook)
        except (*_CALL_ERRORS, UnreadableEvent):
            with suppress(*_CALL_ERRORS):
                self.delete_webhooks(account, webhooks)
            raise
        return webhooks


def make_delivery(body: bytes, event_id: str | None, kind: str | None) -> GatewayDelivery:
    """Return one event under its own id, or under its bytes where it has none; without a kind it is unreadable."""
    return GatewayDelivery(event_id or proofs.fingerprint(body), kind or "unreadable", body, event_id)


def make_listed(external_id: str, kind: str, event: Any, event_id: str | None = None) -> GatewayDelivery:
    """Return a listed payment or refund as an event that the adapter's `facts` reads."""
    return GatewayDelivery(f"reconcile:{external_id}", kind, serialize(event), event_id)
