"""The query parameters that name the affiliate on an organization's pages.

Source: tracking spec, "Attribution parameters".
"""

from collections.abc import Mapping

from flask import Blueprint, Response

from adapters import clock
from api.access import guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency
from api.edge.operations import object_of, operation
from domain.clicks import attribution_params
from domain.organization.access import Role
from domain.refusals import Refused
from models import db
from models.organization import organizations
from models.organization.organizations import Organization
from pipelines.gateways import web_pixel
from pipelines.organization import profile
from schemas.clicks.attribution_params import AttributionDefaults, AttributionParamsBody, AttributionParamsRecord

blueprint = Blueprint("attribution_params", __name__)

_PUBLIC = Guard(audience="public", bucket="anonymous_tracking", open_cors=True)
_READ = Guard(audience="brand")
_WRITE = Guard(audience="brand", scope="read_write", role=Role.Owner, hides_role=True, verified_email=True)

_RECORD = AttributionParamsRecord()
_DEFAULTS = AttributionDefaults()


@blueprint.get("/api/v1/settings/attribution-params/defaults")
@operation(_PUBLIC, object_of(_DEFAULTS))
def get_attribution_param_defaults() -> Mapping[str, object]:
    """Show the service's own parameters and the limits of custom ones. For any caller."""
    record: Mapping[str, object] = _DEFAULTS.dump(
        {
            "defaults": attribution_params.DEFAULTS,
            "max_custom_entries": attribution_params.MAX_CUSTOM_ENTRIES,
            "max_total_chars": attribution_params.MAX_TOTAL_CHARS,
            "min_param_length": attribution_params.MIN_PARAM_LENGTH,
            "max_param_length": attribution_params.MAX_PARAM_LENGTH,
        }
    )
    return record


@blueprint.get("/api/v1/settings/attribution-params")
@operation(_READ, object_of(_RECORD))
def get_attribution_params() -> Mapping[str, object]:
    """Show the organization's own parameters and the effective order of all parameters."""
    with db.unit_of_work(guards.organization_id()):
        return _serialize(organizations.find(guards.organization_id()))


@blueprint.patch("/api/v1/settings/attribution-params")
@operation(
    _WRITE,
    object_of(_RECORD),
    takes=AttributionParamsBody(),
    refuses=("400 attribution_params_too_long", "400 too_many_attribution_params", "400 invalid_attribution_param"),
)
def change_attribution_params() -> Response:
    """Set the organization's own parameters; null or an empty text clears them. 200 with all parameters."""
    custom = body.load()["custom"]
    return idempotency.run_once(lambda: _change(custom))


def _change(custom: str | None) -> tuple[int, Mapping[str, object]]:
    before = organizations.lock(guards.organization_id())
    old = _serialize(before)
    assert before is not None  # `_serialize` has checked it
    new = _serialize(profile.set_attribution_params(before, custom))
    if new != old:
        web_pixel.enqueue_for_organization(before.id, now=clock.now())
        audit.record(
            "org.attribution_params_changed",
            before.id,
            before={"custom": old["custom"]},
            after={"custom": new["custom"]},
            now=clock.now(),
        )
    return 200, new


def _serialize(organization: Organization | None) -> Mapping[str, object]:
    if organization is None:
        raise Refused(404)
    params = attribution_params.Params(organization.attribution_params)
    record: Mapping[str, object] = _RECORD.dump(
        {
            "custom": params.custom,
            "defaults": attribution_params.DEFAULTS,
            "effective_order": params.effective_order,
            "max_custom_entries": attribution_params.MAX_CUSTOM_ENTRIES,
            "max_total_chars": attribution_params.MAX_TOTAL_CHARS,
        }
    )
    return record
