"""How jobs and clicks are leased to worker processes."""

from collections.abc import Mapping
from dataclasses import dataclass

from domain.jobs import QUEUES
from settings.parsers import whole_number
from settings.table import DEFAULT, Concern, NamedValue, named_values, setting

# Database jobs take milliseconds, so many of them keep a thread busy between two looks of the relay. A call to another
# server may take ten seconds: many of those would outlive their leases while they wait for the ones before them.
_SLOTS = {
    # A sale may take 49 more into its batch, for which a single sale of another tenant then waits.
    "sales": (2, "sales to settle and overrides to write"),
    "webhooks": (4, "webhooks"),
    "gateways": (4, "events of gateways"),
    "payouts": (2, "payouts"),
    "lookups": (4, "look-ups"),
    "imports": (1, "imports"),
    "mail": (4, "messages"),
    "copilot": (1, "questions to the co-pilot's model"),
}


def _slots() -> dict[str, NamedValue[int]]:
    parse = whole_number(1, 1000)
    members = {DEFAULT: NamedValue(parse, 16, "every queue that has no number of its own", "JOB_SLOTS_DEFAULT")}
    for queue in QUEUES:
        slots, meaning = _SLOTS.get(queue, (None, f"jobs of the queue `{queue}`"))
        members[queue] = NamedValue(parse, slots, meaning, f"JOB_SLOTS_{queue.upper()}" if slots else None)
    return members


@dataclass(frozen=True, slots=True)
class Jobs(Concern):
    """Leases, and how many jobs are leased per live worker thread."""

    lease_s: int = setting(
        "JOB_LEASE_S",
        whole_number(1, 3600),
        30,
        "a job without a result is leased again after this long; sooner if its worker process is silent",
    )
    click_claim_s: int = setting(
        "CLICK_CLAIM_S",
        whole_number(1, 3600),
        60,
        "clicks that a process read and did not write are read by another after this long",
    )
    slots: Mapping[str, int] = named_values(
        "JOB_SLOTS",
        _slots(),
        "how many jobs are leased per worker thread: one number, and exceptions by queue",
        example="4",
    )

    def slots_per_thread(self, queue: str) -> int:
        """Return how many jobs of `queue` may be leased per live worker thread."""
        return self.slots.get(queue, self.slots[DEFAULT])
