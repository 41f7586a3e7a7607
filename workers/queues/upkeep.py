"""The `upkeep` queue: housekeeping in the background."""

from datetime import date
from uuid import UUID

from adapters import clock
from domain import jobs
from domain.host_proofs.records import DnsReading
from domain.money.fx_files import RateFile
from models.jobs.rows import ClaimedJob
from pipelines import fx_intake, ledger_check, owed_days, partitions, retention, upkeep
from pipelines.conversions import release, renewal
from pipelines.gateways import check, reconcile
from pipelines.host_proofs import scheduled_checks
from pipelines.host_proofs.host_status import HostStatus
from pipelines.invites import invitations
from pipelines.leads import lifecycle
from pipelines.webhooks import outage_emails
from workers.actor import database_job, register_calling_job


@database_job(jobs.FORGET)
def forget(job: ClaimedJob) -> None:
    """Delete expired rows."""
    upkeep.delete_expired()


@database_job(jobs.WEBHOOKS_FAILING)
def notify_of_failing_webhooks(job: ClaimedJob) -> None:
    """Email the Owners of endpoints that no delivery has reached for a day."""
    outage_emails.any_org_send(now=clock.now())


@database_job(jobs.DOMAINS_CHECK)
def check_domains(job: ClaimedJob) -> None:
    """Enqueue a check of every domain that is due."""
    scheduled_checks.any_org_start(now=clock.now())


def _prepare_domain(job: ClaimedJob) -> HostStatus | None:
    return scheduled_checks.prepare(
        scheduled_checks.HostToCheck(job.tenant, UUID(job.args["holder_id"]), job.args["name"])
    )


def _record_domain(host: HostStatus, reading: DnsReading) -> None:
    scheduled_checks.record(host, reading, now=clock.now())


register_calling_job(jobs.DOMAIN_CHECK, prepare=_prepare_domain, call=scheduled_checks.read_dns, record=_record_domain)


@database_job(jobs.INVITES_EXPIRE)
def expire_invites(job: ClaimedJob) -> None:
    """Mark the expired invites of every organization."""
    invitations.any_org_expire(now=clock.now())


@database_job(jobs.HOLDS_RENEW)
def renew_holds(job: ClaimedJob) -> None:
    """Recompute the holds of an organization's next Pending conversions."""
    renewal.renew_holds(job.tenant, after=UUID(job.args["after"]))


@database_job(jobs.HOLD_RELEASE)
def release_holds(job: ClaimedJob) -> None:
    """Approve the conversions of every organization whose hold is over."""
    release.any_org_release(now=clock.now())


@database_job(jobs.LEADS_EXPIRE)
def expire_leads(job: ClaimedJob) -> None:
    """Expire the leads of every organization that did not convert in time."""
    lifecycle.any_org_expire(now=clock.now())


@database_job(jobs.CLICKS_FORGET)
def forget_click_hashes(job: ClaimedJob) -> None:
    """Delete the visitor hashes of old clicks of every organization."""
    upkeep.delete_click_hashes(now=clock.now())


@database_job(jobs.RETENTION)
def start_retention(job: ClaimedJob) -> None:
    """Enqueue the retention of every kind of rows."""
    retention.any_org_start(now=clock.now())


@database_job(jobs.RETENTION_SLICE)
def end_slice(job: ClaimedJob) -> None:
    """Delete the next expired rows of a kind."""
    retention.any_org_continue(job.args["kind"], now=clock.now())


@database_job(jobs.PARTITIONS)
def keep_partitions(job: ClaimedJob) -> None:
    """Create the partitions of coming months, and drop those that retention has emptied."""
    partitions.any_org_maintain(now=clock.now())


@database_job(jobs.GATEWAYS_RECONCILE)
def reconcile_gateways(job: ClaimedJob) -> None:
    """Enqueue a reconciliation of every native connection."""
    reconcile.any_org_start(only_polled=False)


@database_job(jobs.GATEWAYS_POLL)
def poll_gateways(job: ClaimedJob) -> None:
    """Enqueue a reconciliation of the connections whose gateway does not send every event."""
    reconcile.any_org_start(only_polled=True)


@database_job(jobs.GATEWAYS_CHECK)
def check_gateways(job: ClaimedJob) -> None:
    """Enqueue a check of every native connection in doubt."""
    check.any_org_start()


@database_job(jobs.LEDGER_CHECK)
def start_ledger_checks(job: ClaimedJob) -> None:
    """Enqueue the ledger checks of the next organizations."""
    ledger_check.any_org_start(after=UUID(job.args.get("after", str(ledger_check.FIRST))))


@database_job(jobs.LEDGER_CHECK_ONE)
def check_ledger(job: ClaimedJob) -> None:
    """Check whether an organization's money adds up."""
    ledger_check.run(job.tenant, now=clock.now())


@database_job(jobs.DAYS_FOLD)
def fold_days(job: ClaimedJob) -> None:
    """Fold recent changes into the daily totals of every organization."""
    upkeep.any_org_fold_days()


@database_job(jobs.DAYS_RECKON)
def start_day_totals(job: ClaimedJob) -> None:
    """Enqueue the daily owed totals of the next organizations."""
    since = job.args["since"]
    after = UUID(job.args.get("after", str(owed_days.FIRST)))
    owed_days.any_org_start(since=date.fromisoformat(since) if since else None, after=after)


@database_job(jobs.DAYS_RECKON_ONE)
def compute_day_totals(job: ClaimedJob) -> None:
    """Recompute an organization's daily owed totals for the days that changed."""
    owed_days.compute(job.tenant)


def _prepare_rates(job: ClaimedJob) -> str | None:
    return fx_intake.feed_url()


def _fetch_rates(url: str) -> RateFile:
    return fx_intake.fetch(url, now=clock.now())


def _record_rates(url: str, rates: RateFile) -> None:
    fx_intake.store_from_feed(rates)


register_calling_job(jobs.FX_REFRESH, prepare=_prepare_rates, call=_fetch_rates, record=_record_rates)
