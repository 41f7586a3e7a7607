"""`flask demo`: a small brand to try things on, created through the service's own API.

One campaign that pays 20 %, a recruiter (rita) who gets 10 % of what her recruit (ben) earns, a key, and a webhook
endpoint that leads to the demo receiver on this machine. Both are paid by the sandbox rail, which moves no money. The
key's secrets are kept in the data folder, because the database keeps only what cannot be read back. Under `flask up` a
second brand exists too, whose sales come from a gateway (`commands.demo.gateway`).
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
from commands.demo import banner, brand, loopback, own_api, switch_trial
from commands.demo.gateway import second_brand
from commands.organization import sign_in
from domain.organization.access import Role
from domain.payouts.destinations import PayoutAccount
from domain.payouts.transfers import Method
from models.money import fx_rates
from models.organization import organizations
from models.organization.web_sessions import SignInLink
from pipelines import fx_intake
from pipelines.payouts import choose_account

# Sample rates for payouts: major units per 1 USD.
_SAMPLE_RATES = {"EUR": "0.86", "GBP": "0.76", "CAD": "1.39", "AUD": "1.53", "JPY": "155"}

_OWNER_EMAIL, _RECRUITER_EMAIL = "owner@demo.example.com", "rita@example.com"
_LINK_TTL_S = 86_400

# Shown when created, on a terminal, or on request; otherwise they would end up in a log.
_SECRETS = ("apiKey", "signingSecret", "webhookSecret", *second_brand.SECRETS)


@click.group("demo", invoke_without_command=True)
@click.option("--show-secrets", is_flag=True, help="Show the key and its secrets even if the output is not a terminal.")
@output.json_option
@click.pass_context
def demo(context: click.Context, show_secrets: bool, as_json: bool) -> None:
    """Create the demo brand, or show it again. Idempotent."""
    if context.invoked_subcommand is not None:
        return
    created = ensure()
    is_open = show_secrets or created.may_be_shown
    facts = {name: None if name in _SECRETS and not is_open else value for name, value in created.facts.items()}
    output.show(facts, as_json=as_json, print_text=lambda: click.echo(greeting(created, is_open=is_open)))


@demo.command("switch")
@click.argument("source", type=click.Choice(switch_trial.SOURCES))
@click.option(
    "--affiliates", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Size of the account."
)
@click.option("--yes", is_flag=True, help="Run the switch without a question after the preview.")
@click.option("--play", is_flag=True, help="Only play the account and print its key: connect it on the page Switch.")
def switch(source: str, affiliates: int, yes: bool, play: bool) -> None:
    """Switch the demo brand from a sample account of another affiliate system, which this command plays meanwhile."""
    facts = ensure().facts
    switch_trial.run(
        source,
        affiliates=affiliates,
        organization_id=UUID(facts["organizationId"]),
        program_id=facts["programId"],
        owner_email=_OWNER_EMAIL,
        is_sure=yes,
        only_plays=play,
    )


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo's ids, key and secrets by name; `is_new` means that this call created it."""

    facts: Mapping[str, str]
    is_new: bool

    @property
    def may_be_shown(self) -> bool:
        """Return whether its secrets may be printed without --show-secrets."""
        return self.is_new or sys.stdout.isatty()


def greeting(created: Demo, *, is_open: bool) -> str:
    """Return the full text with secrets, or the short one without."""
    config = settings.current()
    return (
        banner.full_text(created.facts, config, sign_in=_create_links(created.facts))
        if is_open
        else banner.short_text(config)
    )


def _create_links(facts: Mapping[str, str]) -> Mapping[str, str]:
    """Return one-time links by role, except roles that an identity provider signs in."""
    users = {
        "Owner": SignInLink("member", UUID(facts["organizationId"]), Role.Owner, _OWNER_EMAIL),
        "affiliate": SignInLink("account", None, None, _RECRUITER_EMAIL),
        "operator": sign_in.LOCAL_OPERATOR,
    }
    links = {}
    for who, link in users.items():
        with contextlib.suppress(click.ClickException):
            links[who] = sign_in.issue(link, ttl_s=_LINK_TTL_S).url
    return links


def ensure() -> Demo:
    """Return the demo, creating missing parts of it."""
    config = settings.current()
    if loopback.is_demo_enabled(config):
        _publish_samples()
    before = _load()
    facts = before or _save(_create())
    if loopback.is_gateway_called(config):
        if not second_brand.has_second_brand(facts):
            facts = _save(facts | second_brand.create())
        second_brand.ensure_connected(facts)
    elif second_brand.has_second_brand(facts) and not loopback.is_gateway_simulated(config):
        second_brand.disconnect(facts)
    _update_endpoints(facts)
    return Demo(facts, is_new=facts != before)


def _load() -> dict[str, str]:
    """Return the facts stored by an earlier call; {} if that was in another database."""
    path = _facts_path(settings.current())
    if not path.exists():
        return {}
    facts: dict[str, str] = json.loads(path.read_text())
    with output.operator_transaction():
        return facts if organizations.find(UUID(facts["organizationId"])) is not None else {}


def _save(facts: dict[str, str]) -> dict[str, str]:
    path = _facts_path(settings.current())
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(facts, file, indent=2)
    draft.replace(path)
    return facts


def _publish_samples() -> None:
    """Publish the sample rates as today's for currencies without a fresh one. Never on an operator's own database."""
    with output.operator_transaction():
        now = clock.now()
        fresh = fx_rates.find_newest_since(_SAMPLE_RATES, since=fx_intake.first_fresh_day(now))
        rows = [f"{code},{rate},{now:%Y-%m-%d}" for code, rate in _SAMPLE_RATES.items() if code not in fresh]
        if rows:
            fx_intake.store(fx_intake.read("\n".join(["currency,perUsd,date", *rows]).encode(), now=now))


def _create() -> dict[str, str]:
    organization_id, key = brand.create("Demo Brand", owner_email=_OWNER_EMAIL)
    facts = {
        "organizationId": str(organization_id),
        "apiKey": key.api_key,
        "signingSecret": key.signing_secret,
    }
    facts |= _create_through_api(key.api_key)
    _set_payout_accounts(facts["programId"], key.api_key)
    return facts


def _set_payout_accounts(program_id: str, api_key: str) -> None:
    """Set wallets at their addresses as payout accounts of the campaign's affiliates."""
    listed = own_api.call("GET", f"/api/v1/affiliates?programId={program_id}", api_key)["items"]
    with output.operator_transaction():
        for affiliate in listed:
            choose_account.any_org_set_for_affiliate(
                affiliate_id=UUID(affiliate["id"]), account=PayoutAccount(Method.Wallet, affiliate["email"])
            )


def _create_through_api(api_key: str) -> dict[str, str]:
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
    facts = {"programId": program_id, "recruiterId": rita["id"], "affiliateSlug": "ben"}
    return facts | _subscribe(api_key)


def _subscribe(api_key: str) -> dict[str, str]:
    endpoint = own_api.subscribe(api_key)
    return {"webhookEndpointId": endpoint["id"], "webhookSecret": endpoint["secret"]} if endpoint else {}


def _update_endpoints(facts: Mapping[str, str]) -> None:
    for key, endpoint in (("apiKey", "webhookEndpointId"), second_brand.KEY_AND_ENDPOINT):
        if endpoint in facts:
            own_api.update_endpoint(facts[key], facts[endpoint])


def _facts_path(config: settings.Settings) -> Path:
    return config.servers.data_dir / "demo.json"
