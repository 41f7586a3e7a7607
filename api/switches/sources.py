"""The systems that a brand can switch from."""

from flask import Blueprint, Response, jsonify

from adapters.switches import registry
from api.edge.operations import array, operation
from api.switches import records
from schemas.switches.switch import SourceSystemRecord

blueprint = Blueprint("switch_sources", __name__)

_SOURCE = SourceSystemRecord()


@blueprint.get("/api/v1/switches/sources")
@operation(records.READ, array(_SOURCE))
def list_switch_sources() -> Response:
    """List the affiliate systems to switch from, with the credentials that each takes and what is read of it."""
    return jsonify([_SOURCE.dump(source.info) for source in registry.all_sources()])
