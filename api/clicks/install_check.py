"""Checks of a program's tag on the brand's pages."""

from collections.abc import Mapping
from uuid import UUID

from flask import Blueprint, Response

import settings
from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import body, idempotency, path
from api.edge.operations import object_of, operation
from domain.organization import plans
from models import db
from models.clicks.install_checks import InstallCheck
from pipelines.clicks import install_check
from schemas.clicks.install_check import InstallCheckBody, InstallStatus

blueprint = Blueprint("install_check", __name__)

_READ = Guard(audience="brand", plan=plans.Tier.Starter)
_CHECK = Guard(audience="brand", scope="read_write", plan=plans.Tier.Starter, bucket="page_check")

_STATUS = InstallStatus()
_CHECKS = "/api/v1/programs/<program_id>/install-check"


@blueprint.get(_CHECKS)
@operation(_READ, object_of(_STATUS), refuses=("404 not_found",))
def get_install_status(program_id: str) -> Mapping[str, object]:
    """Show the status of a program's installation. Cheap enough to poll. Budget: 1 statement."""
    program_uuid = path.uuid(program_id, "program")
    with db.unit_of_work(guards.organization_id()):
        body: Mapping[str, object] = _STATUS.dump(
            install_check.find(organization_id=guards.organization_id(), program_id=program_uuid)
        )
    return body


@blueprint.post(_CHECKS)
@operation(
    _CHECK,
    object_of(_STATUS),
    takes=InstallCheckBody(),
    refuses=(
        "400 invalid_url",
        "400 https_required",
        "400 url_not_allowed",
        "404 not_found",
        "422 page_not_read",
        "503 page_check_busy",
    ),
)
def check_installation(program_id: str) -> Response:
    """Look for the program's tag on a page of the brand's site. 200 with the status of the installation.

    The page is fetched with redirects, its scripts do not run. Only the values of the answer are stored, until the next
    check.
    """
    program_uuid, organization_id = path.uuid(program_id, "program"), guards.organization_id()
    with db.unit_of_work(organization_id):  # a missing program is reported before a malformed body
        prepared = install_check.find_tag(
            organization_id=organization_id, program_id=program_uuid, base_url=settings.current().web.url
        )
    url = body.load()["url"]
    replay = idempotency.find_replay()
    if replay is not None:
        return replay
    result = install_check.check_page(url, prepared, now=clock.now())
    return idempotency.run_once(lambda: _store(program_uuid, result))


def _store(program_id: UUID, result: InstallCheck) -> idempotency.Answer:
    status = install_check.store(result, organization_id=guards.organization_id(), program_id=program_id)
    return 200, _STATUS.dump(status)
