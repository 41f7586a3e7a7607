"""What the Owners of an organization are told by mail of webhook endpoints that nothing reaches: once per outage."""

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

#: How long an endpoint has to fail until its Owners get a letter.
TOLD_AFTER = timedelta(days=1)
_AT_ONCE = 200


def any_org_tell(*, now: datetime) -> None:
    """Write to the Owners of endpoints that have failed for a day, one letter per organization. Idempotent."""
    found = outages.any_org_lock_long(since=now - TOLD_AFTER, limit=_AT_ONCE)
    for _, of_one in groupby(found, key=lambda outage: outage.organization_id):
        _write(list(of_one), now)
    if found:
        outages.any_org_stage_notified([outage.endpoint_id for outage in found], at=now)
    if len(found) == _AT_ONCE:
        work.enqueue(jobs.WEBHOOKS_FAILING, organization_id=None)


def _write(found: Sequence[Outage], now: datetime) -> None:
    name = found[0].organization
    text = (
        f"Webhooks of {name} do not arrive. An event is sent five times, then it is given up and kept.\n\n"
        + "\n\n".join(_described(outage) for outage in found)
        + "\n\nOnce an endpoint answers again, let what was given up be sent again, each under its own delivery id:"
        " POST the line that stands under it with an API key. You get this letter once, until something has arrived."
    )
    mail.send_to_owners(
        organization_id=found[0].organization_id,
        subject=f"Webhooks of {name} do not arrive",
        text=text,
        kind="webhook.failing",
        at=now,
    )


def _described(outage: Outage) -> str:
    since = outage.first_failed_at or outage.failing_since
    base = settings.current().web.url
    return (
        f"{manage.shown_url(outage.url)}\n"
        f"  nothing has arrived since {outage.failing_since:%Y-%m-%d %H:%M} UTC; given up so far: {outage.failed}\n"
        f"  last attempt: {_last(outage)}\n"
        f'  {base}/api/v1/webhooks/{outage.endpoint_id}/redeliver {{"since": "{events.timestamp(since)}"}}'
    )


def _last(outage: Outage) -> str:
    if outage.last_status is not None:
        return f"answered {outage.last_status}"
    return outage.last_reason or "no answer"
