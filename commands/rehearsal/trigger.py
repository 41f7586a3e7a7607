"""`flask trigger`: make something happen on the demo brand, so that a real event with its deliveries comes of it."""

import time
from datetime import datetime, timedelta
from uuid import UUID

import click

from adapters import clock
from commands import output, trail
from commands.rehearsal import coupons, happenings, scenes, whom
from commands.rehearsal.scenes import Scene
from domain.refusals import Refused
from domain.webhooks import events
from models.organization import rehearsals
from models.organization.organizations import Organization
from models.organization.rehearsals import EventDelivery
from models.webhooks import endpoints
from pipelines.webhooks import manage


@click.command("trigger")
@click.argument("event", metavar="EVENT")
@whom.option
@click.option("--sample", is_flag=True, help="Send the sample of the Test action instead; nothing happens.")
@output.json_option
def trigger(event: str, organization: UUID | None, sample: bool, as_json: bool) -> None:
    """Make a real EVENT: a sale, a refund, an application, a payout, a coupon, a deal, with its rows and deliveries.

    Without --org on the demo brand; coupons on its second one, which has a gateway. Elsewhere sales and affiliates are
    tests, which no payout counts, payouts, paid clicks and deals are made in the sandbox alone, and coupons at no live
    gateway: no real money moves.
    """
    if event not in events.TYPES:
        raise click.BadParameter(f"There is no {event!r}. Events are: {', '.join(events.TYPES)}", param_hint="EVENT")
    with output.every_tenant():
        brand = whom.find(organization, has_gateway=event in coupons.MAKERS and not sample)
    if sample:
        _send_sample(brand, event, as_json)
    elif event in happenings.MAKERS:
        _make(Scene(brand, is_demo=organization is None), event, as_json)
    else:
        raise click.ClickException(_nothing_causes(event))


def _nothing_causes(event: str) -> str:
    said = f"Nothing in this release can cause {event} yet."
    if event in events.TESTABLE:
        return f"{said} A sample of it can be sent. Next: flask trigger {event} --sample"
    return f"{said} There is no sample of it either; `test` is one that every endpoint takes."


def _make(scene: Scene, event: str, as_json: bool) -> None:
    brand = scene.organization
    since = clock.now() - timedelta(seconds=1)
    with output.reaching_the_database():
        try:
            about = happenings.MAKERS[event](scene)
        except Refused as refusal:
            raise click.ClickException(refusal.message) from refusal
    with output.every_tenant():
        trail.record("event.triggered", {"type": event}, about=about, organization_id=brand.id)
    until = time.monotonic() + scenes.PATIENCE_S
    while not (told := _told(brand, event, about, since)) and time.monotonic() < until:
        time.sleep(0.2)
    if not told:
        raise click.ClickException(
            f"It happened ({about}), and {event} has not come of it within {scenes.PATIENCE_S} s: do workers run?"
            " Next: flask jobs queues"
        )
    output.show(
        {
            "type": event,
            "organization": str(brand.id),
            "about": str(about),
            "events": sorted({events.event_id(one.event_id) for one in told}),
            "deliveries": [{"id": str(one.delivery_id), "url": one.url} for one in told if one.delivery_id],
        },
        as_json=as_json,
        person=lambda: _say(scene, event, about, told),
    )


def _told(brand: Organization, event: str, about: UUID, since: datetime) -> list[EventDelivery]:
    with output.every_tenant():
        return rehearsals.list_deliveries(organization_id=brand.id, type=event, about=about, since=since)


def _say(scene: Scene, event: str, about: UUID, told: list[EventDelivery]) -> None:
    click.echo(f"{event} of {scene.organization.name}, about {about}")
    for one in told:
        whom = f"{manage.strip_query(one.url)}  delivery {one.delivery_id}" if one.url else "nobody subscribes"
        click.echo(f"  {events.event_id(one.event_id)}  {whom}")
    if not any(one.delivery_id for one in told):
        is_usual = scene.is_demo and event not in coupons.MAKERS
        click.echo(f"Next: flask listen{'' if is_usual else f' --org {scene.id}'}, then this again")


def _send_sample(brand: Organization, event: str, as_json: bool) -> None:
    """Queue the sample for every endpoint that subscribes to the type."""
    sent = []
    with output.every_tenant():
        for endpoint in endpoints.page(organization_id=brand.id, after=None, limit=manage.MAX_ENDPOINTS):
            if event in endpoint.events or "*" in endpoint.events:
                queued = manage.send_test(endpoint=endpoint, type=event, now=clock.now())
                sent.append({"id": str(queued.delivery_id), "url": manage.strip_query(endpoint.url)})
    output.show(
        {"type": event, "organization": str(brand.id), "deliveries": sent},
        as_json=as_json,
        person=lambda: click.echo(
            "\n".join(f"Sample of {event} to {one['url']}  delivery {one['id']}" for one in sent)
            or f"No endpoint of {brand.name} subscribes to {event}. Next: flask listen"
        ),
    )
