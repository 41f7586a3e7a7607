"""`flask demo switch`: a switch of the demo brand from a played source, through the service's own API.

The jobs run in the workers of the installation, which must call the played source in place of the real one: the same
SWITCH_…_BASE_URL is set for them and for this command.
"""

import contextlib
import importlib
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import click

import settings
from adapters.switches import registry
from commands import output
from commands.demo import loopback, own_api
from domain.money import wording
from domain.switches.sources import SourceName

#: The sources that can be played.
SOURCES = tuple(name.value for name in SourceName if name != SourceName.Files)
_CURRENCY = "USD"
_CUSTOMERS, _COMMISSIONS = 3, 10  # for each affiliate
_POLL_S, _REPORT_S = 1.0, 5.0
_EXAMPLE_PORT = 3  # after PORT; the demo's servers have the two between
_TOKEN_TTL_S = 86_400

Call = Callable[..., dict[str, Any]]


def run(
    source: str,
    *,
    affiliates: int,
    organization_id: UUID,
    program_id: str,
    owner_email: str,
    is_sure: bool,
    only_plays: bool,
) -> None:
    """Play a source, connect, read, show the preview, and run the switch if the user agrees.

    With `only_plays` the user does that on the pages, until Ctrl-C.
    Raises ClickException if the source's address is not one of this machine, or the switch pauses.
    """
    port = _find_port(source)
    call = _as_owner(organization_id, owner_email)
    server, sample = (importlib.import_module(f"commands.demo.played.{name}") for name in ("server", "sample"))
    played = importlib.import_module(f"commands.demo.played.{source}")
    account = played.build_account(
        sample.Sample(affiliates=affiliates, customers=affiliates * _CUSTOMERS, commissions=affiliates * _COMMISSIONS)
    )
    with contextlib.ExitStack() as stack:
        with loopback.listening("played source", (server.LOOPBACK, port)):
            stack.enter_context(server.playing(played.build_source(account), port=port))
        if only_plays:
            _wait_for_user(source, account.credentials)
        else:
            _switch(call, source, account.credentials, program_id, is_sure=is_sure)


def _wait_for_user(source: str, credentials: Mapping[str, str]) -> None:
    """Print where to connect the played account, and wait for Ctrl-C."""
    fields = [(field.label, credentials[field.name]) for field in registry.get(source).info.fields]
    click.echo(f"This sample account answers until Ctrl-C. Connect it: {_page(f'new?source={source}')}")
    output.table(("Enter", "Value"), fields, empty="It needs no key.")
    click.echo("`flask demo` prints a sign-in link of the owner.")
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            time.sleep(_POLL_S)


def _page(path: str) -> str:
    return f"{settings.current().web.url}/dashboard/switch/{path}"


def _find_port(source: str) -> int:
    """Return the port of this machine at which the installation expects the source."""
    config = settings.current()
    url = urlsplit(config.switches.base_urls[SourceName(source)] or "")
    if url.scheme != "http" or url.hostname not in ("127.0.0.1", "localhost") or url.port is None:
        name = f"SWITCH_{source.upper()}_BASE_URL"
        address = f"{name}=http://127.0.0.1:{config.web.port + _EXAMPLE_PORT}"
        raise click.ClickException(
            f"{name} is not an address of this machine, so the service would call the real {source}."
            f" Next: start the service with `{address} make run`, then `{address} .venv/bin/flask demo switch {source}`"
        )
    return url.port


def _as_owner(organization_id: UUID, email: str) -> Call:
    """Return what calls the API as the brand's owner: keys cannot switch."""
    from adapters.identity import tokens

    try:
        token = tokens.issue_dashboard(
            organization_id=organization_id, role="Owner", email=email, is_email_verified=True, ttl_s=_TOKEN_TTL_S
        )
    except tokens.NotLocal as error:
        raise click.ClickException(str(error)) from error

    def call(method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return own_api.call(method, f"/api/v1/switches{path}", token, body)

    return call


def _switch(call: Call, source: str, credentials: Mapping[str, str], program_id: str, *, is_sure: bool) -> None:
    switch = call("POST", "", {"source": source, "credentials": dict(credentials)})
    path = f"/{switch['id']}"
    click.echo(f"Connected: {switch['account']['name']}. The key of the played account was accepted.")
    campaigns = [{"sourceId": row["sourceId"], "programId": program_id} for row in switch["campaigns"]]
    call("PATCH", path, {"campaigns": campaigns, "options": _choose_options(source)})
    call("POST", f"{path}/read", {})
    _wait(call, path, "Reading")
    preview = call("GET", f"{path}/preview")
    _show_preview(preview)
    if not is_sure and not click.confirm("Run this switch? Nobody is written to"):
        call("POST", f"{path}/cancel", {})
        click.echo("Cancelled. Nothing was written.")
        return
    call("POST", f"{path}/run", {"confirm": preview["toConfirm"]})
    _show_result(_wait(call, path, "Writing"))


def _choose_options(source: str) -> dict[str, Any]:
    """Return the options that a source needs."""
    if source == SourceName.FirstPromoter:
        return {"currency": _CURRENCY}
    if source == SourceName.LemonSqueezy:
        return {"assumedCommission": {"type": "Percentage", "value": 30}}
    return {}


def _wait(call: Call, path: str, state: str) -> dict[str, Any]:
    """Return the switch once it has left a state, with reports of its progress. Raises ClickException if it pauses."""
    reported_at = time.monotonic()
    while (switch := call("GET", path))["state"] == state:
        if time.monotonic() - reported_at > _REPORT_S:
            reported_at = time.monotonic()
            done = "written" if state == "Writing" else "read"
            counts = ", ".join(f"{row[done]} {name}" for name, row in switch["progress"].items() if row[done])
            click.echo(f"{state} ({switch['stage']}): {counts or 'nothing yet'}")
        time.sleep(_POLL_S)
    if switch["state"] == "Paused":
        error = switch["lastError"]
        next_step = f"Next: flask switch resume {switch['id']}, or flask switch cancel {switch['id']}"
        raise click.ClickException(f"The switch paused: {error['message']} {next_step}")
    return switch


def _show_preview(preview: Mapping[str, Any]) -> None:
    counts = preview["counts"]
    output.table(
        ("What", "Read", "New", "Known", "Changed", "Merged", "Left out"),
        [
            (name, *(row[verdict] for verdict in ("read", "new", "known", "changed", "merged", "leftOut")))
            for name, row in counts.items()
        ],
        empty="The account is empty.",
    )
    output.table(
        ("Sales", "Gross", "Commission", "Paid", "Unpaid"),
        [
            (
                row["sales"],
                *(
                    wording.format_money(cents, row["currency"])
                    for cents in (
                        row["grossCents"],
                        row["commissionCents"],
                        row["paidCents"],
                        row["owedCents"] + row["pendingCents"],
                    )
                ),
            )
            for row in preview["money"]
        ],
        empty="There are no commissions.",
    )
    differing = [row for row in preview["figures"] if row["difference"]]
    click.echo(f"{len(preview['figures'])} figures of the source were compared: {len(differing)} differ.")


def _show_result(switch: Mapping[str, Any]) -> None:
    output.table(
        ("What", "Created", "Merged", "Changed", "Left out"),
        [
            (name, row["created"], row["merged"], row["changed"], row["leftOut"])
            for name, row in (switch["result"] or {}).items()
        ],
        empty="Nothing was written.",
    )
    click.echo(f"{switch['state']}. It can be undone until {switch['undoUntil']}: flask switch undo {switch['id']}")
    click.echo(f"Look at it: {_page(switch['id'])} (`flask demo` prints a sign-in link of the owner)")
