"""The `upkeep` queue: housekeeping in the background."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import TypedDict
from uuid import UUID

from adapters import clock
from domain import jobs
from domain.jobs import Job
from models.jobs.rows import ClaimedJob
from pipelines import fx_intake, ledger_check, owed_days, partitions, retention, upkeep
from pipelines.conversions import release, renewal
from pipelines.gateways import check, reconcile
from pipelines.host_proofs import scheduled_checks
from pipelines.invites import invitations
from pipelines.leads import lifecycle
from pipelines.switches import forgetting
from pipelines.webhooks import outage_notices
from workers.actor import database_job, register_calling_job

# The work of jobs without arguments, on the rows of every organization.
_SWEEPS: Sequence[tuple[Job, Callable[[], object]]] = (
    (jobs.FORGET, upkeep.delete_expired),
    (jobs.WEBHOOKS_FAILING, lambda: outage_notices.any_org_notify(now=clock.now())),
    (jobs.DOMAINS_CHECK, lambda: scheduled_checks.any_org_start(now=clock.now())),
    (jobs.INVITES_EXPIRE, lambda: invitations.any_org_expire(now=clock.now())),
    (jobs.HOLD_RELEASE, lambda: release.any_org_release(now=clock.now())),
    (jobs.LEADS_EXPIRE, lambda: lifecycle.any_org_expire(now=clock.now())),
    (jobs.SWITCH_FORGET, lambda: forgetting.any_org_forget(now=clock.now())),
    (jobs.CLICKS_FORGET, lambda: upkeep.delete_click_hashes(now=clock.now())),
    (jobs.RETENTION, lambda: retention.any_org_start(now=clock.now())),
    (jobs.PARTITIONS, lambda: partitions.any_org_maintain(now=clock.now())),
    (jobs.GATEWAYS_RECONCILE, lambda: reconcile.any_org_start(only_polled=False)),
    (jobs.GATEWAYS_POLL, lambda: reconcile.any_org_start(only_polled=True)),
    (jobs.GATEWAYS_CHECK, check.any_org_start),
    (jobs.DAYS_FOLD, lambda: upkeep.any_org_fold_days(now=clock.now())),
)


def _register_sweep(job: Job, sweep: Callable[[], object]) -> None:
    @database_job(job)
    def work(claimed: ClaimedJob) -> None:
        sweep()


for _job, _sweep in _SWEEPS:
    _register_sweep(_job, _sweep)


register_calling_job(
    jobs.DOMAIN_CHECK,
    prepare=lambda job: scheduled_checks.prepare(
        scheduled_checks.HostToCheck(job.tenant, UUID(job.args["holder_id"]), job.args["name"])
    ),
    call=scheduled_checks.read_dns,
    record=lambda host, reading: scheduled_checks.record(host, reading, now=clock.now()),
)


@database_job(jobs.HOLDS_RENEW)
def renew_holds(job: ClaimedJob) -> None:
    """Recompute the holds of an organization's next Pending conversions."""
    renewal.renew_holds(job.tenant, after=UUID(job.args["after"]))


@database_job(jobs.RETENTION_SLICE)
def end_slice(job: ClaimedJob) -> None:
    """Delete the next expired rows of a kind."""
    retention.any_org_continue(job.args["kind"], now=clock.now())


@database_job(jobs.LEDGER_CHECK)
def start_ledger_checks(job: ClaimedJob) -> None:
    """Enqueue the ledger checks of the next organizations."""
    ledger_check.any_org_start(after=UUID(job.args.get("after", str(ledger_check.FIRST))))


@database_job(jobs.LEDGER_CHECK_ONE)
def check_ledger(job: ClaimedJob) -> None:
    """Check whether an organization's money adds up."""
    ledger_check.run(job.tenant, now=clock.now())


@database_job(jobs.DAYS_RECKON)
def start_day_totals(job: ClaimedJob) -> None:
    """Enqueue the daily owed totals of the next organizations."""
    after = UUID(job.args.get("after", str(owed_days.FIRST)))
    owed_days.any_org_start(after=after, **_day_times(job))


@database_job(jobs.DAYS_RECKON_ONE)
def compute_day_totals(job: ClaimedJob) -> None:
    """Recompute an organization's daily owed totals for the days that changed, and count the totals of affiliates."""
    owed_days.compute(job.tenant, **_day_times(job))


class _DayTimes(TypedDict):
    since: date | None
    folded_until: datetime | None


def _day_times(job: ClaimedJob) -> _DayTimes:
    since, until = job.args.get("since"), job.args.get("until")
    return {
        "since": date.fromisoformat(since) if since else None,
        "folded_until": datetime.fromisoformat(until) if until else None,
    }


register_calling_job(
    jobs.FX_REFRESH,
    prepare=lambda job: fx_intake.feed_url(),
    call=lambda url: fx_intake.fetch(url, now=clock.now()),
    record=lambda url, rates: fx_intake.store_from_feed(rates),
)
