"""The payment processor as a funding source: payment intents and refunds of the Stripe API.

A charge is an off-session payment by the customer whom the operator named for the brand, confirmed at once; one that
needs the person who pays is refused by them. Our key is the Idempotency-Key, which they keep for 24 hours at least,
and the metadata `deal_key`, by which both are found for ever.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from adapters import http_calls
from adapters.funding import base
from adapters.gateways.card import stripe_facts
from adapters.rails import base as rail
from adapters.rails.stripe_client import StripeClient, stripe
from domain.deals.funding import REFERENCE, FundingCall, FundingKind
from domain.money import currencies
from domain.payouts.transfers import Accepted, Answer, NotFound, Paid, Rejected
from domain.restores.charges import ListedCharge

# Statuses whose readable error says for certain that nothing was carried out.
_DEFINITIVE = (400, 402, 404)
_PAGE = 100


class ProcessorFunding:
    """The source at `url`, which is fixed by the operator."""

    key_lasts = timedelta(hours=24)

    def __init__(self, *, url: str, key: str, timeout_s: float = http_calls.WHOLE_CALL_S) -> None:
        self.books = rail.books(url, key)
        self._client = StripeClient(url=url, key=key, webhook_secret=None, timeout_s=timeout_s)
        self._intents = self._client.api.v1.payment_intents
        self._refunds = self._client.api.v1.refunds

    def ask(self, call: FundingCall) -> Answer:
        """Charge the customer, or give back. Raises RailMisconfigured and KeyTaken."""
        if _units(call) is None:
            message = f"The processor takes whole units of {call.currency} alone."
            return Rejected("amount_not_chargeable", message)
        options: Any = {"idempotency_key": call.key}
        make = self._intents.create if call.kind == FundingKind.charge else self._refunds.create
        return _asked(call, lambda: _said(make(_written(call), options).to_dict(), call), definitive=_DEFINITIVE)

    def look_up(self, call: FundingCall) -> Answer:
        """Say what became of it. Raises RailMisconfigured and KeyTaken."""
        return _asked(call, lambda: self._look(call), definitive=())

    def list_charges(self, since: datetime) -> Iterator[ListedCharge]:
        """Return the charges for deals since a time. Raises CannotList and RailMisconfigured."""
        params: Any = {"created": {"gte": int(since.timestamp())}, "limit": _PAGE, "expand": ["data.latest_charge"]}
        return self._client.list_all(lambda: self._intents.list(params), _read_charge)

    def _look(self, call: FundingCall) -> Answer:
        is_charge = call.kind == FundingKind.charge
        if call.known is not None:
            read = self._intents.retrieve if is_charge else self._refunds.retrieve
            return _said(read(call.known).to_dict(), call)
        found = [one for one in self._candidates(call) if (one.get("metadata") or {}).get("deal_key") == call.key]
        if len(found) > 1:
            raise rail.KeyTaken(f"{call.key} names more than one payment on the processor's side")
        return _said(found[0], call) if found else NotFound()

    def _candidates(self, call: FundingCall) -> Iterator[dict[str, Any]]:
        if call.kind == FundingKind.charge:
            customer, _, _ = (call.source or "").partition("/")
            listed: Any = self._intents.list({"customer": customer, "limit": _PAGE})
        else:
            listed = self._refunds.list({"payment_intent": call.charge_reference or "", "limit": _PAGE})
        for one in listed.auto_paging_iter():
            yield one.to_dict()


def _units(call: FundingCall) -> int | None:
    """Return the amount as the processor counts the currency; None when it cannot be said so."""
    exponent = currencies.exponent(call.currency)
    theirs = stripe_facts.EXPONENTS.get(call.currency, exponent)
    units, rest = divmod(call.amount_cents * 10**theirs, 10**exponent)
    return None if rest else units


def _read_charge(intent: dict[str, Any]) -> ListedCharge | None:
    """Return a payment intent as a charge; None for one of no deal, that took no money, or was given back whole."""
    metadata = intent.get("metadata") or {}
    if "deal_key" not in metadata or intent["status"] not in ("succeeded", "processing"):
        return None
    charge = intent.get("latest_charge")
    units = intent["amount"] - (charge.get("amount_refunded") or 0 if isinstance(charge, dict) else 0)
    currency = intent["currency"].upper()
    theirs = stripe_facts.EXPONENTS.get(currency, currencies.exponent(currency))
    if units <= 0:
        return None
    return ListedCharge(
        reference=str(intent["id"]),
        deal_id=UUID(metadata.get("deal_id") or str(metadata["deal_key"]).split(":")[1]),
        amount_cents=units * 10 ** currencies.exponent(currency) // 10**theirs,
        currency=currency,
        made_at=datetime.fromtimestamp(intent["created"], UTC),
    )


def _written(call: FundingCall) -> Any:
    labels = {
        "deal_key": call.key,
        "deal_id": str(call.deal_id),
        "organization_id": str(call.organization_id),
    }
    if call.kind == FundingKind.refund:
        return {"payment_intent": call.charge_reference, "amount": _units(call), "metadata": labels}
    customer, _, method = (call.source or "").partition("/")
    return {
        "amount": _units(call),
        "currency": call.currency.lower(),
        "customer": customer,
        "payment_method": method,
        "confirm": "true",
        "off_session": "true",
        "automatic_payment_methods": {"enabled": "true", "allow_redirects": "never"},
        "metadata": labels,
    }


def _said(found: dict[str, Any], call: FundingCall) -> Answer:
    """Return what a payment intent or a refund says. Raises KeyTaken where it is not the one that we mean."""
    named = (found.get("metadata") or {}).get("deal_key")
    if (named, found["amount"], found["currency"]) != (call.key, _units(call), call.currency.lower()):
        raise rail.KeyTaken(f"{call.key} is another payment or amount on the processor's side")
    references = {REFERENCE: str(found["id"])}
    match found["status"]:
        case "succeeded":
            return Paid(references)
        # What waits for somebody can still go through: it is over when it is cancelled on their side.
        case "processing" | "pending" | "requires_action":
            return Accepted(references)
        case "requires_payment_method" | "canceled" | "failed":
            return _refused(found)
    return base.unknown(f"its status is {found['status']}", call)


def _refused(found: dict[str, Any]) -> Rejected:
    error = found.get("last_payment_error") or {}
    why = error.get("message") or found.get("failure_reason") or f"It is {found['status']}."
    return Rejected(rail.code(error.get("code"), rail.code(found["status"], "rejected")), rail.shown(why))


def _asked(call: FundingCall, ask: Callable[[], Answer], *, definitive: tuple[int, ...]) -> Answer:
    try:
        return ask()
    except stripe.IdempotencyError:
        raise rail.KeyTaken(f"{call.key} was sent before with another amount or customer") from None
    except stripe.StripeError as error:
        return _meaning(error, call, definitive)
    except rail.KeyTaken:
        raise
    except Exception as error:  # the library trusts the shape of an answer
        return base.unknown(f"the answer cannot be read: {type(error).__name__}", call)


def _meaning(error: stripe.StripeError, call: FundingCall, definitive: tuple[int, ...]) -> Answer:
    if error.http_status in (401, 403):
        raise rail.RailMisconfigured(f"the payment processor refuses our key with {error.http_status}") from None
    if isinstance(error, stripe.RateLimitError):
        return base.unknown("the processor asks us to slow down", call)
    said = error.json_body.get("error") if isinstance(error.json_body, dict) else None
    if error.http_status in definitive and isinstance(said, dict) and (said.get("code") or said.get("type")):
        name = rail.code(said.get("code"), "") or rail.code(said.get("type"), "rejected")
        return Rejected(name, rail.shown(said.get("message") or "It was refused."))
    if error.http_status is None:
        return base.unknown(str(error.__cause__ or type(error).__name__), call)
    return base.unknown(f"the processor answers {error.http_status}", call)
