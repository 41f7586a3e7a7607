"""`flask listen`: receive an organization's webhooks on this machine and forward them to a developer's own server."""

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
from commands import audit_trail, output
from commands.developer import brands, forwarding
from commands.developer.forwarding import ReceivedDelivery
from domain.webhooks import events
from models.organization.organizations import Organization
from models.webhooks import admin_queries, endpoints
from models.webhooks.endpoints import WebhookEndpoint
from pipelines.webhooks import manage

# Marks endpoints of this machine: those of other machines are not removed.
_MARK = f"flask listen on {socket.gethostname()}, process "
# Time limit of the first delivery: the relay's next poll, a free worker, one attempt.
_TEST_TIMEOUT_S = 15
_POLL_INTERVAL_S = 0.2


@click.command("listen")
@click.option(
    "--forward-to", help="Your server, such as http://localhost:3000/webhooks; without it deliveries are only shown."
)
@click.option("--events", "types", multiple=True, help="Only this type; may be repeated. Default: all.")
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="The port to listen on; 0 means any free one.")
@brands.option
@output.json_option
def listen(forward_to: str | None, types: tuple[str, ...], port: int, organization: UUID | None, as_json: bool) -> None:
    """Receive webhooks, verify and show them, forward them and pass back your server's response.

    Creates an endpoint on the demo brand (or --org) and removes it when you stop it. Needs a service on this machine
    that runs with WEBHOOK_ALLOW_PRIVATE=on.
    """
    _check_options(forward_to, types)
    print_delivery = _print_delivery_json if as_json else _print_delivery
    receiver = _start_receiver(port, forward_to, print_delivery)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        with _temporary_endpoint(organization, receiver, list(types) or ["*"]) as (brand, endpoint, secret):
            _introduce(brand, endpoint, secret, forward_to, as_json)
            if _send_test(endpoint, receiver, stop):
                _print_ready(as_json)
            while not stop.is_set():  # polled: a signal handler during wait() would need the lock that wait() holds
                time.sleep(_POLL_INTERVAL_S)
    finally:
        receiver.close()
    if not as_json:
        click.echo("The endpoint is removed.")


def _check_options(forward_to: str | None, types: tuple[str, ...]) -> None:
    unknown = events.unknown_types(types)
    if unknown:
        message = f"Unknown event: {', '.join(unknown)}. Events are: {', '.join(events.TYPES)}"
        raise click.BadParameter(message, param_hint="'--events'")
    if forward_to is None:
        return
    try:
        parts = urlsplit(forward_to)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url:
        message = f"{forward_to!r} is not the address of a server; write one such as http://localhost:3000"
        raise click.BadParameter(message, param_hint="'--forward-to'")


def _start_receiver(
    port: int, forward_to: str | None, print_delivery: Callable[[ReceivedDelivery], None]
) -> forwarding.Receiver:
    try:
        return forwarding.Receiver(port=port, forward_to=forward_to, on_delivery=print_delivery)
    except OSError as error:
        raise click.ClickException(f"Cannot listen on port {port}: {error.strerror}") from error


@contextmanager
def _temporary_endpoint(
    organization: UUID | None, receiver: forwarding.Receiver, types: list[str]
) -> Iterator[tuple[Organization, WebhookEndpoint, str]]:
    """Create the endpoint and remove it afterwards in any case; also remove those that earlier listeners left."""
    with output.operator_transaction():
        brand = brands.find(organization)
        for stale in _find_stale(brand.id):
            _remove(stale)
        created = manage.create(
            organization_id=brand.id,
            body={"url": receiver.url, "events": types, "description": f"{_MARK}{os.getpid()}"},
            now=clock.now(),
        )
        _record("created", created.endpoint)
    receiver.secret = created.secret.encode()
    try:
        yield brand, created.endpoint, created.secret
    finally:
        with output.operator_transaction():
            _remove(created.endpoint)


def _find_stale(organization_id: UUID) -> list[WebhookEndpoint]:
    listed = endpoints.page(organization_id=organization_id, after=None, limit=manage.MAX_ENDPOINTS, managed=False)
    marked = [row for row in listed if (row.description or "").startswith(_MARK) and row.url.startswith("http://127.")]
    return [endpoint for endpoint in marked if not _is_port_in_use(urlsplit(endpoint.url).port or 80)]


def _is_port_in_use(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _remove(endpoint: WebhookEndpoint) -> None:
    manage.remove(endpoint=endpoint, now=clock.now())
    _record("deleted", endpoint)


def _record(verb: str, endpoint: WebhookEndpoint) -> None:
    details = {"url": endpoint.url, "events": list(endpoint.events)}
    audit_trail.record(f"webhook_endpoint.{verb}", details, about=endpoint.id, organization_id=endpoint.organization_id)


def _send_test(endpoint: WebhookEndpoint, receiver: forwarding.Receiver, stop: threading.Event) -> bool:
    """Send a test delivery; return whether it arrived. Raises ClickException if the service may or can not send it."""
    with output.operator_transaction():
        test = manage.send_test(endpoint=endpoint, type="test", now=clock.now())
        has_come = receiver.expect(str(test.delivery_id))
    until = time.monotonic() + _TEST_TIMEOUT_S
    while not has_come.wait(_POLL_INTERVAL_S) and not stop.is_set():
        with output.operator_transaction():
            (first,) = admin_queries.any_org_list_deliveries(
                organization_id=None, endpoint_id=endpoint.id, status=None, since=None, limit=1
            )
        if first.failure_reason is not None and not has_come.is_set():
            raise click.ClickException(
                f"The service cannot reach {receiver.url}: {first.failure_reason}\n"
                "Next: run the service on this machine, with WEBHOOK_ALLOW_PRIVATE=on."
            )
        if time.monotonic() > until:
            click.echo(
                f"No delivery arrived within {_TEST_TIMEOUT_S} s. Are workers running? Next: flask jobs queues",
                err=True,
            )
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
    click.echo(f"Webhooks of {brand.name} ({brand.id}) are sent to {endpoint.url}")
    click.echo(f"  signed with  {secret}")
    click.echo(f"  forwarded to {forward_to or 'no server; use --forward-to http://localhost:3000'}")


def _print_ready(as_json: bool) -> None:
    if not as_json:
        click.echo("Ready. Ctrl-C stops it and removes the endpoint. Next: flask trigger conversion.created")


def _print_delivery(delivery: ReceivedDelivery) -> None:
    outcome = f"{delivery.status}  {delivery.note}" if delivery.note else f"{delivery.status}  {delivery.took_ms} ms"
    click.echo(f"{clock.now():%H:%M:%S}  {delivery.type:28}  {delivery.delivery_id}  {outcome}")


def _print_delivery_json(delivery: ReceivedDelivery) -> None:
    _print_json(
        at=clock.now().isoformat(),
        type=delivery.type,
        delivery=delivery.delivery_id,
        status=delivery.status,
        tookMs=delivery.took_ms,
        note=delivery.note,
        body=delivery.body.decode("utf-8", "replace"),
    )


def _print_json(**line: object) -> None:
    """Print one JSON document per line, since the stream has no end."""
    click.echo(orjson.dumps(line).decode())
