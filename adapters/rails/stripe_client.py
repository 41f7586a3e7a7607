"""The official Stripe library, configured for payments: no retries, and a separate error for each kind of failure.

The rails `processor_connect` (its version 1) and `global_payouts` (version 2) use it, and so does the funding source.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from adapters import http_calls, without_packages
from adapters.rails import base
from domain.payouts import native_sums
from domain.payouts.transfers import Answer, Method, Rejected, Transfer, Unknown
from domain.restores.transfers import RailTransfer, TransferState, parse_key

with without_packages("httpx"):  # if installed, it takes five megabytes, and calls use our own transport
    import stripe as stripe

#: Seconds that a signed confirmation may be old.
_TOLERANCE_S = 300

#: Statuses whose readable error proves that nothing was carried out.
DEFINITIVE = (400, 402, 404)

Listed = TypeVar("Listed")


@dataclass(frozen=True, slots=True)
class StripeCall:
    """A call about a transfer or a deal, by its key, and the words for its failures.

    `unknown` makes the answer of a call whose outcome is unknown, `show` makes their words fit to be shown.
    """

    key: str
    unknown: Callable[[str], Unknown]
    show: Callable[[object], str]
    service: str = "the rail"
    party: str = "recipient"
    refused: str = "The transfer was refused."

    def answer(self, ask: Callable[[], Answer], *, definitive: tuple[int, ...] = ()) -> Answer:
        """Return the answer of `ask`, or what its failure means; after `definitive` statuses nothing was carried out.

        Raises RailMisconfigured and KeyTaken.
        """
        try:
            return ask()
        except stripe.IdempotencyError:  # not with its text: it may quote our request
            raise base.KeyTaken(f"{self.key} was sent before with another amount or {self.party}") from None
        except stripe.StripeError as error:
            return self._meaning(error, definitive)
        except base.KeyTaken:
            raise
        except Exception as error:  # the library trusts the shape of an answer
            return self.unknown(f"the answer cannot be read: {type(error).__name__}")

    def _meaning(self, error: stripe.StripeError, definitive: tuple[int, ...]) -> Answer:
        if error.http_status in (401, 403):
            raise base.RailMisconfigured(f"the payment processor refuses our key with {error.http_status}") from None
        if isinstance(error, stripe.RateLimitError):
            return self.unknown(f"{self.service} asks us to slow down")
        details = error.json_body.get("error") if isinstance(error.json_body, dict) else None
        if error.http_status in definitive and isinstance(details, dict):
            code, kind = details.get("code"), details.get("type")
            if code or kind:
                name = base.code(code, "") or base.code(kind, "rejected")
                return Rejected(name, self.show(details.get("message") or self.refused))
        return self.unknown(_reason(error, self.service))


class StripeClient:
    """The library's client with our own transport, and the meaning of its failures."""

    def __init__(self, *, url: str, key: str, webhook_secret: str | None, timeout_s: float) -> None:
        self.api = stripe.StripeClient(
            key, base_addresses={"api": url}, http_client=_Transport(timeout_s), max_network_retries=0
        )
        self._webhook_secret = webhook_secret

    def create(self, transfer: Transfer, ask: Callable[[], Any], read: Callable[[dict[str, Any]], Answer]) -> Answer:
        """Return what `read` makes of the object that `ask` creates, or what the failure means."""
        return _call(transfer).answer(lambda: read(ask().to_dict()), definitive=DEFINITIVE)

    def look(self, transfer: Transfer, ask: Callable[[], Answer]) -> Answer:
        """Return the answer of a look-up; a failed look-up proves nothing about the transfer."""
        return _call(transfer).answer(ask)

    def read(self, ask: Callable[[], Any]) -> dict[str, Any] | None:
        """Return the object that `ask` reads, None when it cannot be read now."""
        try:
            return dict(ask().to_dict())
        except Exception:  # the library trusts the shape of an answer
            return None

    def list_all(self, ask: Callable[[], Any], read: Callable[[dict[str, Any]], Listed | None]) -> Iterator[Listed]:
        """Return what `read` makes of every object of the list that `ask` opens, page after page; None is left out.

        Raises CannotList and RailMisconfigured.
        """
        seen: set[str] = set()
        try:
            for item in ask().auto_paging_iter():
                row = item.to_dict()
                if row["id"] in seen:  # the next page would be the same one, without an end
                    raise base.CannotList("the rail returns the same page of its list again")
                seen.add(row["id"])
                if (listed := read(row)) is not None:
                    yield listed
        except base.CannotList:
            raise
        except stripe.StripeError as error:
            if error.http_status in (401, 403):
                raise base.RailMisconfigured(
                    f"the payment processor refuses our key with {error.http_status}"
                ) from None
            raise base.CannotList(f"the rail did not return its whole list: {_reason(error)}") from error
        except Exception as error:  # the library trusts the shape of an answer
            raise base.CannotList(f"the rail's list cannot be read: {type(error).__name__}") from error

    def verify(self, headers: Mapping[str, str], body: bytes, *, thin: bool) -> Any:
        """Return the event of a signed confirmation. Raises NotSigned when the signature does not hold."""
        parse = self.api.parse_event_notification if thin else self.api.construct_event
        try:
            return parse(body, headers.get("Stripe-Signature"), self._webhook_secret, _TOLERANCE_S)
        except (stripe.SignatureVerificationError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise base.NotSigned(type(error).__name__) from None


def check_same(transfer: Transfer, *, key: object, amount: object, currency: object, account: object) -> None:
    """Raise KeyTaken unless a transfer that the rail has is the one we mean, and of this attempt."""
    ours = (transfer.key, transfer.amount_cents, "usd", transfer.destination.account)
    if (key, amount, currency, account) != ours:
        raise base.KeyTaken(f"{transfer.key} is another attempt, amount or recipient on the rail's side")


def labels(transfer: Transfer) -> dict[str, str]:
    """Return the metadata by which a transfer is found on their side when their key has expired."""
    return {
        "payout_key": transfer.key,
        "payout_id": str(transfer.payout_id),
        "organization_id": str(transfer.organization_id),
        **transfer.labels,
    }


def read_labels(
    metadata: Mapping[str, str], *, method: Method, reference: str, state: TransferState, cents: int, **more: Any
) -> RailTransfer | None:
    """Return a transfer of their list by the metadata of `labels`; None for one that is not ours."""
    key = metadata.get("payout_key")
    ids = parse_key(key)
    if ids is None:
        return None
    return RailTransfer(
        method=method,
        reference=reference,
        state=state,
        amount_cents=cents,
        key=key,
        payout_id=ids[0],
        organization_id=_id(metadata.get("organization_id")),
        affiliate_id=_id(metadata.get("affiliate_id")),
        milestone_id=_id(metadata.get("milestone_id")),
        natives=native_sums.from_text(metadata.get("native"), total_cents=cents),
        **more,
    )


def _id(text: str | None) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        return None


def _call(transfer: Transfer) -> StripeCall:
    return StripeCall(
        transfer.key, partial(base.report_unknown, transfer=transfer), partial(base.clean_message, transfer=transfer)
    )


def _reason(error: stripe.StripeError, service: str = "the rail") -> str:
    if error.http_status is None:
        return str(error.__cause__ or type(error).__name__)
    return f"{service} answers {error.http_status}"


class _Transport(stripe.HTTPClient):
    """The library's transport on our one-attempt call."""

    name = "finderfee"

    def __init__(self, timeout_s: float) -> None:
        super().__init__()
        self._timeout_s = timeout_s

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None,
        post_data: Any = None,
        *,
        _usage: list[str] | None = None,
    ) -> tuple[str, int, Mapping[str, str]]:
        body = post_data.encode() if isinstance(post_data, str) else post_data
        try:
            status, answered, content = http_calls.call(method, url, headers or {}, body, timeout_s=self._timeout_s)
        except http_calls.NoAnswer as error:
            raise stripe.APIConnectionError(str(error), should_retry=False) from error
        return content.decode("utf-8", "replace"), status, answered

    def close(self) -> None:
        """Do nothing: every call has a connection of its own."""
