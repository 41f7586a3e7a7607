"""The `upkeep` queue: housekeeping that nobody waits for."""

from datetime import date
from uuid import UUID

from adapters import clock
from domain import jobs
from domain.host_proofs.records import DnsReading
from domain.money.fx_files import RateFile
from models.jobs.rows import ClaimedJob
from pipelines import fx_intake, ledger_check, partitions, reckoning, retention, upkeep
from pipelines.conversions import release, renewal
from pipelines.gateways import check, reconcile
from pipelines.host_proofs import ticking
from pipelines.host_proofs.held import HeldHost
from pipelines.invites import inviting
from pipelines.leads import lifecycle
from pipelines.webhooks import letters
from workers.actor import calling_job, database_job


@database_job(jobs.FORGET)
def forget(job: ClaimedJob) -> None:
    """Drop what has had its time."""
    upkeep.forget()


@database_job(jobs.WEBHOOKS_FAILING)
def tell_of_failing_webhooks(job: ClaimedJob) -> None:
    """Write to the Owners of endpoints that nothing has reached for a day."""
    letters.any_org_tell(now=clock.now())


@database_job(jobs.DOMAINS_CHECK)
def check_domains(job: ClaimedJob) -> None:
    """Ask for a look at every domain whose turn it is."""
    ticking.any_org_start(now=clock.now())


def _asked_domain(job: ClaimedJob) -> HeldHost | None:
    return ticking.prepare(ticking.AskedName(job.tenant, UUID(job.args["holder_id"]), job.args["name"]))


def _note_domain(held: HeldHost, reading: DnsReading) -> None:
    ticking.record(held, reading, now=clock.now())


calling_job(jobs.DOMAIN_CHECK, prepare=_asked_domain, call=ticking.look, record=_note_domain)


@database_job(jobs.INVITES_EXPIRE)
def expire_invites(job: ClaimedJob) -> None:
    """Mark the invites of every organization that were not accepted in time."""
    inviting.any_org_expire(now=clock.now())


@database_job(jobs.HOLDS_RENEW)
def renew_holds(job: ClaimedJob) -> None:
    """Hold an organization's next Pending conversions anew."""
    renewal.renew(job.tenant, after=UUID(job.args["after"]))


@database_job(jobs.HOLD_RELEASE)
def release_holds(job: ClaimedJob) -> None:
    """Approve what has passed its hold, of every organization."""
    release.any_org_release(now=clock.now())


@database_job(jobs.LEADS_EXPIRE)
def expire_leads(job: ClaimedJob) -> None:
    """Expire the leads of every organization that no sale came of in time."""
    lifecycle.any_org_expire(now=clock.now())


@database_job(jobs.CLICKS_FORGET)
def forget_click_hashes(job: ClaimedJob) -> None:
    """Forget who made the old clicks of every organization."""
    upkeep.forget_click_hashes(now=clock.now())


@database_job(jobs.RETENTION)
def start_retention(job: ClaimedJob) -> None:
    """Begin to end what has had its time."""
    retention.any_org_start(now=clock.now())


@database_job(jobs.RETENTION_SLICE)
def end_slice(job: ClaimedJob) -> None:
    """End the next rows of a kind."""
    retention.any_org_go_on(job.args["kind"], now=clock.now())


@database_job(jobs.PARTITIONS)
def keep_partitions(job: ClaimedJob) -> None:
    """Make the months that are missing ahead, and drop those that retention has emptied."""
    partitions.any_org_keep(now=clock.now())


@database_job(jobs.GATEWAYS_RECONCILE)
def reconcile_gateways(job: ClaimedJob) -> None:
    """Ask for a run of every native connection."""
    reconcile.any_org_start(only_polled=False)


@database_job(jobs.GATEWAYS_POLL)
def poll_gateways(job: ClaimedJob) -> None:
    """Ask for a run of the connections whose gateway does not tell everything."""
    reconcile.any_org_start(only_polled=True)


@database_job(jobs.GATEWAYS_CHECK)
def check_gateways(job: ClaimedJob) -> None:
    """Ask for a check of every native connection in doubt."""
    check.any_org_start()


@database_job(jobs.LEDGER_CHECK)
def start_ledger_checks(job: ClaimedJob) -> None:
    """Ask for a check of the next organizations."""
    ledger_check.any_org_start(after=UUID(job.args.get("after", str(ledger_check.FIRST))))


@database_job(jobs.LEDGER_CHECK_ONE)
def check_ledger(job: ClaimedJob) -> None:
    """Check whether an organization's money adds up."""
    ledger_check.run(job.tenant, now=clock.now())


@database_job(jobs.DAYS_FOLD)
def fold_days(job: ClaimedJob) -> None:
    """Fold what changed since the last time into the days of every organization."""
    upkeep.any_org_fold_days()


@database_job(jobs.DAYS_RECKON)
def start_reckoning(job: ClaimedJob) -> None:
    """Ask for the reckoning of the next organizations' days."""
    since = job.args["since"]
    after = UUID(job.args.get("after", str(reckoning.FIRST)))
    reckoning.any_org_start(since=date.fromisoformat(since) if since else None, after=after)


@database_job(jobs.DAYS_RECKON_ONE)
def reckon_days(job: ClaimedJob) -> None:
    """Reckon what an organization's days owe that changed."""
    reckoning.reckon(job.tenant)


def _feed(job: ClaimedJob) -> str | None:
    return fx_intake.feed_url()


def _fetch(url: str) -> RateFile:
    return fx_intake.fetch(url, now=clock.now())


def _take_in(url: str, found: RateFile) -> None:
    fx_intake.take_in(found)


calling_job(jobs.FX_REFRESH, prepare=_feed, call=_fetch, record=_take_in)
