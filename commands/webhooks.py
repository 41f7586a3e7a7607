"""`flask webhook`: which endpoints fail, what became of deliveries, and sending again what was given up."""

import functools
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import output, trail
from commands.moments import moment
from domain.refusals import Refused
from domain.statuses import DeliveryStatus
from models.webhooks import admin_queries, redeliveries
from models.webhooks.admin_queries import DeliveryRow, EndpointRow
from models.webhooks.redeliveries import DeliveryWindow
from pipelines.webhooks import manage, redelivery

group = AppGroup("webhook", help="Webhook endpoints and their deliveries.")

_organization = click.option("--org", "organization", type=click.UUID, help="Of this organization alone.")
_limit = click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)


@group.command("endpoints")
@_organization
@click.option("--failing", "only_failing", is_flag=True, help="Only those whose last attempt failed.")
@_limit
@output.json_option
def endpoints(organization: UUID | None, only_failing: bool, limit: int, as_json: bool) -> None:
    """List endpoints, those that have failed longest first, with the deliveries made in the last day."""
    with output.every_tenant():
        found = admin_queries.any_org_list_endpoints(
            organization_id=organization, only_failing=only_failing, limit=limit
        )
    output.show(
        [{**asdict(one), "state": one.state} for one in found],
        as_json=as_json,
        person=lambda: output.table(
            ("id", "organization", "url", "state", "failing since", "told", "delivered", "failed", "pending"),
            [
                (one.id, one.organization, manage.strip_query(one.url), one.state, _minute(one.failing_since),
                 _minute(one.told_at), one.delivered, one.failed, one.pending) for one in found
            ],
            empty="There is no such endpoint." if organization or only_failing else "There is no endpoint yet.",
        ),
    )  # fmt: skip


@group.command("deliveries")
@_organization
@click.option("--endpoint", type=click.UUID, help="Of this endpoint alone.")
@click.option("--status", type=click.Choice([str(status) for status in DeliveryStatus]))
@click.option("--since", type=moment, help="Made since then: 2026-05-04T12:00Z, or 90m, 24h, 7d ago.")
@_limit
@output.json_option
def deliveries(
    *,
    organization: UUID | None,
    endpoint: UUID | None,
    status: str | None,
    since: datetime | None,
    limit: int,
    as_json: bool,
) -> None:
    """List deliveries, newest first, with the last answer or why there was none."""
    with output.every_tenant():
        found = admin_queries.any_org_list_deliveries(
            organization_id=organization, endpoint_id=endpoint, status=status, since=since, limit=limit
        )
    output.show(
        [asdict(one) for one in found],
        as_json=as_json,
        person=lambda: output.table(
            ("id", "made", "endpoint", "event", "status", "attempts", "last answer", "next"),
            [
                (one.id, _minute(one.created_at), one.endpoint_id, one.event_type, one.status,
                 one.attempt_count, _answer(one), _minute(one.next_attempt_at)) for one in found
            ],
            empty="There is no such delivery.",
        ),
    )  # fmt: skip


@group.command("redeliver")
@click.argument("endpoint_id", type=click.UUID, metavar="ENDPOINT")
@click.option("--since", type=moment, required=True, help="Made since then: 2026-05-04T12:00Z, or 90m, 24h, 7d ago.")
@click.option("--until", type=moment, help="Made before then; without it until now.")
@click.option(
    "--status",
    type=click.Choice([str(DeliveryStatus.Failed), str(DeliveryStatus.Delivered)]),
    default=str(DeliveryStatus.Failed),
    show_default=True,
)
@click.option("--dry-run", is_flag=True, help="Only say how many.")
@output.json_option
def redeliver(
    endpoint_id: UUID, *, since: datetime, until: datetime | None, status: str, dry_run: bool, as_json: bool
) -> None:
    """Make one more attempt of an endpoint's deliveries of a window, ten a second, each under its own id."""
    with output.every_tenant():
        endpoint = _find(endpoint_id)
        window = DeliveryWindow(endpoint.organization_id, endpoint.id, since, until or clock.now(), status)
        wanted = redeliveries.count(window)
    if window.until <= window.since:
        raise click.UsageError("--until must be after --since.")
    say = functools.partial(click.echo, err=as_json)
    say(_announced(endpoint, window, wanted))
    queued, last_at = (0, None) if dry_run else _queue(window, wanted, say)
    output.show(
        {
            "endpoint": str(endpoint.id),
            "organization": str(endpoint.organization_id),
            **window.audit_values(),
            "found": wanted,
            "queued": queued,
            "last_attempt_at": last_at.isoformat() if last_at else None,
        },
        as_json=as_json,
        person=lambda: _say_next(endpoint.id, queued),
    )


def _queue(window: DeliveryWindow, wanted: int, say: Callable[[str], None]) -> tuple[int, datetime | None]:
    """Queue the window portion by portion, each in a transaction of its own."""
    queued, last_at, after = 0, None, None
    while True:
        with output.every_tenant():
            portion = redelivery.start(window, after=after, now=clock.now())
            if portion.count:
                trail.record(
                    "webhook_endpoint.redelivered",
                    {**window.audit_values(), "count": portion.count},
                    about=window.endpoint_id,
                    organization_id=window.organization_id,
                )
        queued, last_at, after = queued + portion.count, portion.last_at or last_at, portion.next_after
        if portion.last_at is not None:
            say(f"Queued {queued} of {wanted}; the last one is due at {portion.last_at:%Y-%m-%d %H:%M:%S} UTC")
        if after is None:
            return queued, last_at


def _say_next(endpoint_id: UUID, queued: int) -> None:
    if queued:
        click.echo(f"Next: flask webhook deliveries --endpoint {endpoint_id}")


def _find(endpoint_id: UUID) -> EndpointRow:
    found = admin_queries.any_org_list_endpoints(endpoint_id=endpoint_id)
    if not found:
        raise Refused(404, "not_found", f"There is no endpoint {endpoint_id}. Next: flask webhook endpoints")
    return found[0]


def _announced(endpoint: EndpointRow, window: DeliveryWindow, wanted: int) -> str:
    url = manage.strip_query(endpoint.url)
    return (
        f"{wanted} {window.status} deliveries of {endpoint.organization} to {url}, made from"
        f" {window.since:%Y-%m-%d %H:%M:%S} to {window.until:%Y-%m-%d %H:%M:%S} UTC"
    )


def _answer(delivery: DeliveryRow) -> str:
    if delivery.failure_reason:
        return delivery.failure_reason
    return "" if delivery.response_status is None else str(delivery.response_status)


def _minute(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M") if moment else ""
