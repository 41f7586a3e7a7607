"""For how many days what grows with traffic is kept."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from settings.table import BadSetting, Concern, Variable, family

_MOST_DAYS = 36_500


def _days(least: int) -> Callable[[str], int]:
    def parse(raw: str) -> int:
        is_number = raw.isascii() and raw.isdigit()
        if not is_number or (int(raw) and not least <= int(raw) <= _MOST_DAYS):
            raise ValueError(f"is {raw!r}; it must be days, from {least} to {_MOST_DAYS}, or 0 to keep for ever")
        return int(raw)

    return parse


def _kept(kind: str, days: int, meaning: str, *, least: int) -> Variable[int]:
    return Variable(f"RETENTION_{kind}_DAYS", _days(least), days, f"{meaning} ({least} at least)")


@dataclass(frozen=True, slots=True)
class Retention(Concern):
    """Days until rows that grow with traffic end; 0 keeps them for ever."""

    # By the kinds of `models.upkeep.expiry`. The least is what something else still needs: a visitor's clicks decide
    # about leads for 90 days, a delivery and what rails tell again come within days, fraud is summed up over a year,
    # mail may wait 14 days for its server, a refund 7 for its sale; a payment through a door may be told late.
    days: Mapping[str, int] = family(
        {
            "clicks": _kept("CLICKS", 90, "until clicks become hourly counts", least=90),
            "events": _kept("EVENTS", 90, "until events are dropped", least=7),
            "deliveries": _kept("DELIVERIES", 90, "until settled deliveries are dropped", least=7),
            "dead_letters": _kept(
                "DEAD_LETTERS",
                90,
                "until dead letters that nobody touched are dropped, but never those whose loss would be money or a"
                " promise: of sales, refunds, payouts, gateways, lookups, leads and clicks",
                least=7,
            ),
            "leads": _kept("LEADS", 30, "after it expired, until a lead says no more who it was", least=1),
            "door_visits": _kept(
                "DOOR_VISITS", 7, "after it counts no more, until a visit of a checkout door is dropped", least=1
            ),
            "pixel_checkouts": _kept(
                "PIXEL_CHECKOUTS", 30, "until what a store's web pixel told of a checkout is dropped", least=7
            ),
            "audit_addresses": _kept(
                "AUDIT_ADDRESSES",
                90,
                "until an address in the audit log becomes a keyed hash; looking for the address still finds it",
                least=30,
            ),
            "fraud_events": _kept("FRAUD_EVENTS", 365, "until fraud events are dropped", least=365),
            "rail_events": _kept(
                "RAIL_EVENTS", 365, "until confirmations of rails that contradict nothing are dropped", least=30
            ),
            "gateway_payloads": _kept(
                "GATEWAY_PAYLOADS",
                90,
                "until what a payment gateway sent is dropped; what it meant stays, but it cannot be replayed",
                least=14,
            ),
            "mail": _kept("MAIL", 90, "until messages that are not waiting are dropped", least=14),
            "invites": _kept("INVITES", 90, "after it expired, until an invite is dropped", least=1),
            "members": _kept(
                "MEMBERS",
                365,
                "until a person without keys who did not come any more is dropped, but never the last Owner",
                least=90,
            ),
            "copilot": _kept(
                "COPILOT", 30, "after it last changed, until a conversation with the co-pilot is dropped", least=1
            ),
            "imports": _kept(
                "IMPORTS", 365, "until an import that brought nothing, or was undone, is dropped", least=30
            ),
        }
    )

    def check(self) -> None:
        """Refuse to drop an event before the deliveries that tell of it."""
        events, deliveries = self.days["events"], self.days["deliveries"]
        if events and not 0 < deliveries <= events:
            raise BadSetting(
                f"RETENTION_EVENTS_DAYS is {events}, shorter than RETENTION_DELIVERIES_DAYS; a delivery cannot be kept "
                "without the event that it tells of"
            )
