"""API keys: people at the dashboard create, rotate and revoke them.

Source: core spec, section 5 (create, rotate and revoke; a key and its separate signing secret are shown once).
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from flask import Blueprint, Response, jsonify

from adapters import clock
from api.access import callers, guards
from api.access.guards import FRESH_S, Guard
from api.edge import audit, body, idempotency, path
from api.edge.operations import array, object_of, operation
from domain.organization.access import Role
from domain.refusals import not_found
from models import db
from models.organization import api_keys
from pipelines.organization import key_creation
from schemas.organization.key import ApiKeyBody, ApiKeyRecord, NewApiKey

blueprint = Blueprint("keys", __name__)

_READ = Guard(audience="dashboard", role=Role.Admin)
_WRITE = Guard(audience="dashboard", scope="read_write", role=Role.Admin, fresh_s=FRESH_S)
# A key needs no verified email for anything, so only a person with a verified email can create one.
_CREATE = Guard(audience="dashboard", scope="read_write", role=Role.Admin, verified_email=True, fresh_s=FRESH_S)

_RECORD = ApiKeyRecord()
# Integrations can read the audit log, and must not learn who a person is.
_AUDITED = ApiKeyRecord(exclude=("created_by", "created_by_email", "last_used_at"))
_NEW = NewApiKey()
# Active keys come first, so only long-revoked ones are ever left out.
_MAX_KEYS = 500


@blueprint.post("/api/v1/api-keys")
@operation(
    _CREATE, object_of(_NEW), status=201, takes=ApiKeyBody(), refuses=("409 api_key_limit_reached",), shows_secret=True
)
def create_api_key() -> Response:
    """Create a key that belongs to the caller. 201 with its two secrets, which are never shown again."""
    values = body.load_optional()
    return idempotency.run_once(lambda: _create(values))


def _create(values: Mapping[str, Any]) -> tuple[int, Mapping[str, object]]:
    now = clock.now()
    issued = key_creation.create_for(
        organization_id=guards.organization_id(), member_id=guards.caller().member_id, now=now, **values
    )
    key = _find(issued.id)
    audit.record("api_key.created", issued.id, after=_AUDITED.dump(key), now=now)
    return 201, _with_secrets(key, issued)


@blueprint.get("/api/v1/api-keys")
@operation(_READ, array(_RECORD))
def list_api_keys() -> Response:
    """List the keys without their secrets: active ones first, newest first."""
    with db.unit_of_work(guards.organization_id()):
        rows = api_keys.list_keys(organization_id=guards.organization_id(), limit=_MAX_KEYS)
    return jsonify([_RECORD.dump(row) for row in rows])


@blueprint.post("/api/v1/api-keys/<key_id>/rotate")
@operation(_CREATE, object_of(_NEW), refuses=("404 not_found",), shows_secret=True)
def rotate_api_key(key_id: str) -> Response:
    """Replace a key at once with an equal one that belongs to the caller. 200 with the new one and its secrets."""
    answer = idempotency.run_once(lambda: _rotate(key_id))
    callers.clear_cache()
    return answer


def _rotate(key_id: str) -> tuple[int, Mapping[str, object]]:
    now, old_id = clock.now(), path.uuid(key_id, "API key")
    issued = key_creation.rotate(
        organization_id=guards.organization_id(), member_id=guards.caller().member_id, key_id=old_id, now=now
    )
    key = _find(issued.id)
    audit.record("api_key.rotated", old_id, before={"id": str(old_id)}, after=_AUDITED.dump(key), now=now)
    return 200, _with_secrets(key, issued)


@blueprint.delete("/api/v1/api-keys/<key_id>")
@operation(_WRITE, status=204, refuses=("404 not_found",))
def revoke_api_key(key_id: str) -> Response:
    """Revoke a key permanently. 204."""
    now, wanted_id = clock.now(), path.uuid(key_id, "API key")
    with db.unit_of_work(guards.organization_id()):
        if not api_keys.revoke(organization_id=guards.organization_id(), key_id=wanted_id, at=now):
            raise not_found("API key", wanted_id)
        audit.record("api_key.revoked", wanted_id, after=_AUDITED.dump(_find(wanted_id)), now=now)
    callers.clear_cache()
    return Response(status=204)


def _find(key_id: UUID) -> api_keys.ListedKey | None:
    return api_keys.find(organization_id=guards.organization_id(), key_id=key_id)


def _with_secrets(key: api_keys.ListedKey | None, issued: key_creation.IssuedKey) -> Mapping[str, object]:
    return {**_RECORD.dump(key), "apiKey": issued.api_key, "signingSecret": issued.signing_secret}
