"""A program's custom domain: its DNS proof and status.

Source: core spec, "Program" (customDomain, customDomainVerified); tracking spec, "Public storefront".
"""

from collections.abc import Mapping
from uuid import UUID

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, idempotency, path
from api.edge.operations import object_of, operation
from domain.host_proofs.records import DnsReading
from domain.organization import plans
from models import db
from pipelines.host_proofs import checks
from pipelines.host_proofs.host_status import HostStatus
from schemas.host_proof import DomainProofRecord

blueprint = Blueprint("program_domain", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_CHECK = Guard(audience="brand", scope="read_write", plan=plans.Tier.Starter, bucket="domain_check")
_RECORD = DomainProofRecord()
_DOMAIN = "/api/v1/programs/<program_id>/domain"


@blueprint.get(_DOMAIN)
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_program_domain(program_id: str) -> Mapping[str, object]:
    """Show the DNS records that prove a program's custom domain, and the last check's result. Budget: 1 statement."""
    wanted_id = path.uuid(program_id, "program")
    with db.unit_of_work(guards.organization_id()):
        domain = checks.find(organization_id=guards.organization_id(), program_id=wanted_id)
    return _RECORD.dump(domain)


@blueprint.post(f"{_DOMAIN}/check")
@operation(
    _CHECK,
    object_of(_RECORD),
    refuses=(
        "404 not_found",
        "409 custom_domain_already_taken",
        "409 domain_changed",
        "409 invalid_status_transition",
        "409 no_custom_domain",
        "503 domain_check_busy",
    ),
)
def check_program_domain(program_id: str) -> Response:
    """Look a program's custom domain up in DNS, and verify it if a record proves it. 200 with its status.

    A verified domain stays verified until its record was missing for three days.
    """
    wanted_id = path.uuid(program_id, "program")
    with db.unit_of_work(guards.organization_id()):
        domain = checks.prepare(organization_id=guards.organization_id(), program_id=wanted_id)
    repeated = idempotency.find_replay()
    if repeated is not None:
        return repeated
    reading = checks.read_dns(domain)
    return idempotency.run_once(lambda: _record_check(wanted_id, domain, reading))


def _record_check(program_id: UUID, domain: HostStatus, reading: DnsReading) -> idempotency.Answer:
    now = clock.now()
    outcome = checks.record(domain, reading, now=now, is_requested=True)
    if outcome.action is not None:
        audit.record(outcome.action, program_id, after=outcome.audit_data, now=now)
    return 200, _RECORD.dump(outcome.status)
