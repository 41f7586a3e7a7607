"""`flask listen`: receive an organization's webhooks on this machine and hand them on to a developer's own server."""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit
from uuid import UUID

import click
import orjson

from adapters import clock
from commands import output, trail
from commands.rehearsal import forwarding, whom
from commands.rehearsal.forwarding import Heard
from domain.webhooks import events
from models.organization.organizations import Organization
from models.webhooks import admin_queries, endpoints
from models.webhooks.endpoints import WebhookEndpoint
from pipelines.webhooks import manage

# Says whose an endpoint is: we do not look after those of another machine.
_MARK = f"flask listen on {socket.gethostname()}, process "
# How long the first delivery may take: the relay's next look, a worker's turn, one attempt.
_WAY_S = 15
_LOOK_EVERY_S = 0.2


@click.command("listen")
@click.option("--forward-to", help="Your server, such as http://localhost:3000/webhooks; without it only shown.")
@click.option("--events", "types", multiple=True, help="Only this type; may be repeated. Without it all.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Where to listen; 0 is any free one.")
@whom.option
@output.json_option
def listen(forward_to: str | None, types: tuple[str, ...], port: int, organization: UUID | None, as_json: bool) -> None:
    """Receive webhooks here, verify and show them, hand them on and answer what your server answers.

    Makes an endpoint of its own on the demo brand (or --org) and removes it when you stop it. Needs a service on
    this machine that runs with WEBHOOK_ALLOW_PRIVATE=on.
    """
    _check(forward_to, types)
    say = _say_json if as_json else _say
    receiver = _receiver(port, forward_to, say)
    is_told = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: is_told.set())
    try:
        with _endpoint(organization, receiver, list(types) or ["*"]) as (brand, endpoint, secret):
            _introduce(brand, endpoint, secret, forward_to, as_json)
            if _try_the_way(endpoint, receiver, is_told):
                _say_ready(as_json)
            while not is_told.is_set():  # asked, not waited for: a handler amid the wait would want the lock it has
                time.sleep(_LOOK_EVERY_S)
    finally:
        receiver.close()
    if not as_json:
        click.echo("The endpoint is removed.")


def _check(forward_to: str | None, types: tuple[str, ...]) -> None:
    unknown = events.unknown_types(types)
    if unknown:
        message = f"There is no event {', '.join(unknown)}. Events are: {', '.join(events.TYPES)}"
        raise click.BadParameter(message, param_hint="'--events'")
    if forward_to is None:
        return
    try:
        parts = urlsplit(forward_to)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url:
        message = f"{forward_to!r} is no address of a server; write one such as http://localhost:3000"
        raise click.BadParameter(message, param_hint="'--forward-to'")


def _receiver(port: int, forward_to: str | None, say: Callable[[Heard], None]) -> forwarding.Receiver:
    try:
        return forwarding.Receiver(port=port, forward_to=forward_to, tell=say)
    except OSError as error:
        raise click.ClickException(f"Cannot listen on port {port}: {error.strerror}") from error


@contextmanager
def _endpoint(
    wanted: UUID | None, receiver: forwarding.Receiver, types: list[str]
) -> Iterator[tuple[Organization, WebhookEndpoint, str]]:
    """Make the endpoint and remove it afterwards in any case; also what earlier listeners left behind."""
    with output.every_tenant():
        brand = whom.find(wanted)
        for stale in _left_behind(brand.id):
            _remove(stale)
        made = manage.create(
            organization_id=brand.id,
            body={"url": receiver.url, "events": types, "description": f"{_MARK}{os.getpid()}"},
            now=clock.now(),
        )
        _trail("created", made.endpoint)
    receiver.secret = made.secret.encode()
    try:
        yield brand, made.endpoint, made.secret
    finally:
        with output.every_tenant():
            _remove(made.endpoint)


def _left_behind(organization_id: UUID) -> list[WebhookEndpoint]:
    found = endpoints.page(organization_id=organization_id, after=None, limit=manage.MAX_ENDPOINTS, managed=False)
    ours = [one for one in found if (one.description or "").startswith(_MARK) and one.url.startswith("http://127.")]
    return [one for one in ours if not _is_somebody_at(urlsplit(one.url).port or 80)]


def _is_somebody_at(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _remove(endpoint: WebhookEndpoint) -> None:
    manage.remove(endpoint=endpoint, now=clock.now())
    _trail("deleted", endpoint)


def _trail(verb: str, endpoint: WebhookEndpoint) -> None:
    shown = {"url": endpoint.url, "events": list(endpoint.events)}
    trail.record(f"webhook_endpoint.{verb}", shown, about=endpoint.id, organization_id=endpoint.organization_id)


def _try_the_way(endpoint: WebhookEndpoint, receiver: forwarding.Receiver, is_told: threading.Event) -> bool:
    """Send a test to ourselves; say whether it came. Raises ClickException where the service may not or cannot call."""
    with output.every_tenant():
        sent = manage.send_test(endpoint=endpoint, type="test", now=clock.now())
        has_come = receiver.expect(str(sent.delivery_id))
    until = time.monotonic() + _WAY_S
    while not has_come.wait(_LOOK_EVERY_S) and not is_told.is_set():
        with output.every_tenant():
            (first,) = admin_queries.any_org_list_deliveries(
                organization_id=None, endpoint_id=endpoint.id, status=None, since=None, limit=1
            )
        if first.failure_reason is not None and not has_come.is_set():
            raise click.ClickException(
                f"The service cannot reach {receiver.url}: {first.failure_reason}\n"
                "It must run on this machine, with WEBHOOK_ALLOW_PRIVATE=on."
            )
        if time.monotonic() > until:
            click.echo(f"Nothing has come for {_WAY_S} s. Do workers run? Next: flask jobs queues", err=True)
            return False
    return has_come.is_set()


def _introduce(
    brand: Organization, endpoint: WebhookEndpoint, secret: str, forward_to: str | None, as_json: bool
) -> None:
    if as_json:
        _print_json(
            organization=str(brand.id), endpoint=str(endpoint.id), url=endpoint.url, secret=secret, forwardTo=forward_to
        )
        return
    click.echo(f"Webhooks of {brand.name} ({brand.id}) come to {endpoint.url}")
    click.echo(f"  signed with  {secret}")
    click.echo(f"  handed to    {forward_to or 'nobody: --forward-to http://localhost:3000'}")


def _say_ready(as_json: bool) -> None:
    if not as_json:
        click.echo("Ready; Ctrl-C ends it and removes the endpoint. Next: flask trigger conversion.created")


def _say(heard: Heard) -> None:
    answered = f"{heard.status}  {heard.note}" if heard.note else f"{heard.status}  {heard.took_ms} ms"
    click.echo(f"{clock.now():%H:%M:%S}  {heard.type:28}  {heard.delivery_id}  {answered}")


def _say_json(heard: Heard) -> None:
    _print_json(
        at=clock.now().isoformat(),
        type=heard.type,
        delivery=heard.delivery_id,
        status=heard.status,
        tookMs=heard.took_ms,
        note=heard.note,
        body=heard.body.decode("utf-8", "replace"),
    )


def _print_json(**line: object) -> None:
    """Print one document per line: what comes has no end."""
    click.echo(orjson.dumps(line).decode())
