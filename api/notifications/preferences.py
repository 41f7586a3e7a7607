"""Which notifications the person at the dashboard gets, in the dashboard and by email."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response

from adapters import clock
from api.access import callers, guards
from api.access.guards import Guard
from api.edge import audit, body, idempotency
from api.edge.operations import object_of, operation
from domain.notifications import thresholds
from domain.refusals import not_found
from models import db
from models.organization import organizations
from pipelines.notifications import preferences
from pipelines.notifications.preferences import SwitchChange
from schemas.notifications.preference import PreferencesChange, PreferencesRecord

blueprint = Blueprint("notification_preferences", __name__)

_READ = Guard(audience="dashboard")
_WRITE = Guard(audience="dashboard", scope="read_write")

_RECORD = PreferencesRecord()
_PATH = "/api/v1/notification-preferences"


@blueprint.get(_PATH)
@operation(_READ, object_of(_RECORD), refuses=("404 not_found",))
def get_notification_preferences() -> Mapping[str, object]:
    """Show which notifications the person gets. Budget: 2 round trips."""
    with db.unit_of_work(guards.organization_id()):
        return _serialize()


@blueprint.put(_PATH)
@operation(_WRITE, object_of(_RECORD), takes=PreferencesChange(), refuses=("404 not_found",))
def put_notification_preferences() -> Response:
    """Switch notifications of the person on or off. 200 with all switches."""
    items = body.load()["items"]
    answer = idempotency.run_once(lambda: _change(items))
    callers.clear_cache()  # pages show the number of unread ones
    return answer


def _change(items: Sequence[Mapping[str, Any]]) -> idempotency.Answer:
    caller = guards.caller()
    changes = [SwitchChange(item["kind"], item["in_app"], item["email"]) for item in items]
    preferences.stage_changes(changes, organization_id=caller.organization_id, member_id=caller.member_id)
    record = _serialize()
    audit.record("member.notifications_changed", caller.member_id, after={"items": record["items"]}, now=clock.now())
    return 200, record


def _serialize() -> Mapping[str, object]:
    caller = guards.caller()
    reader = preferences.find_reader(
        organization_id=caller.organization_id, member_id=caller.member_id, role=caller.role
    )
    organization = organizations.find(caller.organization_id)
    if organization is None:
        raise not_found("organization", caller.organization_id)
    threshold = thresholds.find_threshold(
        home_currency=organization.home_currency,
        cents=organization.large_sale_cents,
        currency=organization.large_sale_currency,
    )
    record: Mapping[str, object] = _RECORD.dump(
        {
            "email_address": reader.email,
            "is_email_verified": reader.is_email_verified,
            "items": preferences.list_preferences(reader, role=caller.role),
            "large_sale_cents": threshold.cents,
            "large_sale_currency": threshold.currency,
        }
    )
    return record
