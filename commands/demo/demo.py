"""`flask demo`: a small brand to try things on, made through the service's own API.

One campaign that pays 20 %, a recruiter (rita) who gets 10 % of what her recruit (ben) earns, a key, and a webhook
endpoint that leads to the demo receiver on this machine. Both are paid by the sandbox rail, which moves no money. The
key's secrets are kept in the data folder, because the database keeps only what cannot be read back. Under `flask up` a
second brand stands beside it, whose sales come from a gateway (`commands.demo.gateway`).
"""

import contextlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import click

import settings
from adapters import clock
from commands import output
from commands.demo import banner, brand, loopback, own_api
from commands.demo.gateway import shop
from commands.organization import sign_in
from domain.organization.access import Role
from domain.payouts.destinations import PayoutAccount
from domain.payouts.transfers import Method
from models.money import fx_rates
from models.organization import organizations
from models.organization.web_sessions import SignInLink
from pipelines import fx_intake
from pipelines.payouts import choose_account

# Rates to try payouts with, of no day in particular: major units per 1 USD.
_SAMPLE_RATES = {"EUR": "0.86", "GBP": "0.76", "CAD": "1.39", "AUD": "1.53", "JPY": "155"}

_OWNER_EMAIL, _RECRUITER_EMAIL = "owner@demo.example.com", "rita@example.com"
_LINK_TTL_S = 86_400

# What opens something: shown when it is made, on a terminal, or when it is asked for; else it would be in some log.
_SECRETS = ("apiKey", "signingSecret", "webhookSecret", *shop.SECRETS)


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
    return banner.full(found.facts, chosen, sign_in=_links(found.facts)) if is_open else banner.short(chosen)


def _links(made: Mapping[str, str]) -> Mapping[str, str]:
    """Return one-time links by who is signed in; without those whom an identity provider signs in."""
    wanted = {
        "Owner": SignInLink("member", UUID(made["organizationId"]), Role.Owner, _OWNER_EMAIL),
        "affiliate": SignInLink("account", None, None, _RECRUITER_EMAIL),
        "operator": sign_in.LOCAL_OPERATOR,
    }
    links = {}
    for who, link in wanted.items():
        with contextlib.suppress(click.ClickException):
            links[who] = sign_in.issue(link, ttl_s=_LINK_TTL_S).url
    return links


def ensure() -> Demo:
    """Return the demo, making what of it is not there."""
    chosen = settings.current()
    if loopback.is_wanted(chosen):
        _publish_samples()
    before = _kept()
    made = before or _keep(_make())
    if loopback.is_gateway_called(chosen):
        if not shop.is_in(made):
            made = _keep(made | shop.make())
        shop.keep_connected(made)
    elif shop.is_in(made) and not loopback.is_gateway_played(chosen):
        shop.disconnect(made)
    _follow_the_receiver(made)
    return Demo(made, is_new=made != before)


def _kept() -> dict[str, str]:
    """Return what was made on an earlier call; nothing where that was in another database."""
    kept = _file(settings.current())
    if not kept.exists():
        return {}
    made: dict[str, str] = json.loads(kept.read_text())
    with output.every_tenant():
        return made if organizations.find(UUID(made["organizationId"])) is not None else {}


def _keep(made: dict[str, str]) -> dict[str, str]:
    kept = _file(settings.current())
    kept.parent.mkdir(parents=True, exist_ok=True)
    draft = kept.with_suffix(".draft")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(made, file, indent=2)
    draft.replace(kept)
    return made


def _publish_samples() -> None:
    """Publish the sample rates as today's for currencies that have no fresh one. Never on somebody's own database."""
    with output.every_tenant():
        now = clock.now()
        fresh = fx_rates.find_newest_since(_SAMPLE_RATES, since=fx_intake.first_fresh_day(now))
        rows = [f"{code},{rate},{now:%Y-%m-%d}" for code, rate in _SAMPLE_RATES.items() if code not in fresh]
        if rows:
            fx_intake.store(fx_intake.read("\n".join(["currency,perUsd,date", *rows]).encode(), now=now))


def _make() -> dict[str, str]:
    organization_id, key = brand.make("Demo Brand", owner_email=_OWNER_EMAIL)
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
    listed = own_api.call("GET", f"/api/v1/affiliates?programId={program_id}", api_key)["items"]
    with output.every_tenant():
        for affiliate in listed:
            choose_account.any_org_set_for_affiliate(
                affiliate_id=UUID(affiliate["id"]), account=PayoutAccount(Method.Wallet, affiliate["email"])
            )


def _through_the_api(api_key: str) -> dict[str, str]:
    program = own_api.call(
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
    own_api.call(
        "PUT", f"/api/v1/programs/{program_id}/sub-affiliate-config", api_key, {"enabled": True, "percent": 10}
    )
    rita = own_api.call(
        "POST",
        "/api/v1/affiliates",
        api_key,
        {"programId": program_id, "email": _RECRUITER_EMAIL, "fullName": "Rita Recruiter", "customAlias": "rita"},
    )
    own_api.call(
        "POST",
        f"/api/p/id/{program_id}/apply",
        None,
        {"email": "ben@example.com", "fullName": "Ben Blogger", "customAlias": "ben", "recruitedBy": "rita"},
    )
    made = {"programId": program_id, "recruiterId": rita["id"], "affiliateSlug": "ben"}
    return made | _endpoint(api_key)


def _endpoint(api_key: str) -> dict[str, str]:
    endpoint = own_api.subscribe(api_key)
    return {"webhookEndpointId": endpoint["id"], "webhookSecret": endpoint["secret"]} if endpoint else {}


def _follow_the_receiver(made: Mapping[str, str]) -> None:
    for key, endpoint in (("apiKey", "webhookEndpointId"), shop.SUBSCRIBED):
        if endpoint in made:
            own_api.follow(made[key], made[endpoint])


def _file(chosen: settings.Settings) -> Path:
    return chosen.servers.data_dir / "demo.json"
