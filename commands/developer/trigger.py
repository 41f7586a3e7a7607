"""`flask trigger`: cause a real event with its deliveries, at the demo brand or another organization."""

import time
from datetime import datetime, timedelta
from uuid import UUID

import click

from adapters import clock
from commands import audit_trail, output
from commands.developer import brands, coupons, makers, targets
from commands.developer.targets import TriggerTarget
from domain.refusals import Refused
from domain.webhooks import events
from models.organization import rehearsals
from models.organization.organizations import Organization
from models.organization.rehearsals import EventDelivery
from models.webhooks import endpoints
from pipelines.webhooks import manage


@click.command("trigger")
@click.argument("event", metavar="EVENT")
@brands.option
@click.option("--sample", is_flag=True, help="Send the sample of the Test action instead; nothing is created.")
@output.json_option
def trigger(event: str, organization: UUID | None, sample: bool, as_json: bool) -> None:
    """Cause a real EVENT: a sale, a refund, an application, a payout, a coupon, a deal, with its rows and deliveries.

    Without --org at the demo brand; coupons at the second one, which has a gateway. At other organizations sales and
    affiliates are tests, which payouts ignore; payouts, rewarded clicks and deals need the sandbox, and coupons a
    gateway in test mode: no real money moves.
    """
    if event not in events.TYPES:
        raise click.BadParameter(f"Unknown event {event!r}. Events are: {', '.join(events.TYPES)}", param_hint="EVENT")
    with output.operator_transaction():
        brand = brands.find(organization, has_gateway=event in coupons.MAKERS and not sample)
    if sample:
        _send_sample(brand, event, as_json)
    elif event in makers.MAKERS:
        _trigger_event(TriggerTarget(brand, is_demo=organization is None), event, as_json)
    else:
        raise click.ClickException(_describe_unsupported(event))


def _describe_unsupported(event: str) -> str:
    message = f"This release cannot cause {event} yet."
    if event in events.TESTABLE:
        return f"{message} Next, to send a sample: flask trigger {event} --sample"
    return f"{message} It has no sample either. Next, to send a test: flask trigger test --sample"


def _trigger_event(target: TriggerTarget, event: str, as_json: bool) -> None:
    brand = target.organization
    since = clock.now() - timedelta(seconds=1)
    with output.reporting_database_errors():
        try:
            about = makers.MAKERS[event](target)
        except Refused as refusal:
            raise click.ClickException(refusal.message) from refusal
    with output.operator_transaction():
        audit_trail.record("event.triggered", {"type": event}, about=about, organization_id=brand.id)
    until = time.monotonic() + targets.TIMEOUT_S
    while not (deliveries := _list_deliveries(brand, event, about, since)) and time.monotonic() < until:
        time.sleep(0.2)
    if not deliveries:
        raise click.ClickException(
            f"{about} was created, but {event} did not follow within {targets.TIMEOUT_S} s: are workers running?"
            " Next: flask jobs queues"
        )
    output.show(
        {
            "type": event,
            "organization": str(brand.id),
            "about": str(about),
            "events": sorted({events.event_id(row.event_id) for row in deliveries}),
            "deliveries": [{"id": str(row.delivery_id), "url": row.url} for row in deliveries if row.delivery_id],
        },
        as_json=as_json,
        print_text=lambda: _print_deliveries(target, event, about, deliveries),
    )


def _list_deliveries(brand: Organization, event: str, about: UUID, since: datetime) -> list[EventDelivery]:
    with output.operator_transaction():
        return rehearsals.list_deliveries(organization_id=brand.id, type=event, about=about, since=since)


def _print_deliveries(target: TriggerTarget, event: str, about: UUID, deliveries: list[EventDelivery]) -> None:
    click.echo(f"{event} of {target.organization.name}, about {about}")
    for row in deliveries:
        receiver = f"{manage.strip_query(row.url)}  delivery {row.delivery_id}" if row.url else "no endpoint subscribes"
        click.echo(f"  {events.event_id(row.event_id)}  {receiver}")
    if not any(row.delivery_id for row in deliveries):
        is_usual = target.is_demo and event not in coupons.MAKERS
        click.echo(f"Next: flask listen{'' if is_usual else f' --org {target.id}'}, then this command again")


def _send_sample(brand: Organization, event: str, as_json: bool) -> None:
    """Queue the sample for every endpoint that subscribes to the type."""
    deliveries = []
    with output.operator_transaction():
        for endpoint in endpoints.page(organization_id=brand.id, after=None, limit=manage.MAX_ENDPOINTS):
            if event in endpoint.events or "*" in endpoint.events:
                queued = manage.send_test(endpoint=endpoint, type=event, now=clock.now())
                deliveries.append({"id": str(queued.delivery_id), "url": manage.strip_query(endpoint.url)})
    output.show(
        {"type": event, "organization": str(brand.id), "deliveries": deliveries},
        as_json=as_json,
        print_text=lambda: click.echo(
            "\n".join(f"Sample of {event} to {row['url']}  delivery {row['id']}" for row in deliveries)
            or f"No endpoint of {brand.name} subscribes to {event}. Next: flask listen"
        ),
    )
