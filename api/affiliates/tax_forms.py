"""Tax forms, and the signed links that open their files.

Source: core spec, "Affiliate" (tax form) and "Affiliates" (audit-logged on every read).
"""

from collections.abc import Mapping
from datetime import datetime

from flask import Blueprint, Response

from adapters import clock
from adapters.secret_key import file_links
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, path
from api.edge.operations import object_of, operation, text
from domain.organization import plans
from domain.organization.access import Role
from domain.refusals import Refused, not_found
from models import db
from models.affiliates import tax_forms
from models.affiliates.tax_forms import TaxForm
from pipelines.affiliates import tax_form_files
from schemas.affiliates.tax_form import FileQuery, TaxFormRecord

blueprint = Blueprint("tax_forms", __name__)

_READ = Guard(audience="brand", role=Role.Admin, plan=plans.Tier.Starter)
_OPEN = Guard(audience="public", bucket="anonymous")
_RECORD = TaxFormRecord()

_PRIVATE = {
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
}


@blueprint.get("/api/v1/affiliates/<affiliate_id>/tax-form")
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",), shows_secret=True, writes=True)
def get_tax_form(affiliate_id: str) -> Mapping[str, object]:
    """Show an affiliate's tax form with a link that opens it for five minutes. Every read is audited."""
    affiliate_uuid, now = path.uuid(affiliate_id, "affiliate"), clock.now()
    with db.unit_of_work(guards.organization_id()):
        form = tax_forms.find(organization_id=guards.organization_id(), affiliate_id=affiliate_uuid)
        audit.record("tax_form.read", affiliate_uuid, after={"found": form is not None}, now=now)
    if form is None:  # after the commit, so that the audit entry stays
        raise not_found("tax form of affiliate", affiliate_uuid)
    return _RECORD.dump(_fields(form, now))


def _fields(form: TaxForm, now: datetime) -> Mapping[str, object]:
    if form.held_by_stripe:
        return {"held_by_stripe": True}
    return {
        "id": form.id,
        "affiliate_id": form.affiliate_id,
        "type": form.type,
        "submitted_at": form.submitted_at,
        "signed_url": tax_form_files.signed_url(form, now=now),
        "expires_in_seconds": file_links.EXPIRES_IN_S,
    }


@blueprint.get("/api/files/<file_id>")
@operation(_OPEN, text("application/octet-stream"), asks=FileQuery(), refuses=("404",))
def open_file(file_id: str) -> Response:
    """Open a private file by its signed link. 404 for any other link, and after it expires."""
    file_uuid, link = path.uuid(file_id, "file"), body.query()
    if not file_links.is_valid(file_uuid, expires=link["expires"], signature=link["signature"], now=clock.now()):
        raise Refused(404)
    with db.any_org_work():
        opened = tax_form_files.any_org_open(file_uuid)
    headers = {**_PRIVATE, "Content-Disposition": f'attachment; filename="{opened.name}"'}
    return Response(opened.content, content_type=opened.content_type, headers=headers)
