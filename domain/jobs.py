"""All jobs by their stable names: the queue, the maximum number of attempts, and the length of a lease."""

from dataclasses import dataclass

# Seconds before the next attempt; the last value repeats. Database work fails because of restarts and deadlocks, so it
# is retried quickly at first and then slowly enough for a long outage.
_BACKOFF_S = (1, 2, 5, 15, 30, 60, 120, 300)


@dataclass(frozen=True, slots=True)
class Job:
    """A kind of job.

    `lease_s` overrides JOB_LEASE_S for jobs that call external servers, and limits how many threads they occupy
    (`domain.thread_slots`). With `keeps_lease` a job's external call is not repeated before its lease has expired, even
    if its process died. `batch_size` is how many jobs of one organization and one fair key may run as one batch when
    a worker
    is behind.
    """

    name: str
    queue: str
    max_attempts: int = 20
    backoff_s: tuple[int, ...] = _BACKOFF_S
    lease_s: int | None = None
    keeps_lease: bool = False
    batch_size: int = 1

    def delay_s(self, attempt: int) -> int:
        """Return the delay after failed attempt number `attempt` (1-based)."""
        return self.backoff_s[min(attempt, len(self.backoff_s)) - 1]


SALE_SETTLE = Job("sale.settle", queue="sales", batch_size=50)
OVERRIDE_WRITE = Job("override.write", queue="sales", batch_size=50)
REFUND_CASCADE = Job("refund.cascade", queue="refunds")
# A delivery has its own schedule of five attempts; these attempts are for crashes.
WEBHOOK_DELIVER = Job("webhook.deliver", queue="webhooks", max_attempts=50, lease_s=90, batch_size=10)
# A rail is called again according to its answer; these attempts are for crashes.
PAYOUT_TRANSFER = Job("payout.transfer", queue="payouts", max_attempts=50, lease_s=90, keeps_lease=True, batch_size=20)
# It may query its gateway for data that the event lacks; an unreachable gateway is retried as long as it takes.
GATEWAY_EVENT = Job("gateway.event", queue="gateways", max_attempts=50, lease_s=90)
# Lists a gateway's payments; a large shop's month takes minutes, which no event may wait for.
GATEWAY_RECONCILE = Job("gateway.reconcile", queue="imports", max_attempts=8, lease_s=900)
# Checks whether a gateway still accepts the credentials; started every hour for those in doubt.
GATEWAY_CHECK = Job("gateway.check", queue="gateways", lease_s=90)
GATEWAYS_CHECK = Job("gateways.check", queue="upkeep")
# Creates a store's web pixel while the store is connected, and deletes it afterwards.
WEB_PIXEL_SETTLE = Job("web_pixel.settle", queue="gateways", max_attempts=50, lease_s=90)
# Starts the runs of all connections, and those of gateways whose events are incomplete.
GATEWAYS_RECONCILE = Job("gateways.reconcile", queue="upkeep")
GATEWAYS_POLL = Job("gateways.poll", queue="upkeep")
# Each finishes what its request could not, because the gateway did not answer or the process died.
COUPON_MAKE = Job("coupon.make", queue="gateways", max_attempts=50, lease_s=90)
COUPON_DELETE = Job("coupon.delete", queue="gateways", max_attempts=50, lease_s=90)
CODE_MINT = Job("code.mint", queue="gateways", max_attempts=50, lease_s=90)
CODE_SWITCH_OFF = Job("code.switch_off", queue="gateways", max_attempts=50, lease_s=90)
# Five platforms take at most three seconds each. Lookups have their own schedule; these attempts are for crashes.
PLATFORM_LOOKUP = Job("platform.lookup", queue="lookups", max_attempts=50, lease_s=90)
# Charges or refunds a brand for a deal, in the same way as a payout's transfer.
DEAL_ASK = Job("deal.ask", queue="payouts", max_attempts=50, lease_s=90, keeps_lease=True)
# Starts the release of every due milestone, each in a job of its own.
DEALS_RELEASE = Job("deals.release", queue="payouts")
DEAL_RELEASE = Job("deal.release", queue="payouts")
PAYOUT_CADENCE = Job("payout.cadence", queue="payouts")
# It may create a run, which takes minutes for a million conversions.
PAYOUT_PROPOSE = Job("payout.prepare", queue="payouts", lease_s=900)
# A mail server that is unreachable or defers messages (greylisting) is retried for hours.
MAIL_SEND = Job("mail.send", queue="mail", max_attempts=8, backoff_s=(60, 300, 900, 3600), lease_s=150)
# Checks whether an address is an affiliate's, which the requester of a sign-in link must not learn.
SIGN_IN_LETTER = Job("sign_in.letter", queue="mail")
# A model takes up to two minutes. If it does not answer, the person sees that and may retry; these attempts are for
# crashes.
COPILOT_ASK = Job("copilot.ask", queue="copilot", max_attempts=3, lease_s=180)
# Decides whether an applicant gets the second step, so that every application takes the same time.
APPLICATION_LETTER = Job("application.letter", queue="mail")
# Decides whether a sale is the organization's first or a large one; writes an event into the notifications; stages the
# emails of a notification, those of a digest an hour after its first event.
NOTIFICATION_SALE = Job("notification.sale", queue="mail")
NOTIFICATION_ADD = Job("notification.add", queue="mail")
NOTIFICATION_EMAIL = Job("notification.email", queue="mail")
IMPORT_NOTIFY = Job("import.notify", queue="imports")
# One request to the system that a brand leaves; waits and retries are those of its switch, these attempts are for
# crashes.
SWITCH_READ = Job("switch.read", queue="imports", lease_s=90)
# Each does one slice and stages the next.
SWITCH_JUDGE = Job("switch.judge", queue="imports")
SWITCH_WRITE = Job("switch.write", queue="imports")
SWITCH_UNDO = Job("switch.undo", queue="imports")
# Erases keys and staging of switches that ended or were left alone.
SWITCH_FORGET = Job("switch.forget", queue="upkeep")
FORGET = Job("upkeep.forget", queue="upkeep")
WEBHOOKS_FAILING = Job("webhooks.failing", queue="upkeep")
# Starts the due checks of brands' domains; each queries name servers for at most nine seconds.
DOMAINS_CHECK = Job("domains.check", queue="upkeep")
DOMAIN_CHECK = Job("domain.check", queue="upkeep", lease_s=90)
INVITES_EXPIRE = Job("invites.expire", queue="upkeep")
HOLDS_RENEW = Job("holds.renew", queue="upkeep")
HOLD_RELEASE = Job("hold.release", queue="upkeep")
LEAD_CAPTURE = Job("lead.capture", queue="tracking")
LEAD_RECORD = Job("lead.record", queue="tracking")
LEADS_EXPIRE = Job("leads.expire", queue="upkeep")
# Sends up to 20 clicks to the operator's scorer, two seconds each; while it is unreachable no attempt is counted.
CLICKS_RESCORE = Job("clicks.rescore", queue="tracking", lease_s=90)
# Created as a dead letter: an entry of the click stream that could not be written. A replay parses it again.
CLICK_UNREADABLE = Job("click.unreadable", queue="tracking", max_attempts=1)
# A click that a web process accepted while Redis was down and could not write because its organization was locked.
CLICK_LATE = Job("click.late", queue="tracking")
CLICKS_FORGET = Job("clicks.forget", queue="upkeep")
# Starts a run of every kind, which continues by itself, one job per slice.
RETENTION = Job("retention.start", queue="upkeep")
RETENTION_SLICE = Job("retention.slice", queue="upkeep")
# Creates the coming monthly partitions and drops empty ones. Waits for a table for at most two seconds.
PARTITIONS = Job("partitions.keep", queue="upkeep")
# Starts the checks of all organizations; each has a job of its own, which reads all that the organization ever earned.
LEDGER_CHECK = Job("ledger.check", queue="upkeep")
LEDGER_CHECK_ONE = Job("ledger.check_one", queue="upkeep", max_attempts=3, lease_s=900)
# Folds changes into the daily totals of programs and affiliates.
DAYS_FOLD = Job("days.fold", queue="upkeep")
# Starts the recomputation of changed daily owed totals of programs, one job per organization.
DAYS_RECKON = Job("days.reckon", queue="upkeep")
DAYS_RECKON_ONE = Job("days.reckon_one", queue="upkeep", max_attempts=3, lease_s=900)
# An unreachable feed is retried for some hours, and again on the next day.
FX_REFRESH = Job("fx.refresh", queue="upkeep", max_attempts=8, backoff_s=(60, 300, 900, 3600), lease_s=150)

ALL = tuple(value for value in globals().values() if isinstance(value, Job))
#: One worker fleet per queue; the Procfile has a line for each, which a test checks.
QUEUES = (
    "sales",
    "refunds",
    "tracking",
    "webhooks",
    "payouts",
    "gateways",
    "lookups",
    "imports",
    "mail",
    "copilot",
    "upkeep",
)
