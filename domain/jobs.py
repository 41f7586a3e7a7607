"""Every job there is, by its stable name: where it runs, how often it may be tried, how long a hand-out stays valid."""

from dataclasses import dataclass

# Seconds before the next attempt; the last one repeats. Database work fails because of restarts and deadlocks,
# so it comes back quickly first and then leaves a long outage the time it needs.
_BACKOFF_S = (1, 2, 5, 15, 30, 60, 120, 300)


@dataclass(frozen=True, slots=True)
class Job:
    """A kind of work.

    `lease_s` overrides JOB_LEASE_S for jobs that wait for somebody else's server, and limits how many threads they
    hold (`domain.thread_slots`). What a job that
    `keeps_lease` asked of others is not asked again before that has passed, even if the process that asked died.
    `together` is how many of it, of one organization and one fair key, a worker that is behind does at a time.
    """

    name: str
    queue: str
    max_attempts: int = 20
    backoff_s: tuple[int, ...] = _BACKOFF_S
    lease_s: int | None = None
    keeps_lease: bool = False
    together: int = 1

    def delay_s(self, attempt: int) -> int:
        """Return how long to wait after failed attempt number `attempt` (1-based)."""
        return self.backoff_s[min(attempt, len(self.backoff_s)) - 1]


SALE_SETTLE = Job("sale.settle", queue="sales", together=50)
OVERRIDE_WRITE = Job("override.write", queue="sales", together=50)
REFUND_CASCADE = Job("refund.cascade", queue="refunds")
# Its own schedule decides when a delivery has had its five attempts; these are for crashes on top of that.
WEBHOOK_DELIVER = Job("webhook.deliver", queue="webhooks", max_attempts=50, lease_s=90, together=10)
# A rail is asked again by the answer it gave; these are for crashes on top of that.
PAYOUT_TRANSFER = Job("payout.transfer", queue="payouts", max_attempts=50, lease_s=90, keeps_lease=True, together=20)
# Its gateway may be asked for what the event leaves out; one that is away is asked again for as long as it takes.
GATEWAY_EVENT = Job("gateway.event", queue="gateways", max_attempts=50, lease_s=90)
# Lists what a gateway has; a large shop's month takes minutes, for which no event may wait.
GATEWAY_RECONCILE = Job("gateway.reconcile", queue="imports", max_attempts=8, lease_s=900)
# Asks a gateway whether it still takes the credentials; started every hour for those in doubt.
GATEWAY_CHECK = Job("gateway.check", queue="gateways", lease_s=90)
GATEWAYS_CHECK = Job("gateways.check", queue="upkeep")
# Has a store's web pixel as it should be: there while the store is connected, and gone afterwards.
WEB_PIXEL_SETTLE = Job("web_pixel.settle", queue="gateways", max_attempts=50, lease_s=90)
# Starts the runs of all connections, and those of gateways that do not tell everything.
GATEWAYS_RECONCILE = Job("gateways.reconcile", queue="upkeep")
GATEWAYS_POLL = Job("gateways.poll", queue="upkeep")
# Each finds out, and finishes, what the request that asked for it could not: its gateway did not answer, or it died.
COUPON_MAKE = Job("coupon.make", queue="gateways", max_attempts=50, lease_s=90)
COUPON_DELETE = Job("coupon.delete", queue="gateways", max_attempts=50, lease_s=90)
CODE_MINT = Job("code.mint", queue="gateways", max_attempts=50, lease_s=90)
CODE_SWITCH_OFF = Job("code.switch_off", queue="gateways", max_attempts=50, lease_s=90)
# Five platforms take three seconds each at most. Its own schedule decides when they are asked again; these are for
# crashes on top of that.
PLATFORM_LOOKUP = Job("platform.lookup", queue="lookups", max_attempts=50, lease_s=90)
# Charges a brand for a deal, or gives back: as a payout's transfer.
DEAL_ASK = Job("deal.ask", queue="payouts", max_attempts=50, lease_s=90, keeps_lease=True)
# Starts the release of every milestone whose time has come; each then has a job of its own.
DEALS_RELEASE = Job("deals.release", queue="payouts")
DEAL_RELEASE = Job("deal.release", queue="payouts")
PAYOUT_CADENCE = Job("payout.cadence", queue="payouts")
# It may make a run, which takes minutes for a million conversions.
PAYOUT_PROPOSE = Job("payout.prepare", queue="payouts", lease_s=900)
# A mail server that is away, or wants to be asked again later (greylisting), is given hours.
MAIL_SEND = Job("mail.send", queue="mail", max_attempts=8, backoff_s=(60, 300, 900, 3600), lease_s=150)
# Finds out whether an address is an affiliate's, which who asks for a sign-in link does not learn.
SIGN_IN_LETTER = Job("sign_in.letter", queue="mail")
# A model thinks for up to two minutes. One that gives no answer is told to the person, who asks again; these attempts
# are for crashes on top of that.
COPILOT_ASK = Job("copilot.ask", queue="copilot", max_attempts=3, lease_s=180)
# Finds out whether somebody who applied is to be asked more, so that every application costs the same.
APPLICATION_LETTER = Job("application.letter", queue="mail")
IMPORT_NOTIFY = Job("import.notify", queue="imports")
FORGET = Job("upkeep.forget", queue="upkeep")
WEBHOOKS_FAILING = Job("webhooks.failing", queue="upkeep")
# Starts the looks at brands' domains whose turn it is; each then asks name servers, for nine seconds at most.
DOMAINS_CHECK = Job("domains.check", queue="upkeep")
DOMAIN_CHECK = Job("domain.check", queue="upkeep", lease_s=90)
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
# A click that a web process took while Redis was down, and could not write: its organization was locked.
CLICK_LATE = Job("click.late", queue="tracking")
CLICKS_FORGET = Job("clicks.forget", queue="upkeep")
# Begins a run of every kind; each then goes on by itself, a slice a job.
RETENTION = Job("retention.start", queue="upkeep")
RETENTION_SLICE = Job("retention.slice", queue="upkeep")
# Makes the months that rows will lie in, and drops those that are empty. Waits for no table longer than two seconds.
PARTITIONS = Job("partitions.keep", queue="upkeep")
# Starts the checks of all organizations; each then has a job of its own, which reads everything that it ever earned.
LEDGER_CHECK = Job("ledger.check", queue="upkeep")
LEDGER_CHECK_ONE = Job("ledger.check_one", queue="upkeep", max_attempts=3, lease_s=900)
# Folds what changed into the days of programs and affiliates.
DAYS_FOLD = Job("days.fold", queue="upkeep")
# Starts the reckoning of what the days of programs owe that changed; each organization's is a job of its own.
DAYS_RECKON = Job("days.reckon", queue="upkeep")
DAYS_RECKON_ONE = Job("days.reckon_one", queue="upkeep", max_attempts=3, lease_s=900)
# A feed that is away is asked again for some hours; the next day it is asked anew.
FX_REFRESH = Job("fx.refresh", queue="upkeep", max_attempts=8, backoff_s=(60, 300, 900, 3600), lease_s=150)

ALL = tuple(found for found in globals().values() if isinstance(found, Job))
#: One worker fleet per queue; the Procfile has a line for each, and a test holds it to that.
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
