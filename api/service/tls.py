"""The check whether a host may get a certificate, for proxies that request one on a host's first visit."""

from collections.abc import Mapping

from flask import Blueprint

from api.access.guards import Guard
from api.edge import body
from api.edge.operations import object_of, operation
from models import db
from pipelines.host_proofs import served_hosts
from schemas.host_proof import TlsAnswer, TlsQuery

blueprint = Blueprint("tls", __name__)

_ASK = Guard(audience="public", bucket="tls_ask")


@blueprint.get("/api/tls/ask")
@operation(_ASK, object_of(TlsAnswer()), asks=TlsQuery(), refuses=("404 not_found",))
def get_served_host() -> Mapping[str, object]:
    """Return a host that the service serves: its own, a brand's portal, or a verified domain. Else 404."""
    host = body.query()["domain"]
    with db.any_org_work():
        return {"domain": served_hosts.any_org_check(host)}
