"""Emails the Owners of an organization about webhook endpoints that nothing reaches: once per outage."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby

import settings
from domain import jobs
from domain.webhooks import events
from models.webhooks import outages
from models.webhooks.outages import Outage
from pipelines import mail, work
from pipelines.webhooks import manage

#: How long an endpoint has to fail until its Owners get an email.
EMAIL_AFTER = timedelta(days=1)
_BATCH = 200


def any_org_send(*, now: datetime) -> None:
    """Email the Owners of endpoints that have failed for a day, one email per organization. Idempotent."""
    rows = outages.any_org_lock_long(since=now - EMAIL_AFTER, limit=_BATCH)
    for _, group in groupby(rows, key=lambda outage: outage.organization_id):
        _email_owners(list(group), now)
    if rows:
        outages.any_org_stage_notified([outage.endpoint_id for outage in rows], at=now)
    if len(rows) == _BATCH:
        work.enqueue(jobs.WEBHOOKS_FAILING, organization_id=None)


def _email_owners(rows: Sequence[Outage], now: datetime) -> None:
    name = rows[0].organization
    text = (
        f"Webhooks of {name} do not arrive. An event is sent five times; then it has failed and is stored.\n\n"
        + "\n\n".join(_describe(outage) for outage in rows)
        + "\n\nOnce an endpoint answers again, send the failed events again, each under its own delivery id:"
        " POST the line below the endpoint with an API key. You get this email once, until an event has arrived."
    )
    mail.send_to_owners(
        organization_id=rows[0].organization_id,
        subject=f"Webhooks of {name} do not arrive",
        text=text,
        kind="webhook.failing",
        at=now,
    )


def _describe(outage: Outage) -> str:
    since = outage.first_failed_at or outage.failing_since
    base = settings.current().web.url
    return (
        f"{manage.strip_query(outage.url)}\n"
        f"  nothing has arrived since {outage.failing_since:%Y-%m-%d %H:%M} UTC; failed so far: {outage.failed}\n"
        f"  last attempt: {_describe_last_attempt(outage)}\n"
        f'  {base}/api/v1/webhooks/{outage.endpoint_id}/redeliver {{"since": "{events.timestamp(since)}"}}'
    )


def _describe_last_attempt(outage: Outage) -> str:
    if outage.last_status is not None:
        return f"answered {outage.last_status}"
    return outage.last_reason or "no answer"
