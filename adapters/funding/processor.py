"""The payment processor as a funding source: payment intents and refunds of the Stripe API.

A charge is an off-session payment by the customer whom the operator named for the brand, confirmed at once; the
processor refuses one that needs the payer's presence. Our key is the Idempotency-Key, which the processor keeps for at
least 24 hours, and the metadata `deal_key`, by which charges and refunds are found at any later time.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from adapters import http_calls
from adapters.funding import base
from adapters.gateways.card import stripe_facts
from adapters.rails import base as rail
from adapters.rails.stripe_client import DEFINITIVE, StripeCall, StripeClient
from domain.deals.funding import REFERENCE, FundingCall, FundingKind
from domain.money import currencies
from domain.payouts.transfers import Accepted, Answer, NotFound, Paid, Rejected
from domain.restores.charges import ListedCharge

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
        """Charge the customer, or refund a charge. Raises RailMisconfigured and KeyTaken."""
        if _units(call) is None:
            message = f"The processor takes only whole units of {call.currency}."
            return Rejected("amount_not_chargeable", message)
        options: Any = {"idempotency_key": call.key}
        make = self._intents.create if call.kind == FundingKind.charge else self._refunds.create
        return _call(call).answer(lambda: _read(make(_body(call), options).to_dict(), call), definitive=DEFINITIVE)

    def look_up(self, call: FundingCall) -> Answer:
        """Return what became of a call. Raises RailMisconfigured and KeyTaken."""
        return _call(call).answer(lambda: self._look(call))

    def list_charges(self, since: datetime) -> Iterator[ListedCharge]:
        """Return the charges for deals since a time. Raises CannotList and RailMisconfigured."""
        params: Any = {"created": {"gte": int(since.timestamp())}, "limit": _PAGE, "expand": ["data.latest_charge"]}
        return self._client.list_all(lambda: self._intents.list(params), _read_charge)

    def _look(self, call: FundingCall) -> Answer:
        is_charge = call.kind == FundingKind.charge
        if call.known is not None:
            read = self._intents.retrieve if is_charge else self._refunds.retrieve
            return _read(read(call.known).to_dict(), call)
        matching = [item for item in self._candidates(call) if (item.get("metadata") or {}).get("deal_key") == call.key]
        if len(matching) > 1:
            raise rail.KeyTaken(f"{call.key} names more than one payment on the processor's side")
        return _read(matching[0], call) if matching else NotFound()

    def _candidates(self, call: FundingCall) -> Iterator[dict[str, Any]]:
        if call.kind == FundingKind.charge:
            customer, _, _ = (call.source or "").partition("/")
            listed: Any = self._intents.list({"customer": customer, "limit": _PAGE})
        else:
            listed = self._refunds.list({"payment_intent": call.charge_reference or "", "limit": _PAGE})
        for item in listed.auto_paging_iter():
            yield item.to_dict()


def _units(call: FundingCall) -> int | None:
    """Return the amount as the processor counts the currency; None if it would not be a whole number."""
    exponent = currencies.exponent(call.currency)
    theirs = stripe_facts.EXPONENTS.get(call.currency, exponent)
    units, rest = divmod(call.amount_cents * 10**theirs, 10**exponent)
    return None if rest else units


def _read_charge(intent: dict[str, Any]) -> ListedCharge | None:
    """Return a payment intent as a charge; None if it is of no deal, unpaid, or fully refunded."""
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


def _body(call: FundingCall) -> Any:
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


def _read(made: dict[str, Any], call: FundingCall) -> Answer:
    """Return the state of a payment intent or a refund. Raises KeyTaken if it does not match the call."""
    key = (made.get("metadata") or {}).get("deal_key")
    if (key, made["amount"], made["currency"]) != (call.key, _units(call), call.currency.lower()):
        raise rail.KeyTaken(f"{call.key} is another payment or amount on the processor's side")
    references = {REFERENCE: str(made["id"])}
    match made["status"]:
        case "succeeded":
            return Paid(references)
        # A payment that waits for a person can still go through: it is over when it is cancelled on their side.
        case "processing" | "pending" | "requires_action":
            return Accepted(references)
        case "requires_payment_method" | "canceled" | "failed":
            return _refusal(made)
    return base.report_unknown(f"its status is {made['status']}", call)


def _refusal(made: dict[str, Any]) -> Rejected:
    error = made.get("last_payment_error") or {}
    why = error.get("message") or made.get("failure_reason") or f"It is {made['status']}."
    return Rejected(rail.code(error.get("code"), rail.code(made["status"], "rejected")), rail.clean_message(why))


def _call(call: FundingCall) -> StripeCall:
    return StripeCall(
        call.key,
        partial(base.report_unknown, call=call),
        rail.clean_message,
        service="the processor",
        party="customer",
        refused="It was refused.",
    )
