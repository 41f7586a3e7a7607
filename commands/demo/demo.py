"""`flask demo`: a small brand to try things on, made through the service's own API.

One campaign that pays 20 %, a recruiter (rita) who gets 10 % of what her recruit (ben) earns, a key, and a webhook
endpoint that leads to the demo receiver on this machine. Both are paid by the sandbox rail, which moves no money. The
key's secrets are kept in the data folder, because the database keeps only what cannot be read back.
"""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import click
from flask import Flask, current_app

import settings
from adapters import clock
from api import web
from commands import output
from commands.demo import banner, certificate
from domain.payouts.destinations import PayoutAccount
from domain.payouts.transfers import Method
from models.money import fx_rates
from models.organization import organizations
from pipelines import fx_intake
from pipelines.organization import issuing, tenancy
from pipelines.payouts import choose_account

# Rates to try payouts with, of no day in particular: major units per 1 USD.
_SAMPLE_RATES = {"EUR": "0.86", "GBP": "0.76", "CAD": "1.39", "AUD": "1.53", "JPY": "155"}


# What opens something: shown when it is made, on a terminal, or when it is asked for; else it would be in some log.
_SECRETS = ("apiKey", "signingSecret", "webhookSecret")


@click.command("demo")
@click.option("--show-secrets", is_flag=True, help="Show the key and its secrets also where this is not a terminal.")
@output.json_option
def demo(show_secrets: bool, as_json: bool) -> None:
    """Make the demo brand, or show it again. Idempotent."""
    found = ensure()
    is_open = show_secrets or found.may_be_shown
    facts = {name: None if name in _SECRETS and not is_open else value for name, value in found.facts.items()}
    output.show(facts, as_json=as_json, person=lambda: click.echo(greeting(found, is_open=is_open)))


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo's ids, key and secrets by name; `is_new` means that it was made just now."""

    facts: Mapping[str, str]
    is_new: bool

    @property
    def may_be_shown(self) -> bool:
        """Say whether its secrets may be printed without being asked for."""
        return self.is_new or sys.stdout.isatty()


def greeting(found: Demo, *, is_open: bool) -> str:
    """Return what a newcomer needs to see, or without the secrets how to see it."""
    chosen = settings.current()
    return banner.full(found.facts, chosen) if is_open else banner.short(chosen)


def is_wanted(chosen: settings.Settings) -> bool:
    """Say whether `flask up` brings the demo along: on a private machine, never on somebody's own database."""
    return chosen.servers.database_url is None


def ensure() -> Demo:
    """Return the demo, making it on the first call."""
    kept = _file(settings.current())
    if is_wanted(settings.current()):
        _publish_samples()
    if kept.exists():
        made: dict[str, str] = json.loads(kept.read_text())
        with output.every_tenant():
            is_there = organizations.find(UUID(made["organizationId"])) is not None
        if is_there:
            _follow_the_receiver(made)
            return Demo(made, is_new=False)
    made = _make()
    kept.parent.mkdir(parents=True, exist_ok=True)
    draft = kept.with_suffix(".draft")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(made, file, indent=2)
    draft.replace(kept)
    return Demo(made, is_new=True)


def _publish_samples() -> None:
    """Publish the sample rates as today's for currencies that have no fresh one. Never on somebody's own database."""
    with output.every_tenant():
        now = clock.now()
        fresh = fx_rates.newest_since(_SAMPLE_RATES, since=fx_intake.fresh_since(now))
        rows = [f"{code},{rate},{now:%Y-%m-%d}" for code, rate in _SAMPLE_RATES.items() if code not in fresh]
        if rows:
            fx_intake.store(fx_intake.read("\n".join(["currency,perUsd,date", *rows]).encode(), now=now))


def receiver_environment(chosen: settings.Settings, given: Mapping[str, str]) -> dict[str, str]:
    """Return the settings under which webhooks may go to the demo receiver on this machine.

    What the operator has `given` stands: of private addresses only the receiver's own is added, and to the
    certificates only its own. Raises ClickException when the operator's bundle cannot be read.
    """
    try:
        bundle = certificate.trusted(chosen.servers.data_dir, beside=chosen.webhooks.ca_bundle)
    except OSError as error:
        raise click.ClickException(f"WEBHOOK_CA_BUNDLE cannot be read: {error}") from error
    also = [*filter(None, [given.get("WEBHOOK_ALSO_ALLOW", "").strip(" ,")]), ":".join(map(str, _place(chosen)))]
    return {
        "WEBHOOK_ALLOW_PRIVATE": given.get("WEBHOOK_ALLOW_PRIVATE", "").strip() or "on",
        "WEBHOOK_ALSO_ALLOW": ",".join(also),
        "WEBHOOK_CA_BUNDLE": str(bundle),
    }


def _place(chosen: settings.Settings) -> tuple[str, int]:
    """Return the address and port of the demo receiver."""
    return "127.0.0.1", chosen.web.port + 1


def _make() -> dict[str, str]:
    with output.every_tenant():
        organization_id = tenancy.create(
            name="Demo Brand",
            plan="Growth",
            status="Active",
            currency="USD",
            owner_email="owner@demo.example.com",
            now=clock.now(),
        )
        tenancy.change(
            organization_id=organization_id, assignments={"verified": "on", "sandboxRail": "ok"}, now=clock.now()
        )
        key = issuing.create(
            organization_id=organization_id,
            scope="read_write",
            is_test=False,
            name="demo",
            user_email=None,
            now=clock.now(),
        )
    made = {
        "organizationId": str(organization_id),
        "apiKey": key.api_key,
        "signingSecret": key.signing_secret,
    }
    made |= _through_the_api(key.api_key)
    _give_accounts(made["programId"], key.api_key)
    return made


def _give_accounts(program_id: str, api_key: str) -> None:
    """Let the campaign's affiliates be paid on wallets at their addresses."""
    listed = _call("GET", f"/api/v1/affiliates?programId={program_id}", api_key, None)["items"]
    with output.every_tenant():
        for affiliate in listed:
            choose_account.any_org_decide(
                affiliate_id=UUID(affiliate["id"]), wanted=PayoutAccount(Method.Wallet, affiliate["email"])
            )


def _through_the_api(api_key: str) -> dict[str, str]:
    program = _call(
        "POST",
        "/api/v1/programs",
        api_key,
        {
            "name": "Demo campaign",
            "slug": "demo",
            "defaultCommissionType": "Percentage",
            "defaultCommissionValue": 20,
            "defaultCommissionModel": "Cps",
            "autoApprove": True,
        },
    )
    program_id = program["id"]
    _call("PUT", f"/api/v1/programs/{program_id}/sub-affiliate-config", api_key, {"enabled": True, "percent": 10})
    rita = _call(
        "POST",
        "/api/v1/affiliates",
        api_key,
        {"programId": program_id, "email": "rita@example.com", "fullName": "Rita Recruiter", "customAlias": "rita"},
    )
    _call(
        "POST",
        f"/api/p/id/{program_id}/apply",
        None,
        {"email": "ben@example.com", "fullName": "Ben Blogger", "customAlias": "ben", "recruitedBy": "rita"},
    )
    made = {"programId": program_id, "recruiterId": rita["id"], "affiliateSlug": "ben"}
    return made | _endpoint(api_key)


def _endpoint(api_key: str) -> dict[str, str]:
    """Subscribe the demo receiver, where webhooks may go to this machine at all."""
    chosen = settings.current()
    if not chosen.webhooks.allow_private and not _is_let_in(chosen):
        return {}
    endpoint = _call("POST", "/api/v1/webhooks", api_key, {"url": _receiver_url(chosen), "events": ["*"]})
    return {"webhookEndpointId": endpoint["id"], "webhookSecret": endpoint["secret"]}


def _is_let_in(chosen: settings.Settings) -> bool:
    """Say whether webhooks may go to the receiver, which only `flask up` arranges."""
    return _place(chosen) in chosen.webhooks.also_allow


def _receiver_url(chosen: settings.Settings) -> str:
    address, port = _place(chosen)
    return f"https://{address}:{port}/webhooks"


def _follow_the_receiver(made: Mapping[str, str]) -> None:
    """Lead the endpoint of an earlier start to where the receiver is now: PORT may have changed."""
    chosen = settings.current()
    if not _is_let_in(chosen) or "webhookEndpointId" not in made:
        return
    for endpoint in _call("GET", "/api/v1/webhooks", made["apiKey"], None)["items"]:
        if endpoint["id"] == made["webhookEndpointId"] and endpoint["url"] != _receiver_url(chosen):
            _call("PATCH", f"/api/v1/webhooks/{endpoint['id']}", made["apiKey"], {"url": _receiver_url(chosen)})


def _call(method: str, path: str, api_key: str | None, body: Mapping[str, Any] | None) -> dict[str, Any]:
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy cannot be mounted
    web.mount(app)  # by itself a command's application answers no requests
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    answer = app.test_client().open(path, method=method, json=body, headers=headers)
    if answer.status_code >= 300:
        raise click.ClickException(f"{method} {path} answered {answer.status_code}: {answer.get_data(as_text=True)}")
    found: dict[str, Any] = answer.get_json()
    return found


def _file(chosen: settings.Settings) -> Path:
    return chosen.servers.data_dir / "demo.json"
