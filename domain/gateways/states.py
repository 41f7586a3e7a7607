"""The states of connections and of their events, spelled as on the wire."""

from enum import StrEnum


class ConnectionStatus(StrEnum):
    """The state of a connection: Broken is one whose credentials the gateway refuses; its events still come in."""

    Active = "Active"
    Broken = "Broken"
    Disconnected = "Disconnected"


class EventStatus(StrEnum):
    """The state of an event of the inbox: Parked waits for the payment that it names."""

    Received = "Received"
    Processed = "Processed"
    Ignored = "Ignored"
    Parked = "Parked"
    Failed = "Failed"
