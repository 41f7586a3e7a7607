"""`flask webhook`: endpoints that fail, deliveries and their answers, and redelivery."""

import functools
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from uuid import UUID

import click
from flask.cli import AppGroup

from adapters import clock
from commands import audit_trail, output
from commands.timestamps import parse_timestamp
from domain.refusals import Refused
from domain.statuses import DeliveryStatus
from models.webhooks import admin_queries, redeliveries
from models.webhooks.admin_queries import DeliveryRow, EndpointRow
from models.webhooks.redeliveries import DeliveryWindow
from pipelines.webhooks import manage, redelivery

group = AppGroup("webhook", help="Webhook endpoints and their deliveries.")

_organization = click.option("--org", "organization", type=click.UUID, help="Only this organization.")
_limit = click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True)


@group.command("endpoints")
@_organization
@click.option("--failing", "only_failing", is_flag=True, help="Only endpoints whose last attempt failed.")
@_limit
@output.json_option
def list_endpoints(organization: UUID | None, only_failing: bool, limit: int, as_json: bool) -> None:
    """List endpoints, longest failing first, with the number of deliveries of the last day."""
    with output.operator_transaction():
        listed = admin_queries.any_org_list_endpoints(
            organization_id=organization, only_failing=only_failing, limit=limit
        )
    output.show(
        [{**asdict(endpoint), "state": endpoint.state} for endpoint in listed],
        as_json=as_json,
        print_text=lambda: output.table(
            ("id", "organization", "url", "state", "failing since", "notified", "delivered", "failed", "pending"),
            [
                (row.id, row.organization, manage.strip_query(row.url), row.state, _format_minute(row.failing_since),
                 _format_minute(row.told_at), row.delivered, row.failed, row.pending) for row in listed
            ],
            empty="There is no such endpoint." if organization or only_failing else "There is no endpoint yet.",
        ),
    )  # fmt: skip


@group.command("deliveries")
@_organization
@click.option("--endpoint", type=click.UUID, help="Only this endpoint.")
@click.option("--status", type=click.Choice([str(status) for status in DeliveryStatus]))
@click.option(
    "--since", type=parse_timestamp, metavar="MOMENT", help="Made since then: 2026-05-04T12:00Z, or 90m, 24h, 7d ago."
)
@_limit
@output.json_option
def list_deliveries(
    *,
    organization: UUID | None,
    endpoint: UUID | None,
    status: str | None,
    since: datetime | None,
    limit: int,
    as_json: bool,
) -> None:
    """List deliveries, newest first, with the last response or its failure reason."""
    with output.operator_transaction():
        listed = admin_queries.any_org_list_deliveries(
            organization_id=organization, endpoint_id=endpoint, status=status, since=since, limit=limit
        )
    output.show(
        [asdict(delivery) for delivery in listed],
        as_json=as_json,
        print_text=lambda: output.table(
            ("id", "made", "endpoint", "event", "status", "attempts", "last answer", "next"),
            [
                (row.id, _format_minute(row.created_at), row.endpoint_id, row.event_type, row.status,
                 row.attempt_count, _describe_answer(row), _format_minute(row.next_attempt_at)) for row in listed
            ],
            empty="There is no such delivery.",
        ),
    )  # fmt: skip


@group.command("redeliver")
@click.argument("endpoint_id", type=click.UUID, metavar="ENDPOINT")
@click.option(
    "--since",
    type=parse_timestamp,
    metavar="MOMENT",
    required=True,
    help="Made since then: 2026-05-04T12:00Z, or 90m, 24h, 7d ago.",
)
@click.option("--until", type=parse_timestamp, metavar="MOMENT", help="Made before then; without it until now.")
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
    """Attempt an endpoint's deliveries of a time window again, ten per second, each under its own id."""
    with output.operator_transaction():
        endpoint = _find_endpoint(endpoint_id)
        window = DeliveryWindow(endpoint.organization_id, endpoint.id, since, until or clock.now(), status)
        count = redeliveries.count(window)
    if window.until <= window.since:
        raise click.UsageError("--until must be after --since.")
    echo = functools.partial(click.echo, err=as_json)
    echo(_describe_plan(endpoint, window, count))
    queued, last_at = (0, None) if dry_run else _queue(window, count, echo)
    output.show(
        {
            "endpoint": str(endpoint.id),
            "organization": str(endpoint.organization_id),
            **window.audit_values(),
            "found": count,
            "queued": queued,
            "last_attempt_at": last_at.isoformat() if last_at else None,
        },
        as_json=as_json,
        print_text=lambda: _say_next(endpoint.id, queued),
    )


def _queue(window: DeliveryWindow, count: int, echo: Callable[[str], None]) -> tuple[int, datetime | None]:
    """Queue the deliveries of the window in portions, one transaction each."""
    queued, last_at, after = 0, None, None
    while True:
        with output.operator_transaction():
            portion = redelivery.start(window, after=after, now=clock.now())
            if portion.count:
                audit_trail.record(
                    "webhook_endpoint.redelivered",
                    {**window.audit_values(), "count": portion.count},
                    about=window.endpoint_id,
                    organization_id=window.organization_id,
                )
        queued, last_at, after = queued + portion.count, portion.last_at or last_at, portion.next_after
        if portion.last_at is not None:
            echo(f"Queued {queued} of {count}; the last one is due at {portion.last_at:%Y-%m-%d %H:%M:%S} UTC")
        if after is None:
            return queued, last_at


def _say_next(endpoint_id: UUID, queued: int) -> None:
    if queued:
        click.echo(f"Next: flask webhook deliveries --endpoint {endpoint_id}")


def _find_endpoint(endpoint_id: UUID) -> EndpointRow:
    rows = admin_queries.any_org_list_endpoints(endpoint_id=endpoint_id)
    if not rows:
        raise Refused(404, "not_found", f"There is no endpoint {endpoint_id}. Next: flask webhook endpoints")
    return rows[0]


def _describe_plan(endpoint: EndpointRow, window: DeliveryWindow, count: int) -> str:
    url = manage.strip_query(endpoint.url)
    return (
        f"{count} {window.status} deliveries of {endpoint.organization} to {url}, made from"
        f" {window.since:%Y-%m-%d %H:%M:%S} to {window.until:%Y-%m-%d %H:%M:%S} UTC"
    )


def _describe_answer(delivery: DeliveryRow) -> str:
    if delivery.failure_reason:
        return delivery.failure_reason
    return "" if delivery.response_status is None else str(delivery.response_status)


def _format_minute(moment: datetime | None) -> str:
    return moment.strftime("%Y-%m-%d %H:%M") if moment else ""
