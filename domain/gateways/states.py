"""Names the states of connections and of what comes in through them, spelled as on the wire."""

from enum import StrEnum


class ConnectionStatus(StrEnum):
    """Where a connection stands: Broken is one whose credentials the gateway refuses; its events still come in."""

    Active = "Active"
    Broken = "Broken"
    Disconnected = "Disconnected"


class EventStatus(StrEnum):
    """What became of an event of the inbox: Parked waits for the payment that it names."""

    Received = "Received"
    Processed = "Processed"
    Ignored = "Ignored"
    Parked = "Parked"
    Failed = "Failed"
