"""The notifications of the person at the dashboard, and the mark of what they have read.

Every person sees the kinds that their role may see and that they have not switched off. A Viewer, who changes nothing,
has none unread.
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

import settings
from api.access import callers, guards
from api.access.guards import Guard
from api.edge import body, idempotency, paging
from api.edge.operations import object_of, operation
from domain.notifications import kinds
from models import db
from models.notifications import feed, readers
from models.notifications.feed import NotificationView
from models.notifications.readers import Reader
from pipelines.notifications import emails, preferences
from schemas.notifications.notification import NotificationPage, ReadMark, UnreadCount
from schemas.paging import PageQuery

blueprint = Blueprint("notifications", __name__)

_READ = Guard(audience="dashboard")
_MARK = Guard(audience="dashboard", scope="read_write")

_PAGE = NotificationPage()
_UNREAD = UnreadCount()


@blueprint.get("/api/v1/notifications")
@operation(_READ, object_of(_PAGE), asks=PageQuery(), refuses=("404 not_found",))
def list_notifications() -> Mapping[str, object]:
    """List the person's notifications, the latest first. Budget: 2 round trips."""
    page_request = paging.read_page_request(body.query())
    with db.unit_of_work(guards.organization_id()):
        reader = _find_reader()
        visible = [kind for kind in kinds.list_visible(guards.caller().role) if kind.value not in reader.bell_off]
        rows = feed.list_notifications(organization_id=guards.organization_id(), kinds=visible, **page_request.window)
    base = settings.current().web.url
    served = paging.serialize_page(
        page_request, rows, lambda some: [_serialize(row, reader, base) for row in some], time_field="last_at"
    )
    numbers = {"unread_count": reader.unread_count, "last_number": reader.last_number}
    items = {"items": served["items"], "next_cursor": served["nextCursor"], "has_more": served["hasMore"]}
    record: Mapping[str, object] = _PAGE.dump(items | numbers)
    return record


@blueprint.post("/api/v1/notifications/read")
@operation(_MARK, object_of(_UNREAD), takes=ReadMark(), refuses=("404 not_found",))
def mark_notifications_read() -> Response:
    """Mark notifications as read for the person. 200 with the number of unread ones."""
    up_to = body.load_optional()["up_to_number"]
    answer = idempotency.run_once(lambda: _mark(up_to))
    callers.clear_cache()  # pages show the number of unread ones
    return answer


def _mark(up_to: int | None) -> idempotency.Answer:
    organization_id, member_id = guards.organization_id(), guards.caller().member_id
    readers.stage_read(organization_id=organization_id, member_id=member_id, up_to=up_to)
    return 200, _UNREAD.dump(_find_reader())


def _find_reader() -> Reader:
    caller = guards.caller()
    return preferences.find_reader(organization_id=caller.organization_id, member_id=caller.member_id, role=caller.role)


def _serialize(row: NotificationView, reader: Reader, base_url: str) -> dict[str, Any]:
    return {
        "id": row.id,
        "kind": row.kind,
        "title": emails.build_title(row),
        "event_count": row.event_count,
        "is_unread": row.kind in kinds.list_counted(guards.caller().role) and reader.has_unread(row),
        "url": f"{base_url}{emails.build_path(row)}",
        "affiliate_id": row.affiliate_id,
        "affiliate_name": row.affiliate_name,
        "amount_cents": row.amount_cents,
        "currency": row.currency,
        "first_at": row.first_at,
        "last_at": row.last_at,
    }
