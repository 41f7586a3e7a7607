"""`flask demo`: a small brand to try things on, made through the service's own API.

One campaign that pays 20 %, a recruiter (rita) who gets 10 % of what her recruit (ben) earns, a key, and a webhook
endpoint that leads to the demo receiver on this machine. Both are paid by the sandbox rail, which moves no money. The key's secrets are kept in the data folder, because the
database keeps only what cannot be read back.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import click
from flask import current_app

import settings
from commands import output, receiver_certificate
from domain.payout_accounts import PayoutAccount
from models import fx_rates, organizations
from pipelines import clock, payout_accounts
from pipelines import fx_rates as fx_rules
from pipelines import keys as key_rules
from pipelines import organizations as organization_rules

# Rates to try payouts with, of no day in particular: major units per 1 USD.
_SAMPLE_RATES = {"EUR": "0.86", "GBP": "0.76", "CAD": "1.39", "AUD": "1.53", "JPY": "155"}


@click.command("demo")
@output.json_option
def demo(as_json: bool) -> None:
    """Make the demo brand, or show it again. Idempotent."""
    made = ensure()
    output.show(made, as_json=as_json, person=lambda: click.echo(banner(made, settings.current())))


def is_wanted(chosen: settings.Settings) -> bool:
    """Say whether `flask up` brings the demo along: on a private machine, never on somebody's own database."""
    return chosen.database_url is None


def ensure() -> dict[str, str]:
    """Return the demo's ids, key and secret, making them on the first call."""
    kept = _file(settings.current())
    if is_wanted(settings.current()):
        _publish_samples()
    if kept.exists():
        made: dict[str, str] = json.loads(kept.read_text())
        with output.every_tenant():
            is_there = organizations.find(UUID(made["organizationId"])) is not None
        if is_there:
            _follow_the_receiver(made)
            return made
    made = _make()
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
        fresh = fx_rates.newest_since(_SAMPLE_RATES, since=fx_rules.fresh_since(now))
        rows = [f"{code},{rate},{now:%Y-%m-%d}" for code, rate in _SAMPLE_RATES.items() if code not in fresh]
        if rows:
            fx_rules.store(fx_rules.read("\n".join(["currency,perUsd,date", *rows]).encode(), now=now))


def receiver_environment(chosen: settings.Settings, given: Mapping[str, str]) -> dict[str, str]:
    """Return the settings under which webhooks may go to the demo receiver on this machine.

    What the operator has `given` stands: of private addresses only the receiver's own is added, and to the
    certificates only its own. Raises ClickException when the operator's bundle cannot be read.
    """
    try:
        bundle = receiver_certificate.trusted(chosen.data_dir, beside=chosen.webhook_ca_bundle)
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
    return "127.0.0.1", chosen.port + 1


def _make() -> dict[str, str]:
    with output.every_tenant():
        organization_id = organization_rules.create(
            name="Demo Brand",
            plan="Growth",
            status="Active",
            currency="USD",
            owner_email="owner@demo.example.com",
            now=clock.now(),
        )
        organization_rules.change(
            organization_id=organization_id, assignments={"verified": "on", "sandboxRail": "ok"}, now=clock.now()
        )
        key = key_rules.create(
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
            payout_accounts.any_org_decide(
                affiliate_id=UUID(affiliate["id"]), wanted=PayoutAccount("Wallet", affiliate["email"])
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
    if not chosen.webhook_allow_private and not _is_let_in(chosen):
        return {}
    endpoint = _call("POST", "/api/v1/webhooks", api_key, {"url": _receiver_url(chosen), "events": ["*"]})
    return {"webhookEndpointId": endpoint["id"], "webhookSecret": endpoint["secret"]}


def _is_let_in(chosen: settings.Settings) -> bool:
    """Say whether webhooks may go to the receiver, which only `flask up` arranges."""
    return _place(chosen) in chosen.webhook_also_allow


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
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    answer = current_app.test_client().open(path, method=method, json=body, headers=headers)
    if answer.status_code >= 300:
        raise click.ClickException(f"{method} {path} answered {answer.status_code}: {answer.get_data(as_text=True)}")
    found: dict[str, Any] = answer.get_json()
    return found


def _file(chosen: settings.Settings) -> Path:
    return chosen.data_dir / "demo.json"


def banner(made: Mapping[str, str], chosen: settings.Settings) -> str:
    """Return what a newcomer needs to see: the address, the key, and commands that work when pasted."""
    url, key, secret = chosen.public_base_url, made["apiKey"], made["signingSecret"]
    return f"""
  Finderfee   {url}
  demo key    {key}

  1. Post a signed sale (paste as it is; every paste is a new order):

t=$(date +%s); body='{{"externalEventId":"order-'$t'","affiliateSlug":"{made["affiliateSlug"]}","amountCents":10000,"currency":"USD"}}'
sig=$(printf '%s.%s' "$t" "$body" | python3 -c "import hmac,sys; print(hmac.new(b'{secret}', sys.stdin.buffer.read(), 'sha256').hexdigest())")
curl -s {url}/api/tracking/s2s -H 'Authorization: Bearer {key}' -H "X-Service-Signature: t=$t,sig=$sig" -H 'Content-Type: application/json' -d "$body"; echo

  2. See the conversion (ben's 20 %) and the override (rita's 10 % of that):

curl -s '{url}/api/v1/conversions?take=2' -H 'Authorization: Bearer {key}'; echo

{_deliveries(made, url, key)}{_payouts(made, url, key)}  Queues and dead letters: .venv/bin/flask jobs queues      Stop: Ctrl-C (the data stays)
"""


def _deliveries(made: Mapping[str, str], url: str, key: str) -> str:
    if "webhookEndpointId" not in made:
        return ""
    return f"""  3. See what the webhook endpoint was told:

curl -s '{url}/api/v1/webhooks/{made["webhookEndpointId"]}/deliveries' -H 'Authorization: Bearer {key}'; echo

"""


def _payouts(made: Mapping[str, str], url: str, key: str) -> str:
    """Return how the Owner pays ben and rita; without days of grace, so that what was just sold is due."""
    return f"""  4. Pay ben and rita, on a rail that moves no money; the Owner confirms the total that the preview shows:

.venv/bin/flask org set {made["organizationId"]} payoutGraceDays=0
owner=$(.venv/bin/flask token dashboard --org {made["organizationId"]} --role Owner)
total=$(curl -s -X POST {url}/api/v1/payouts/preview -H 'Authorization: Bearer {key}' | python3 -c "import json,sys; print(json.load(sys.stdin)['totalEligibleCents'])")
curl -s {url}/api/v1/payouts/run -H "Authorization: Bearer $owner" -H 'Content-Type: application/json' -d '{{"confirmTotalCents":'$total'}}'; echo
curl -s '{url}/api/v1/payouts?lineItems=false' -H 'Authorization: Bearer {key}'; echo

"""
