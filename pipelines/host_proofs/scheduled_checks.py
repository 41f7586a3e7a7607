"""Periodic DNS checks of host names."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from adapters import name_servers
from domain import jobs
from domain.host_proofs.records import DnsReading
from domain.refusals import Refused
from models.host_proofs import proof_records
from models.organization import audit
from pipelines import work
from pipelines.host_proofs import checks
from pipelines.host_proofs.host_status import HostCheck, HostStatus

_BATCH = 200
# A check that got lost is repeated after this time.
_RETRY_AFTER = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class HostToCheck:
    """The host that a job checks: its holder, and the name that it had when the job was staged."""

    organization_id: UUID
    holder_id: UUID
    name: str


def any_org_start(*, now: datetime) -> None:
    """Stage a check of every due name, in batches (a full one stages the next)."""
    due = proof_records.any_org_lease_due(now=now, again=now + _RETRY_AFTER, limit=_BATCH)
    for host in due:
        work.enqueue(jobs.DOMAIN_CHECK, organization_id=host.organization_id, holder_id=host.holder_id, name=host.name)
    if len(due) == _BATCH:
        work.enqueue(jobs.DOMAINS_CHECK, organization_id=None)


def prepare(due: HostToCheck) -> HostStatus | None:
    """Return the host to check; None if its holder has another name now."""
    program_id = None if due.holder_id == due.organization_id else due.holder_id
    try:
        status = checks.prepare(organization_id=due.organization_id, program_id=program_id)
    except Refused:
        return None
    return status if status.holder.name == due.name else None


def read_dns(status: HostStatus) -> DnsReading:
    """Query DNS. Takes at most nine seconds, never inside a transaction."""
    assert status.required is not None  # a holder without a name is not prepared
    return name_servers.read(status.required, limit_s=name_servers.JOB_LIMIT_S)


def record(prepared: HostStatus, reading: DnsReading, *, now: datetime) -> None:
    """Record what DNS answered; a proof that was found or lost is audited."""
    try:
        result = checks.record(prepared, reading, now=now, is_requested=False)
    except Refused:  # it has another name now, which has its own check
        return
    if result.action is not None:
        _stage_audit(result, result.action, now)


def _stage_audit(result: HostCheck, action: str, now: datetime) -> None:
    holder = result.status.holder
    audit.stage(
        organization_id=holder.organization_id,
        action=action,
        entity_id=str(holder.holder_id),
        actor_type="system",
        actor_label="domain check",
        after=result.audit_data,
        at=now,
    )
