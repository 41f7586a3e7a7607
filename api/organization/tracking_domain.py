"""The domain that serves the script for a brand's pages: its DNS proof and status.

Source: tracking spec, "Install snippet" (scriptHost, usingTrackingDomain).
"""

from collections.abc import Mapping

from flask import Blueprint, Response
from marshmallow import ValidationError

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency
from api.edge.operations import object_of, operation
from domain.host_proofs.records import DnsReading
from domain.organization.access import Role
from domain.refusals import Refused
from models import db
from models.organization import organizations
from pipelines.host_proofs import checks, host_rules
from pipelines.host_proofs.host_status import HostStatus
from schemas.host_proof import DomainProofRecord, TrackingDomainBody

blueprint = Blueprint("tracking_domain", __name__)

_READ = Guard(audience="brand")
_WRITE = Guard(audience="brand", scope="read_write", role=Role.Owner, hides_role=True, verified_email=True)
_CHECK = Guard(audience="brand", scope="read_write", role=Role.Owner, hides_role=True, bucket="domain_check")
_RECORD = DomainProofRecord()
_DOMAIN = "/api/v1/settings/tracking-domain"


@blueprint.get(_DOMAIN)
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_tracking_domain() -> Mapping[str, object]:
    """Show the DNS records that prove the tracking domain, and the result of the last check. Budget: 1 statement."""
    with db.unit_of_work(guards.organization_id()):
        domain = checks.find(organization_id=guards.organization_id(), program_id=None)
    return _RECORD.dump(domain)


@blueprint.patch(_DOMAIN)
@operation(_WRITE, object_of(_RECORD), takes=TrackingDomainBody(), refuses=("404 not_found",))
def change_tracking_domain() -> Response:
    """Set or remove the tracking domain; a new one must be verified. 200 with its status."""
    name = body.load()["tracking_domain"]
    error = host_rules.find_problem(name) if name else None
    if error:
        raise ValidationError({"trackingDomain": [error]})
    return idempotency.run_once(lambda: _change(name))


def _change(name: str | None) -> idempotency.Answer:
    before = organizations.lock(guards.organization_id())
    if before is None:
        raise Refused(404)
    after = host_rules.set_tracking_domain(before, name)
    if after != before:
        audit.record(
            "org.tracking_domain_changed",
            after.id,
            before={
                "trackingDomain": before.tracking_domain,
                "trackingDomainVerified": before.tracking_domain_verified,
            },
            after={"trackingDomain": after.tracking_domain, "trackingDomainVerified": after.tracking_domain_verified},
            now=clock.now(),
        )
    return 200, _RECORD.dump(checks.find(organization_id=after.id, program_id=None))


@blueprint.post(f"{_DOMAIN}/check")
@operation(
    _CHECK,
    object_of(_RECORD),
    refuses=(
        "404 not_found",
        "409 domain_changed",
        "409 no_tracking_domain",
        "409 tracking_domain_already_taken",
        "503 domain_check_busy",
    ),
)
def check_tracking_domain() -> Response:
    """Look the tracking domain up in DNS, and verify it if a record proves it. 200 with its status.

    A verified domain stays verified until its record was missing for three days.
    """
    with db.unit_of_work(guards.organization_id()):
        domain = checks.prepare(organization_id=guards.organization_id(), program_id=None)
    repeated = idempotency.find_replay()
    if repeated is not None:
        return repeated
    reading = checks.read_dns(domain)
    return idempotency.run_once(lambda: _record_check(domain, reading))


def _record_check(domain: HostStatus, reading: DnsReading) -> idempotency.Answer:
    now = clock.now()
    outcome = checks.record(domain, reading, now=now, is_requested=True)
    if outcome.action is not None:
        audit.record(outcome.action, domain.holder.organization_id, after=outcome.audit_data, now=now)
    return 200, _RECORD.dump(outcome.status)
