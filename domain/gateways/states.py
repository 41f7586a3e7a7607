"""The states of connections and of their events, spelled as in the API."""

from enum import StrEnum


class ConnectionStatus(StrEnum):
    """The state of a connection. Broken: the gateway refuses its credentials; its events still arrive."""

    Active = "Active"
    Broken = "Broken"
    Disconnected = "Disconnected"


class EventStatus(StrEnum):
    """The state of an event in the inbox: Parked waits for the payment that it names."""

    Received = "Received"
    Processed = "Processed"
    Ignored = "Ignored"
    Parked = "Parked"
    Failed = "Failed"
