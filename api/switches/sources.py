"""The systems that a brand can switch from."""

from typing import Any

from flask import Blueprint, Response, jsonify

import settings
from adapters.switches import registry
from adapters.switches.base import SourceInfo
from api.edge.operations import array, operation
from api.switches import records
from schemas.switches.switch import SourceSystemRecord

blueprint = Blueprint("switch_sources", __name__)

_SOURCE = SourceSystemRecord()


@blueprint.get("/api/v1/switches/sources")
@operation(records.READ, array(_SOURCE))
def list_switch_sources() -> Response:
    """List the affiliate systems to switch from, with the credentials that each takes and what is read of it."""
    return jsonify([_serialize(source.info) for source in registry.all_sources()])


def _serialize(info: SourceInfo) -> dict[str, Any]:
    """Return a source as JSON, with the pace at which it is read; null if it has none or its answers decide."""
    own = settings.current().switches.requests_per_s
    per_s = 0 if info.paced_by_headers or not info.address else info.requests_per_s
    per_minute = round((per_s if own is None else own) * 60)
    return {**_SOURCE.dump(info), "requestsPerMinute": per_minute or None}
