"""Is a program's tag on the brand's pages, and does it work?"""

from collections.abc import Mapping
from uuid import UUID

from flask import Blueprint, Response

import settings
from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import answers, body, path
from api.edge.operations import one, operation
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
@operation(_READ, one(_STATUS), refuses=("404 not_found",))
def get_install_status(program_id: str) -> Mapping[str, object]:
    """Show how far a program's installation is. Cheap enough to be asked again and again. Budget: 1 statement."""
    wanted_id = path.uuid(program_id, "program")
    with db.unit_of_work(guards.organization_id()):
        shown: Mapping[str, object] = _STATUS.dump(
            install_check.find(organization_id=guards.organization_id(), program_id=wanted_id)
        )
    return shown


@blueprint.post(_CHECKS)
@operation(
    _CHECK,
    one(_STATUS),
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
    """Look at a page of the brand's site for the program's tag. 200 with how far the installation is.

    The page is fetched as it is, redirects are followed, scripts do not run. What is kept of it, until the next
    check, is what the answer shows.
    """
    wanted_id, organization_id = path.uuid(program_id, "program"), guards.organization_id()
    with db.unit_of_work(organization_id):  # a program that is not there comes before a body that is wrong
        handed_out = install_check.find_tag(
            organization_id=organization_id, program_id=wanted_id, base_url=settings.current().web.url
        )
    url = body.load()["url"]
    repeated = answers.repeated()
    if repeated is not None:
        return repeated
    found = install_check.check_page(url, handed_out, now=clock.now())
    return answers.once(lambda: _keep(wanted_id, found))


def _keep(program_id: UUID, found: InstallCheck) -> answers.Answer:
    kept = install_check.store(found, organization_id=guards.organization_id(), program_id=program_id)
    return 200, _STATUS.dump(kept)
