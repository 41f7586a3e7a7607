"""`flask demo-gateway`: plays the gateway of the demo's second brand; and what happens there, on a word.

`pay`, `renew`, `refer` and `refund` ask over HTTP, in stripe's words, for what the brand's own server would ask of
stripe.
"""

import json
import secrets
import threading
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import click

import settings
from adapters import http_calls
from commands import output
from commands.demo import banner, loopback
from commands.demo.gateway import books, player
from commands.demo.gateway.words import StripeObject

_cents = click.IntRange(1, 99_999_999)


@click.group("demo-gateway", invoke_without_command=True)
@click.pass_context
def group(context: click.Context) -> None:
    """Play the gateway of the demo's second brand, as `make run` does; or have something happen there."""
    chosen = settings.current()
    if not loopback.is_wanted(chosen):
        raise click.ClickException(
            "The demo's gateway is played on a private machine alone, and DATABASE_URL is set."
            " Next: unset DATABASE_URL, remove stripe from API_ADDRESSES, then make run"
        )
    if not loopback.is_gateway_played(chosen):
        raise click.ClickException(
            "API_ADDRESSES has another address for stripe, so the demo's gateway is not played."
            " Next: remove stripe from it, then make run"
        )
    if books.key(chosen.servers.data_dir) is None:
        raise click.ClickException(f"There is no demo's gateway in {chosen.servers.data_dir}. Next: make run")
    if context.invoked_subcommand is None:
        with player.playing(chosen, say=click.echo):
            threading.Event().wait()


@group.command("pay")
@click.option("--affiliate", help="Whom the payment names in its metadata: nora, or nobody where there is a code.")
@click.option("--code", help="A promotion code that the customer redeems.")
@click.option("--cents", type=_cents, default=4_900, show_default=True, help="The price, before what a code takes off.")
@output.json_option
def pay(*, affiliate: str | None, code: str | None, cents: int, as_json: bool) -> None:
    """Let a new customer start a subscription and pay for it."""
    redeemed = {"discounts[0][promotion_code]": _promotion_code(code)} if code is not None else {}
    named = affiliate or (None if redeemed else "nora")
    customer = _ask("POST", "/v1/customers", {"email": f"ann-{secrets.token_hex(4)}@example.com", "name": "Ann"})
    form = {
        "customer": customer["id"],
        "items[0][price_data][unit_amount]": str(cents),
        "items[0][price_data][currency]": "usd",
        **({"metadata[affiliate_slug]": named} if named else {}),
        **redeemed,
    }
    _show_payment(_ask("POST", "/v1/subscriptions", form), as_json=as_json)


@group.command("renew")
@click.argument("subscription", required=False)
@output.json_option
def renew(subscription: str | None, as_json: bool) -> None:
    """Let a SUBSCRIPTION be paid again, without one the latest."""
    wanted = subscription or _latest("subscriptions", nothing="There is no subscription yet.")["id"]
    form = {"billing_cycle_anchor": "now"}
    _show_payment(_ask("POST", f"/v1/subscriptions/{quote(wanted, safe='')}", form), as_json=as_json)


@group.command("refer")
@click.argument("subscription", required=False)
@click.option("--affiliate", default="nora", show_default=True, help="Whom the metadata names from now on.")
@output.json_option
def refer(subscription: str | None, affiliate: str, as_json: bool) -> None:
    """Write an affiliate into the metadata of a SUBSCRIPTION after its checkout, without one the latest."""
    wanted = subscription or _latest("subscriptions", nothing="There is no subscription yet.")["id"]
    updated = _ask("POST", f"/v1/subscriptions/{quote(wanted, safe='')}", {"metadata[affiliate_slug]": affiliate})
    output.show(
        {"subscription": updated["id"], "metadata": updated["metadata"]},
        as_json=as_json,
        person=lambda: click.echo(f"The metadata of {updated['id']} says affiliate_slug={affiliate} now"),
    )


@group.command("refund")
@click.argument("charge", required=False)
@click.option("--cents", type=_cents, help="How much; without it all that is left.")
@output.json_option
def refund(charge: str | None, cents: int | None, as_json: bool) -> None:
    """Give a CHARGE back, without one the latest."""
    wanted = charge or _latest("charges", nothing="Nothing was paid yet.")["id"]
    form = {"charge": wanted} | ({"amount": str(cents)} if cents is not None else {})
    made = _ask("POST", "/v1/refunds", form)
    said = {"refund": made["id"], "charge": made["charge"], "amountCents": made["amount"]}
    output.show(
        said, as_json=as_json, person=lambda: click.echo(f"{made['amount']} cents of {made['charge']} given back")
    )


def _promotion_code(code: str) -> str:
    """Return the id of the promotion code that buyers redeem by this text. Raises ClickException."""
    wanted = urlencode({"code": code, "active": "true", "limit": 1})
    found: list[StripeObject] = _ask("GET", f"/v1/promotion_codes?{wanted}")["data"]
    if not found:
        raise click.ClickException(
            f"The gateway has no promotion code {code} in force. Next: mint it (POST /api/me/coupons/mint)"
        )
    return str(found[0]["id"])


def _show_payment(subscription: StripeObject, *, as_json: bool) -> None:
    invoice = _ask("GET", f"/v1/invoices/{subscription['latest_invoice']}")
    paid = invoice["amount_paid"]
    said = {
        "subscription": subscription["id"],
        "invoice": invoice["id"],
        "charge": f"ch_{invoice['id'].removeprefix('in_')}" if paid else None,
        "amountCents": paid,
        "discountCents": invoice["subtotal"] - invoice["total"],
        "metadata": subscription["metadata"],
    }
    output.show(said, as_json=as_json, person=lambda: _tell_payment(said))


def _tell_payment(said: Mapping[str, Any]) -> None:
    named = said["metadata"].get("affiliate_slug")
    off = f" ({said['discountCents']} taken off by the code)" if said["discountCents"] else ""
    whom = f"whose metadata says affiliate_slug={named}" if named else "whose metadata names nobody"
    click.echo(f"{said['amountCents']} cents paid{off} for {said['subscription']}, {whom}")
    by = f"by {said['charge']}" if said["charge"] else "for which nothing was charged"
    click.echo(f"It is {said['invoice']}, {by}. Next: renew it{', or refund some of it' if said['charge'] else ''}:")
    acts = [f"renew {said['subscription']}"]
    if said["charge"]:
        acts.append(f"refund {said['charge']} --cents 1000")
    for act in acts:
        click.echo(f"  {banner.command(settings.current(), f'demo-gateway {act}')}")


def _latest(collection: str, *, nothing: str) -> StripeObject:
    found: list[StripeObject] = _ask("GET", f"/v1/{collection}?limit=1")["data"]
    if not found:
        pay_first = banner.command(settings.current(), "demo-gateway pay")
        raise click.ClickException(f"{nothing} Next: {pay_first}")
    return found[0]


def _ask(method: str, path: str, form: Mapping[str, str] | None = None) -> StripeObject:
    """Return the gateway's answer. Raises ClickException with what it says, or that nobody plays it."""
    chosen = settings.current()
    headers = {
        "Authorization": f"Bearer {books.key(chosen.servers.data_dir)}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    body = urlencode(form).encode() if form else None
    try:
        status, _, content = http_calls.call(method, f"{loopback.gateway_url(chosen)}{path}", headers, body)
    except http_calls.NoAnswer as error:
        place = ":".join(map(str, loopback.gateway(chosen)))
        raise click.ClickException(f"Nobody plays the gateway on {place} ({error}). Next: make run") from error
    said: StripeObject = json.loads(content)
    if status >= 300:
        act = click.get_current_context().info_name
        raise click.ClickException(
            f"The gateway says: {said['error']['message']} Next: flask demo-gateway {act} --help"
        )
    return said
