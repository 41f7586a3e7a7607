"""The values that adapters of gateways exchange with the rest, and the errors that their calls raise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from domain.gateways.facts import DisputeState

Mode = Literal["live", "test"]
Kind = Literal["card", "storefront", "plugin", "merchant_of_record", "subscription", "digital_goods", "payments"]


class NotProved(Exception):
    """The sender did not prove to be the gateway. The response is 401 and empty."""


class CredentialsRefused(Exception):
    """The gateway does not take the credentials. The message is its words, without the credentials; `code` its code."""

    def __init__(self, words: str, code: str = "") -> None:
        super().__init__(words)
        self.code = code


class GatewayUnreachable(Exception):
    """No usable answer came: worth another try later. The message is short and holds no secret."""


class GatewayBusy(GatewayUnreachable):
    """The gateway refused a call because there were too many, and did nothing."""


class GatewayRejected(Exception):
    """The gateway refused a call. The message is its words; `status` its HTTP status."""

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
    """The capabilities of a gateway. `lacks` are sentences for people on those that it has not.

    `disputes` are the states that it reports or that are found; `reports_removal`: it reports that our access was
    removed; `own_ids`: the ids of its payments and customers are unique within one account only. Webhooks are those of
    the credential `webhooks_belong_to`, where that may change without another account: they are then created again.
    `own_servers`: every account has a server of its own, so that one that is slow is slow for no other brand.
    """

    coupons: bool = False
    refunds: Literal["webhook", "poll"] = "webhook"
    history: bool = True
    trials: bool = False
    own_ids: bool = False
    webhooks_belong_to: str | None = None
    own_servers: bool = False
    disputes: tuple[DisputeState, ...] = ()
    reports_removal: bool = False
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GatewayAccount:
    """A connection as its adapter needs it.

    `credentials` were typed by the brand, `made` has what we made at the gateway (a webhook's id, its secret). `former`
    are credentials that were replaced less than an hour ago: proofs made with them still count.
    """

    mode: Mode
    credentials: Mapping[str, str]
    made: Mapping[str, str] = field(default_factory=dict)
    former: tuple[Mapping[str, str], ...] = ()

    @property
    def sets(self) -> tuple[Mapping[str, str], ...]:
        """All valid sets, the current one first. Values that the brand entered override those that we created."""
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

    `raw` is stored and read by `facts`; it has no secret that the gateway puts into the body.
    """

    key: str
    type: str
    raw: bytes
    id: str | None = None


@dataclass(frozen=True, slots=True)
class ProvedRequest:
    """The events of a proved request, and the response to it: by default 200 and ok."""

    deliveries: tuple[GatewayDelivery, ...] = ()
    status: int = 200
    content_type: str = "text/plain; charset=utf-8"
    body: bytes = b"ok"


@dataclass(frozen=True, slots=True)
class Known:
    """The result of a check: the gateway's name of the account, and whether it is a live one (None: unknown).

    `identity` is the gateway's permanent id of the account: for a store that of the store, whichever app the
    credentials are of. Empty where it is unknown.
    """

    account: str
    is_live: bool | None = None
    identity: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Setup:
    """The steps that are left to the brand, with the values to paste. No steps: nothing is left."""

    steps: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Subscribed:
    """The result of a subscription: what was made at the gateway (stored sealed), and what is left to the brand."""

    made: Mapping[str, str] = field(default_factory=dict)
    setup: Setup = Setup()
