"""Every job there is, by its stable name, and the one way to ask for it.

`enqueue` stages the row in the caller's transaction: the work is asked for if and only if the change that asks
for it is committed. Nothing is said to the broker here; the relay finds the row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from models.jobs import rows


class TryAgain(Exception):
    """The job cannot finish now, through nobody's fault; it does not count as an attempt."""

    def __init__(self, *, at: datetime) -> None:
        super().__init__(f"again at {at.isoformat()}")
        self.at = at


class GiveUp(Exception):
    """No further attempt can help: straight to the dead letters, with the reason."""


# Seconds before the next attempt; the last one repeats. Database work fails because of restarts and deadlocks,
# so it comes back quickly first and then leaves a long outage the time it needs.
_BACKOFF_S = (1, 2, 5, 15, 30, 60, 120, 300)


@dataclass(frozen=True, slots=True)
class Job:
    """A kind of work: where it runs, how often it may be tried, how long a hand-out stays valid.

    `lease_s` overrides JOB_LEASE_S for jobs that wait for somebody else's server. What one that `keeps_lease` asked of
    others is not asked again before that has passed, whatever became of the process that asked.
    """

    name: str
    queue: str
    max_attempts: int = 20
    backoff_s: tuple[int, ...] = field(default=_BACKOFF_S)
    lease_s: int | None = None
    keeps_lease: bool = False

    def delay_s(self, attempt: int) -> int:
        """Return how long to wait after failed attempt number `attempt` (1-based)."""
        return self.backoff_s[min(attempt, len(self.backoff_s)) - 1]


SALE_SETTLE = Job("sale.settle", queue="sales")
OVERRIDE_WRITE = Job("override.write", queue="sales")
REFUND_CASCADE = Job("refund.cascade", queue="refunds")
# Its own schedule decides when a delivery has had its five attempts; these are for crashes on top of that.
WEBHOOK_DELIVER = Job("webhook.deliver", queue="webhooks", max_attempts=50, lease_s=90)
# A rail is asked again by the answer it gave; these are for crashes on top of that.
PAYOUT_TRANSFER = Job("payout.transfer", queue="payouts", max_attempts=50, lease_s=90, keeps_lease=True)
PAYOUT_CADENCE = Job("payout.cadence", queue="payouts")
# It may make a run, which takes minutes for a million conversions.
PAYOUT_PREPARE = Job("payout.prepare", queue="payouts", lease_s=900)
# A mail server that is away, or wants to be asked again later (greylisting), is given hours.
MAIL_SEND = Job("mail.send", queue="mail", max_attempts=8, backoff_s=(60, 300, 900, 3600), lease_s=150)
IMPORT_NOTIFY = Job("import.notify", queue="imports")
FORGET = Job("upkeep.forget", queue="upkeep")
WEBHOOKS_FAILING = Job("webhooks.failing", queue="upkeep")
INVITES_EXPIRE = Job("invites.expire", queue="upkeep")
HOLDS_RENEW = Job("holds.renew", queue="upkeep")
HOLD_RELEASE = Job("hold.release", queue="upkeep")
LEAD_CAPTURE = Job("lead.capture", queue="tracking")
LEAD_RECORD = Job("lead.record", queue="tracking")
LEADS_EXPIRE = Job("leads.expire", queue="upkeep")
# The operator's scorer is asked about up to 20 clicks, two seconds each; while it is away no attempt is counted.
CLICKS_RESCORE = Job("clicks.rescore", queue="tracking", lease_s=90)
# A dead letter from birth: an entry of the stream of clicks that could not be written. Played again, it is read anew.
CLICK_UNREADABLE = Job("click.unreadable", queue="tracking", max_attempts=1)
# A click that a web process had to take while the stream was away, and could not write for want of a turn.
CLICK_LATE = Job("click.late", queue="tracking")
CLICKS_FORGET = Job("clicks.forget", queue="upkeep")
# Begins a run of every kind; each then goes on by itself, a slice a job.
RETENTION = Job("retention.start", queue="upkeep")
RETENTION_SLICE = Job("retention.slice", queue="upkeep")
# Starts the checks of all organizations; each then has a job of its own, which reads everything that it ever earned.
LEDGER_CHECK = Job("ledger.check", queue="upkeep")
LEDGER_CHECK_ONE = Job("ledger.check_one", queue="upkeep", max_attempts=3, lease_s=900)
# A feed that is away is asked again for some hours; the next day it is asked anew.
FX_REFRESH = Job("fx.refresh", queue="upkeep", max_attempts=8, backoff_s=(60, 300, 900, 3600), lease_s=150)

ALL = (
    SALE_SETTLE,
    OVERRIDE_WRITE,
    REFUND_CASCADE,
    WEBHOOK_DELIVER,
    PAYOUT_TRANSFER,
    PAYOUT_CADENCE,
    PAYOUT_PREPARE,
    MAIL_SEND,
    IMPORT_NOTIFY,
    FORGET,
    WEBHOOKS_FAILING,
    INVITES_EXPIRE,
    HOLDS_RENEW,
    HOLD_RELEASE,
    LEAD_CAPTURE,
    LEAD_RECORD,
    LEADS_EXPIRE,
    CLICKS_RESCORE,
    CLICK_UNREADABLE,
    CLICK_LATE,
    CLICKS_FORGET,
    RETENTION,
    RETENTION_SLICE,
    FX_REFRESH,
    LEDGER_CHECK,
    LEDGER_CHECK_ONE,
)
BY_NAME = {job.name: job for job in ALL}
#: One worker fleet per queue; the Procfile has a line for each, and a test holds it to that.
QUEUES = ("sales", "refunds", "tracking", "webhooks", "payouts", "imports", "mail", "upkeep")


def enqueue(
    job: Job,
    *,
    organization_id: UUID | None,
    fair_key: str | None = None,
    run_at: datetime | None = None,
    **args: object,
) -> None:
    """Stage one row of work in the caller's transaction.

    `args` are ids and strings: what a job can read it reads when it runs. `fair_key` names whose turn
    it is (default: the organization); under pressure every key gets its share. `run_at` None means now.
    """
    rows.stage(
        queue=job.queue,
        name=job.name,
        organization_id=organization_id,
        args={key: str(value) for key, value in args.items()},
        fair_key=fair_key or str(organization_id or ""),
        max_attempts=job.max_attempts,
        lease_s=job.lease_s,
        run_at=run_at,
    )


def enqueue_all(
    job: Job, *, organization_id: UUID, run_at: datetime | None = None, args: Sequence[Mapping[str, object]]
) -> None:
    """Stage many rows of one kind of work of an organization as `enqueue` does one, in one statement."""
    rows.stage_all(
        queue=job.queue,
        name=job.name,
        organization_id=organization_id,
        args=[{key: str(value) for key, value in each.items()} for each in args],
        fair_key=str(organization_id),
        max_attempts=job.max_attempts,
        lease_s=job.lease_s,
        run_at=run_at,
    )
