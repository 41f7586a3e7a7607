"""The domain that the script for a brand's pages comes from: what proves it, and how that stands.

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
    """Show what proves the tracking domain, and what was found at the last look. Budget: 1 statement."""
    with db.unit_of_work(guards.organization_id()):
        held = checks.find(organization_id=guards.organization_id(), program_id=None)
    shown: Mapping[str, object] = _RECORD.dump(held)
    return shown


@blueprint.patch(_DOMAIN)
@operation(_WRITE, object_of(_RECORD), takes=TrackingDomainBody(), refuses=("404 not_found",))
def change_tracking_domain() -> Response:
    """Set the tracking domain, or none; another one is to be proved anew. 200 with how it stands."""
    name = body.load()["tracking_domain"]
    said = host_rules.find_problem(name) if name else None
    if said:
        raise ValidationError({"trackingDomain": [said]})
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
    """Look the tracking domain up in DNS, and verify it if a record proves it. 200 with how it stands.

    A domain that was verified before keeps its proof, whatever is found, until it was missing for three days.
    """
    with db.unit_of_work(guards.organization_id()):
        held = checks.prepare(organization_id=guards.organization_id(), program_id=None)
    repeated = idempotency.find_replay()
    if repeated is not None:
        return repeated
    reading = checks.read_dns(held)
    return idempotency.run_once(lambda: _noted(held, reading))


def _noted(held: HostStatus, reading: DnsReading) -> idempotency.Answer:
    now = clock.now()
    noted = checks.record(held, reading, now=now, is_requested=True)
    if noted.action is not None:
        audit.record(noted.action, held.holder.organization_id, after=noted.audit_data, now=now)
    return 200, _RECORD.dump(noted.status)
