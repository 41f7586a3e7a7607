"""`flask demo-gateway`: runs the simulated gateway of the demo's second brand, and triggers payments there.

`pay`, `renew`, `refer` and `refund` send the calls over HTTP that the brand's own server would send to stripe.
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
from commands.demo.gateway import object_store, server
from commands.demo.gateway.stripe_objects import StripeObject

_cents = click.IntRange(1, 99_999_999)


@click.group("demo-gateway", invoke_without_command=True)
@click.pass_context
def group(context: click.Context) -> None:
    """Run the simulated gateway of the demo's second brand, as `make run` does; or trigger a payment there."""
    config = settings.current()
    if not loopback.is_demo_enabled(config):
        raise click.ClickException(
            "The demo's gateway runs only without a database of one's own, and DATABASE_URL is set."
            " Next: unset DATABASE_URL, remove stripe from API_ADDRESSES, then make run"
        )
    if not loopback.is_gateway_simulated(config):
        raise click.ClickException(
            "API_ADDRESSES has another address for stripe, so the demo's gateway does not run."
            " Next: remove stripe from it, then make run"
        )
    if object_store.read_key(config.servers.data_dir) is None:
        raise click.ClickException(f"There is no demo gateway in {config.servers.data_dir}. Next: make run")
    if context.invoked_subcommand is None:
        with server.running(config, echo=click.echo):
            threading.Event().wait()


@group.command("pay")
@click.option("--affiliate", help="The affiliate in the payment's metadata; default: nora, none with a code.")
@click.option("--code", help="A promotion code that the customer redeems.")
@click.option("--cents", type=_cents, default=4_900, show_default=True, help="The price before the discount of a code.")
@output.json_option
def pay(*, affiliate: str | None, code: str | None, cents: int, as_json: bool) -> None:
    """Start and pay a subscription for a new customer."""
    redeemed = {"discounts[0][promotion_code]": _find_promotion_code(code)} if code is not None else {}
    slug = affiliate or (None if redeemed else "nora")
    customer = _call("POST", "/v1/customers", {"email": f"ann-{secrets.token_hex(4)}@example.com", "name": "Ann"})
    form = {
        "customer": customer["id"],
        "items[0][price_data][unit_amount]": str(cents),
        "items[0][price_data][currency]": "usd",
        **({"metadata[affiliate_slug]": slug} if slug else {}),
        **redeemed,
    }
    _show_payment(_call("POST", "/v1/subscriptions", form), as_json=as_json)


@group.command("renew")
@click.argument("subscription", required=False)
@output.json_option
def renew(subscription: str | None, as_json: bool) -> None:
    """Renew and pay a SUBSCRIPTION (default: the latest)."""
    subscription_id = subscription or _find_latest("subscriptions", nothing="There is no subscription yet.")["id"]
    form = {"billing_cycle_anchor": "now"}
    _show_payment(_call("POST", f"/v1/subscriptions/{quote(subscription_id, safe='')}", form), as_json=as_json)


@group.command("refer")
@click.argument("subscription", required=False)
@click.option("--affiliate", default="nora", show_default=True, help="The affiliate to write into the metadata.")
@output.json_option
def refer(subscription: str | None, affiliate: str, as_json: bool) -> None:
    """Write an affiliate into the metadata of a SUBSCRIPTION (default: the latest) after its checkout."""
    subscription_id = subscription or _find_latest("subscriptions", nothing="There is no subscription yet.")["id"]
    updated = _call(
        "POST", f"/v1/subscriptions/{quote(subscription_id, safe='')}", {"metadata[affiliate_slug]": affiliate}
    )
    output.show(
        {"subscription": updated["id"], "metadata": updated["metadata"]},
        as_json=as_json,
        print_text=lambda: click.echo(f"The metadata of {updated['id']} is now affiliate_slug={affiliate}"),
    )


@group.command("refund")
@click.argument("charge", required=False)
@click.option("--cents", type=_cents, help="The amount; default: all that is left.")
@output.json_option
def refund(charge: str | None, cents: int | None, as_json: bool) -> None:
    """Refund a CHARGE (default: the latest)."""
    charge_id = charge or _find_latest("charges", nothing="Nothing was paid yet.")["id"]
    form = {"charge": charge_id} | ({"amount": str(cents)} if cents is not None else {})
    created = _call("POST", "/v1/refunds", form)
    document = {"refund": created["id"], "charge": created["charge"], "amountCents": created["amount"]}
    output.show(
        document,
        as_json=as_json,
        print_text=lambda: click.echo(f"{created['amount']} cents of {created['charge']} refunded"),
    )


def _find_promotion_code(code: str) -> str:
    """Return the id of the active promotion code with this text. Raises ClickException."""
    query = urlencode({"code": code, "active": "true", "limit": 1})
    codes: list[StripeObject] = _call("GET", f"/v1/promotion_codes?{query}")["data"]
    if not codes:
        raise click.ClickException(
            f"The gateway has no active promotion code {code}. Next: mint it (POST /api/me/coupons/mint)"
        )
    return str(codes[0]["id"])


def _show_payment(subscription: StripeObject, *, as_json: bool) -> None:
    invoice = _call("GET", f"/v1/invoices/{subscription['latest_invoice']}")
    paid = invoice["amount_paid"]
    payment = {
        "subscription": subscription["id"],
        "invoice": invoice["id"],
        "charge": f"ch_{invoice['id'].removeprefix('in_')}" if paid else None,
        "amountCents": paid,
        "discountCents": invoice["subtotal"] - invoice["total"],
        "metadata": subscription["metadata"],
    }
    output.show(payment, as_json=as_json, print_text=lambda: _print_payment(payment))


def _print_payment(payment: Mapping[str, Any]) -> None:
    slug = payment["metadata"].get("affiliate_slug")
    off = f" ({payment['discountCents']} discounted by the code)" if payment["discountCents"] else ""
    affiliate = f"whose metadata says affiliate_slug={slug}" if slug else "whose metadata names no affiliate"
    click.echo(f"{payment['amountCents']} cents paid{off} for {payment['subscription']}, {affiliate}")
    by = f"paid by {payment['charge']}" if payment["charge"] else "without a charge"
    click.echo(
        f"Invoice {payment['invoice']}, {by}. Next: renew it{', or refund a part' if payment['charge'] else ''}:"
    )
    next_steps = [f"renew {payment['subscription']}"]
    if payment["charge"]:
        next_steps.append(f"refund {payment['charge']} --cents 1000")
    for step in next_steps:
        click.echo(f"  {banner.command(settings.current(), f'demo-gateway {step}')}")


def _find_latest(collection: str, *, nothing: str) -> StripeObject:
    objects: list[StripeObject] = _call("GET", f"/v1/{collection}?limit=1")["data"]
    if not objects:
        pay_first = banner.command(settings.current(), "demo-gateway pay")
        raise click.ClickException(f"{nothing} Next: {pay_first}")
    return objects[0]


def _call(method: str, path: str, form: Mapping[str, str] | None = None) -> StripeObject:
    """Return the gateway's response. Raises ClickException with its error, or if the gateway does not run."""
    config = settings.current()
    headers = {
        "Authorization": f"Bearer {object_store.read_key(config.servers.data_dir)}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    body = urlencode(form).encode() if form else None
    try:
        status, _, content = http_calls.call(method, f"{loopback.gateway_url(config)}{path}", headers, body)
    except http_calls.NoAnswer as error:
        place = ":".join(map(str, loopback.gateway_address(config)))
        raise click.ClickException(f"No gateway is running on {place} ({error}). Next: make run") from error
    response: StripeObject = json.loads(content)
    if status >= 300:
        command = click.get_current_context().info_name
        raise click.ClickException(
            f"The gateway refused: {response['error']['message']} Next: flask demo-gateway {command} --help"
        )
    return response
