"""Retention periods of rows that grow with traffic."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from settings.table import DEFAULT, BadSetting, Concern, NamedValue, named_values

_MAX_DAYS = 36_500

# By kind, as in `models.upkeep.expiry`: the minimum in days, the default (None: that of `default`), and the meaning.
# A row must be kept as long as other code reads it, which sets the minimum: a lead is scored by its visitor's clicks
# of 90 days, deliveries and repeated reports of a rail arrive within days, fraud is summed over a year, an email is
# retried for 14 days, a refund waits 7 days for its sale, and a payment through a checkout door may be reported late.
_KINDS: Mapping[str, tuple[int, int | None, str]] = {
    "clicks": (90, None, "until clicks become hourly counts"),
    "events": (7, None, "until events are deleted"),
    "deliveries": (7, None, "until finished deliveries are deleted"),
    "dead_letters": (
        7,
        None,
        "until untouched dead letters are deleted, but never those whose loss would be money or a promise: of sales,"
        " refunds, payouts, gateways, lookups, leads and clicks",
    ),
    "leads": (1, 30, "after it expired, until the person is removed from a lead"),
    "door_visits": (1, 7, "after it stopped counting, until a visit of a checkout door is deleted"),
    "pixel_checkouts": (7, 30, "until the checkouts that a store's web pixel reported are deleted"),
    "audit_addresses": (
        30,
        None,
        "until an address in the audit log becomes a keyed hash; a search for the address still finds it",
    ),
    "fraud_events": (365, 365, "until fraud events are deleted"),
    "rail_events": (30, 365, "until confirmations of rails that contradict nothing are deleted"),
    "gateway_payloads": (
        14,
        None,
        "until the payloads of payment gateways are deleted; their effects stay, but they cannot be replayed",
    ),
    "mail": (14, None, "until messages that are not waiting are deleted"),
    "notifications": (7, None, "until notifications of a brand's people are deleted"),
    "invites": (1, None, "after it expired, until an invite is deleted"),
    "member_invites": (1, 30, "after it expired, until an invitation to the team is deleted"),
    "members": (
        90,
        365,
        "until a person without API keys who stopped signing in is deleted, but never the last Owner",
    ),
    "copilot": (1, 30, "after its last change, until a conversation with the co-pilot is deleted"),
    "imports": (30, 365, "until an import that imported nothing, or was undone, is deleted"),
}

# Kinds that had no variable of their own in earlier releases.
_LATER_KINDS = frozenset({"member_invites", "notifications"})


def _days(minimum: int) -> Callable[[str], int]:
    def parse(raw: str) -> int:
        is_number = raw.isascii() and raw.isdigit()
        if not is_number or (int(raw) and not minimum <= int(raw) <= _MAX_DAYS):
            raise ValueError(f"is {raw!r}; it must be days, from {minimum} to {_MAX_DAYS}, or 0 to keep forever")
        return int(raw)

    return parse


def _periods() -> dict[str, NamedValue[int]]:
    return {DEFAULT: NamedValue(_days(1), 90, "every kind that has no number of its own")} | {
        kind: NamedValue(
            _days(minimum),
            days,
            f"{meaning} (at least {minimum})",
            None if kind in _LATER_KINDS else f"RETENTION_{kind.upper()}_DAYS",
        )
        for kind, (minimum, days, meaning) in _KINDS.items()
    }


@dataclass(frozen=True, slots=True)
class Retention(Concern):
    """Days until rows that grow with traffic are deleted or made anonymous; 0 keeps them forever."""

    days: Mapping[str, int] = named_values(
        "RETENTION_DAYS",
        _periods(),
        "how many days rows are kept: one number, and exceptions by kind",
        example="90",
    )

    def check(self) -> None:
        """Raise BadSetting if an event would be deleted before its deliveries."""
        events, deliveries = self.days["events"], self.days["deliveries"]
        if events and not 0 < deliveries <= events:
            raise BadSetting(
                f"RETENTION_DAYS keeps events for {events} days and deliveries for {deliveries or 'ever'}; a delivery"
                " cannot be kept without its event. Keep events at least as long, such as events=90 deliveries=90"
            )
