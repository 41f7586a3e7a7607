"""Notifies a brand's people of webhook endpoints that have not answered for a day: once per outage."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby
from urllib.parse import urlsplit

import settings
from domain import jobs
from domain.notifications.kinds import NotificationKind
from domain.text import instants
from domain.webhooks import events
from models.notifications.feed import NewNotice
from models.webhooks import outages
from models.webhooks.outages import Outage
from pipelines import work
from pipelines.notifications import notices
from pipelines.webhooks import manage

#: How long an endpoint has to fail until people are notified.
NOTIFY_AFTER = timedelta(days=1)
_BATCH = 200
# The first endpoints of a notification are described.
_MAX_DESCRIBED = 10
_MAX_HOST = 200


def any_org_notify(*, now: datetime) -> None:
    """Notify the people of endpoints that have failed for a day, once per organization. Idempotent."""
    rows = outages.any_org_lock_long(since=now - NOTIFY_AFTER, limit=_BATCH)
    for _, group in groupby(rows, key=lambda outage: outage.organization_id):
        _notify(list(group))
    if rows:
        outages.any_org_stage_notified([outage.endpoint_id for outage in rows], at=now)
    if len(rows) == _BATCH:
        work.enqueue(jobs.WEBHOOKS_FAILING, organization_id=None)


def _notify(rows: Sequence[Outage]) -> None:
    name, first, count = rows[0].organization, rows[0], len(rows)
    described = [_describe(outage) for outage in rows[:_MAX_DESCRIBED]]
    if count > _MAX_DESCRIBED:
        described.append(f"and {count - _MAX_DESCRIBED} more endpoints")
    detail = (
        f"Webhooks of {name} do not arrive. Each event is sent five times; after that it has failed and is stored.\n\n"
        + "\n\n".join(described)
        + "\n\nOnce an endpoint answers again, send the failed events again: on its page, or by a POST of the line"
        " below the endpoint with an API key. You get this email once, until an event has arrived."
    )
    host = (urlsplit(first.url).hostname or "")[:_MAX_HOST]
    notices.stage(
        NewNotice(
            first.organization_id,
            NotificationKind.WebhookFailing.value,
            first.endpoint_id,
            title=f"Webhook failing for a day: {host}" if count == 1 else f"{count} webhooks failing for a day",
            detail=detail,
            path=f"/dashboard/webhooks/{first.endpoint_id}" if count == 1 else "/dashboard/webhooks",
        )
    )


def _describe(outage: Outage) -> str:
    since = outage.first_failed_at or outage.failing_since
    base = settings.current().web.url
    return (
        f"{manage.strip_query(outage.url)}\n"
        f"  nothing has arrived since {instants.format_instant(outage.failing_since)}; failed so far: {outage.failed}\n"
        f"  last attempt: {_describe_last_attempt(outage)}\n"
        f'  {base}/api/v1/webhooks/{outage.endpoint_id}/redeliver {{"since": "{events.timestamp(since)}"}}'
    )


def _describe_last_attempt(outage: Outage) -> str:
    if outage.last_status is not None:
        return f"answered {outage.last_status}"
    return outage.last_reason or "no answer"
