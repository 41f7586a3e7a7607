"""The script that a brand's pages load.

Source: tracking spec, "Browser lead capture", "Install snippet" and "Attribution parameters".
"""

import functools
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

from flask import Blueprint, Response, request

import settings
from api.access.guards import Guard
from api.edge import body, compression
from api.edge.operations import operation, text
from domain.clicks.attribution_params import Params
from domain.organization import host_names
from models import db
from models.organization import organizations
from schemas.clicks.install_snippet import LoaderQuery

blueprint = Blueprint("loader", __name__)

_MAX_AGE_S = 3600
_MAX_AGE_WITHOUT_DATABASE_S = 60
_SOURCE = Path(__file__).parent.parent / "templates" / "loader.min.js"


@blueprint.get("/api/v1/r/loader.js")
@operation(
    Guard(audience="public", bucket="anonymous_tracking", open_cors=True),
    text("text/javascript"),
    asks=LoaderQuery(),
)
def get_loader() -> Response:
    """Return the script with the attribution parameters of the organization.

    The organization is that of `programId`, else that of the requested tracking domain; without either the script has
    the service's own parameters. Budget: 1 statement at most, none for the service's own host.
    """
    params = _find_params(body.query()["program_id"])
    parameters = ",".join((params or Params(None)).effective_order)
    answer = Response(content_type="text/javascript; charset=utf-8")
    if compression.accepts_gzip():
        compression.set_compressed_body(answer, _compress_script(parameters))
    else:
        answer.set_data(_build_script(parameters))
    answer.vary.add("Accept-Encoding")
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    answer.cache_control.public = True
    answer.cache_control.max_age = _MAX_AGE_S if params else _MAX_AGE_WITHOUT_DATABASE_S
    answer.add_etag()
    answer.make_conditional(request)
    return answer


@functools.lru_cache(maxsize=256)
def _compress_script(parameters: str) -> bytes:
    return compression.compress_bytes(_build_script(parameters))


def _build_script(parameters: str) -> bytes:
    return _read_source().replace("%PARAMETERS%", parameters).encode()


@functools.cache
def _read_source() -> str:
    return _SOURCE.read_text()


def _find_params(program_id: UUID | None) -> Params | None:
    """Return the organization's attribution parameters; None while the database is down."""
    host = request.host.partition(":")[0].lower()
    is_tracking_domain = host_names.is_host_name(host) and host != urlsplit(settings.current().web.url).hostname
    if program_id is None and not is_tracking_domain:
        return Params(None)
    try:
        with db.any_org_work():
            if program_id is None:
                return Params(organizations.any_org_find_params_by_host(host)).printable
            return Params(organizations.any_org_find_params_by_program(program_id)).printable
    except db.UNAVAILABLE:
        return None
