"""Looks at host names by the clock."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from adapters import name_servers
from domain import jobs
from domain.host_proofs.records import DnsReading
from domain.refused import Refused
from models.host_proofs import looks
from models.organization import audit
from pipelines import work
from pipelines.host_proofs import holding
from pipelines.host_proofs.held import HeldHost, NotedLook

_AT_ONCE = 200
# A look that is lost is made again so much later.
_AGAIN = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class AskedName:
    """What a job is to look at: of which holder, and the name that it had."""

    organization_id: UUID
    holder_id: UUID
    name: str


def any_org_start(*, now: datetime) -> None:
    """Stage a look at every name whose turn it is, in portions: a full one asks for the next."""
    due = looks.any_org_take_due(now=now, again=now + _AGAIN, limit=_AT_ONCE)
    for host in due:
        work.enqueue(jobs.DOMAIN_CHECK, organization_id=host.organization_id, holder_id=host.holder_id, name=host.name)
    if len(due) == _AT_ONCE:
        work.enqueue(jobs.DOMAINS_CHECK, organization_id=None)


def prepare(asked: AskedName) -> HeldHost | None:
    """Return what is to be looked at; None for a name that its holder has no more."""
    program_id = None if asked.holder_id == asked.organization_id else asked.holder_id
    try:
        held = holding.prepare(organization_id=asked.organization_id, program_id=program_id)
    except Refused:
        return None
    return held if held.holder.name == asked.name else None


def look(held: HeldHost) -> DnsReading:
    """Ask DNS. Takes nine seconds at most, never inside a transaction."""
    assert held.wanted is not None  # what has no name is not prepared
    return name_servers.read(held.wanted, limit_s=name_servers.JOB_LIMIT_S)


def record(held: HeldHost, reading: DnsReading, *, now: datetime) -> None:
    """Write down what was read; a proof that was found or lost is audited."""
    try:
        noted = holding.note(held, reading, now=now, is_asked=False)
    except Refused:  # it has another name by now, which has its own turn
        return
    if noted.action is not None:
        _stage_audit(noted, noted.action, now)


def _stage_audit(noted: NotedLook, action: str, now: datetime) -> None:
    holder = noted.held.holder
    audit.stage(
        organization_id=holder.organization_id,
        action=action,
        entity_type=action.split(".", 1)[0],
        entity_id=str(holder.holder_id),
        actor_type="system",
        actor_user_id=None,
        actor_label="domain check",
        ip=None,
        user_agent=None,
        request_id=None,
        before=None,
        after=noted.told,
        at=now,
    )
