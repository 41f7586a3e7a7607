"""How jobs and clicks are handed out."""

from collections.abc import Mapping
from dataclasses import dataclass

from settings.parsers import whole
from settings.table import Concern, Variable, family, setting


def _slots(queue: str, slots: int, meaning: str) -> Variable[int]:
    return Variable(f"JOB_SLOTS_{queue}", whole(1, 1000), slots, meaning)


@dataclass(frozen=True, slots=True)
class Jobs(Concern):
    """Leases, and how many jobs are handed out per live worker thread."""

    lease_s: int = setting(
        "JOB_LEASE_S",
        whole(1, 3600),
        30,
        "after this long without a result a job is handed out again; sooner where its worker is silent",
    )
    click_claim_s: int = setting(
        "CLICK_CLAIM_S",
        whole(1, 3600),
        60,
        "clicks that a writer took and did not write are another's after this long",
    )
    # Database jobs take milliseconds, so a deep hand keeps threads busy between two looks of the relay. A call to
    # somebody else's server may take ten seconds, so a deep hand would outlive its lease behind slow neighbours.
    slots: Mapping[str, int] = family(
        {
            "default": _slots("DEFAULT", 16, "jobs handed out per thread, for every queue that is not named here"),
            # Each may take 49 more along, which another tenant's single one then waits behind.
            "sales": _slots("SALES", 2, "sales to settle and overrides to write handed out per thread"),
            "webhooks": _slots("WEBHOOKS", 4, "webhooks handed out per thread"),
            "gateways": _slots("GATEWAYS", 4, "events of gateways handed out per thread"),
            "payouts": _slots("PAYOUTS", 2, "payouts handed out per thread"),
            "lookups": _slots("LOOKUPS", 4, "look-ups handed out per thread"),
            "imports": _slots("IMPORTS", 1, "imports handed out per thread"),
            "mail": _slots("MAIL", 4, "messages handed out per thread"),
            "copilot": _slots("COPILOT", 1, "questions to the co-pilot's model handed out per thread"),
        }
    )

    def slots_per_thread(self, queue: str) -> int:
        """Return how many jobs of `queue` may be out per live worker thread."""
        return self.slots.get(queue, self.slots["default"])
