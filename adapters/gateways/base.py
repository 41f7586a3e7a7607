"""The values that adapters of gateways exchange with the rest, and the errors that their calls raise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from domain.gateways.facts import DisputeState

Mode = Literal["live", "test"]
Kind = Literal["card", "storefront", "plugin", "merchant_of_record", "subscription", "digital_goods", "payments"]


class NotProved(Exception):
    """Whoever sent this did not prove to be the gateway. The answer is 401 and empty."""


class CredentialsRefused(Exception):
    """The gateway does not take the credentials. The message is its words, without the credentials; `code` its code."""

    def __init__(self, words: str, code: str = "") -> None:
        super().__init__(words)
        self.code = code


class GatewayUnreachable(Exception):
    """No usable answer came: worth another try later. The message is short and holds no secret."""


class GatewayBusy(GatewayUnreachable):
    """The gateway was asked too often, and did nothing of what it was asked."""


class GatewayRejected(Exception):
    """The gateway understood and said no. The message is its words; `status` its HTTP status."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


@dataclass(frozen=True, slots=True)
class CredentialField:
    """One credential that the brand types. `help` says where to find it."""

    name: str
    label: str
    help: str
    secret: bool = True
    required: bool = True


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What can be had from a gateway. `lacks` are sentences for people on what cannot.

    `disputes` are the states that it tells or that are found; `leaves` says that it tells when our access is taken, and
    `own_ids` that the ids of its payments and customers are unique within one account only. Webhooks are those of the
    credential `webhooks_belong_to`, where that may change without another account: they are then created again.
    `own_servers`: every account has a server of its own, so that one that is slow is slow for nobody else.
    """

    coupons: bool = False
    refunds: Literal["webhook", "poll"] = "webhook"
    history: bool = True
    trials: bool = False
    own_ids: bool = False
    webhooks_belong_to: str | None = None
    own_servers: bool = False
    disputes: tuple[DisputeState, ...] = ()
    leaves: bool = False
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GatewayAccount:
    """A connection as its adapter needs it.

    `credentials` are what the brand typed, `made` what we made at the gateway (a webhook's id, its secret). `former`
    are credentials that were replaced less than an hour ago: proofs made with them still count.
    """

    mode: Mode
    credentials: Mapping[str, str]
    made: Mapping[str, str] = field(default_factory=dict)
    former: tuple[Mapping[str, str], ...] = ()

    @property
    def sets(self) -> tuple[Mapping[str, str], ...]:
        """All that counts now, the present set first. What the brand typed goes before what we made."""
        return ({**self.made, **self.credentials}, *self.former)

    def secrets(self, name: str) -> tuple[str, ...]:
        """Return the values that a secret may have now, the present one first; none that is empty."""
        return tuple(value for values in self.sets if (value := values.get(name)))

    def has_changed(self, name: str) -> bool:
        """Return whether a credential was another one within the last hour."""
        return any(values.get(name, self.credentials.get(name)) != self.credentials.get(name) for values in self.former)


@dataclass(frozen=True, slots=True)
class Inbound:
    """A request to a connection's address. `headers` are found by any case."""

    method: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes
    received_at: datetime


@dataclass(frozen=True, slots=True)
class GatewayDelivery:
    """One event that a proved request brings. `key` is the same when the gateway sends it again.

    `raw` is what is kept, without any secret that the gateway puts into it; it is what `facts` reads.
    """

    key: str
    type: str
    raw: bytes
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ProvedRequest:
    """What a proved request brings, and what the gateway wants to hear: by default 200 and ok."""

    deliveries: tuple[GatewayDelivery, ...] = ()
    status: int = 200
    content_type: str = "text/plain; charset=utf-8"
    body: bytes = b"ok"


@dataclass(frozen=True, slots=True)
class Known:
    """What a check learned: what the gateway calls the account, and whether it is a live one (None: not told).

    `identity` is what the gateway knows the account by for ever, which does not change while it is connected: of a
    store the store, whatever app of it the credentials are of. Nothing where that is not told.
    """

    account: str
    is_live: bool | None = None
    identity: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Setup:
    """What is left for the brand to do, in steps, with the values to paste. No steps: nothing is."""

    steps: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Subscribed:
    """What came of asking for events: what we made there (kept sealed), and what is left for the brand."""

    made: Mapping[str, str] = field(default_factory=dict)
    setup: Setup = Setup()
