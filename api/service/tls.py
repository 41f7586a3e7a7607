"""Whether a host may have a certificate, for proxies that get one when its first visitor comes."""

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
    """Say whether the service answers at a host: its own, a brand's portal, or a verified domain. Else 404."""
    asked = body.query()["domain"]
    with db.any_org_work():
        return {"domain": served_hosts.any_org_check(asked)}
