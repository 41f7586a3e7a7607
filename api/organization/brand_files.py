"""Brands' images, public."""

from uuid import UUID

from flask import Blueprint, Response, request

import settings
from api.access.guards import Guard
from api.edge import path
from api.edge.operations import operation, text
from domain.refusals import Refused
from models import db, stored_files

blueprint = Blueprint("brand_files", __name__)

_YEAR_S = 31_536_000


@blueprint.get("/api/brand-files/<file_id>")
@operation(Guard(audience="public", bucket="anonymous"), text("image/*"), refuses=("404 not_found",))
def get_brand_file(file_id: str) -> Response:
    """Show a logo or favicon. Public; a new image has a new address, so this one never changes."""
    file_uuid = path.uuid(file_id, "file")
    with db.any_org_work():
        file = stored_files.any_org_find_public(file_uuid)
    if file is None:
        raise Refused(404, "not_found", "This file does not exist.")
    answer = Response(file.content, content_type=file.content_type)
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    answer.cache_control.public = True
    answer.cache_control.max_age = _YEAR_S
    answer.cache_control.immutable = True
    answer.set_etag(str(file_uuid))
    answer.make_conditional(request)
    return answer


def file_url(file_id: UUID | None) -> str | None:
    """Return the absolute address of a brand's image."""
    return f"{settings.current().web.url}/api/brand-files/{file_id}" if file_id else None
