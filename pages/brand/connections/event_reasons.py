"""The results of a gateway's events in words; the API gives them as codes."""

from collections.abc import Mapping
from types import MappingProxyType

_REASONS: Mapping[str, str] = MappingProxyType(
    {
        # Processed: the payment earned no commission, or nothing changed.
        "affiliate_not_active": "The affiliate is not approved",
        "before_connection": "Paid before you connected",
        "before_switch": "Paid before you switched",
        "cancelled": "Cancelled before it was paid",
        "disconnected": "The connection was revoked",
        "history_only": "Recorded without its referral",
        "known": "Already recorded",
        "no_active_program": "No active program",
        "no_email": "No email address",
        "nobody_referred": "Not attributed",
        "not_a_sale_campaign": "The program doesn't pay for sales",
        "zero_amount": "Nothing was charged",
        # Ignored: the event changes nothing here.
        "anonymized": "Personal data was deleted",
        "another_key": "About another API key",
        "duplicate_of_another_event": "Repeats another event",
        "imported": "Imported order",
        "metadata_unchanged": "No change to the referral",
        "no_money_moved": "No money moved",
        "not_decided": "Not decided yet",
        "not_paid": "Not paid",
        "nothing_in_it": "Nothing to record",
        "part_of_a_bundle": "Part of a bundle",
        "ping": "Test of the webhook",
        "test_event": "Test event",
        "unknown_at_gateway": "Not found at the provider",
        "unknown_sale": "Sale not found at the provider",
        "unknown_there": "Not found at the provider",
        "unknown_type": "Event type not used",
        "wrong_seller": "Belongs to another seller",
        # Parked: the event waits for another one, or for a person.
        "amount_not_confirmed": "Waiting: the amount is not confirmed",
        "gift_not_found": "Waiting: the gift was not found",
        "not_confirmed": "Waiting for confirmation by the provider",
        "payment_unknown": "Waiting for the payment",
        "refund_amount_unknown": "Waiting: the refunded amount is unknown",
        "refund_currency_differs": "The refund is in another currency",
        "refund_unknown": "Waiting for the refund",
        "total_currency_differs": "The new total is in another currency",
        # Failed: mostly shown with an error of its own.
        "discarded": "Discarded by the operator",
        "unreadable": "The event can't be read",
        "unsupported_currency": "Currency not supported",
    }
)

#: The codes that are in words here.
CODES = frozenset(_REASONS)


def describe_reason(code: str | None) -> str | None:
    """Return a reason in words, None without one; a code that is not listed has spaces instead of underscores."""
    return None if code is None else _REASONS.get(code, code.replace("_", " ").capitalize())
