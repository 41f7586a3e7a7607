"""The colour of every state: what waits, what runs, what is well, bad or over. The word always stands with it."""

from collections.abc import Mapping
from types import MappingProxyType

_STATES = {
    "ok": "Accepted Active Answered Approved Completed Confirmed Connected Converted Credited Delivered Done Funded"
    " Payable Processed Released Resolved Seen Sent Settled Verified",
    "wait": "Asking Draft Held Late Minting Offered Open PastDue Parked Pending Proposed Queued Submitted Trialing"
    " Waiting",
    "run": "OnItsWay Paused Processing Received Retrying Running Thinking Working",
    "bad": "Banned Broken Contradicts Dead Disputed Failed Failing Lost Suspended Taken",
    "off": "Archived Canceled Cancelled Declined Denied Disabled Disconnected Dismissed Empty Expired Ignored"
    " Inactive Invalidated Kept NotPayable Noted Refunded Rejected Replaced Revoked Undone Unset Voided",
    "test": "Sandbox Test",
}
#: A state as the API spells it, and the colour that it has.
COLOURS: Mapping[str, str] = MappingProxyType(
    {state: colour for colour, states in _STATES.items() for state in states.split()} | {"Paid": "ok tick"}
)


def colour(state: str) -> str:
    """Return the colour of a state; one that nobody named is grey."""
    return COLOURS.get(state, "off")
