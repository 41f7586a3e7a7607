"""The text that `make run` prints: the address, the demo's key, and commands to paste."""

import shlex
from collections.abc import Mapping
from pathlib import Path

import settings
from commands.demo import loopback

_ROOT = Path(__file__).resolve().parents[2]
_DEFAULTS = {"DATA_DIR": str(_ROOT / ".data"), "PORT": "8000"}


def command(config: settings.Settings, arguments: str) -> str:
    """Return an operator's command for another terminal, with DATA_DIR and PORT unless they are the defaults."""
    used = {"DATA_DIR": str(config.servers.data_dir), "PORT": str(config.web.port)}
    unusual = [f"{name}={shlex.quote(value)} " for name, value in used.items() if value != _DEFAULTS[name]]
    return f"{''.join(unusual)}.venv/bin/flask {arguments}"


def short_text(config: settings.Settings) -> str:
    """Return the address, and the command that shows the rest: no secrets, so that it may be logged."""
    command_line = command(config, "demo --show-secrets")
    return f"\n  Finderfee   {config.web.url}\n\n  The demo's key and commands: {command_line}\n"


def full_text(facts: Mapping[str, str], config: settings.Settings, *, sign_in: Mapping[str, str]) -> str:
    """Return the full text with the demo's secrets; `sign_in` are one-time links by role."""
    url, key, secret = config.web.url, facts["apiKey"], facts["signingSecret"]
    return f"""
  Finderfee   {url}
  demo key    {key}

{_links(sign_in)}  1. Post a signed sale (paste as it is; every paste is a new order):

t=$(date +%s); body='{{"externalEventId":"order-'$t'","affiliateSlug":"{facts["affiliateSlug"]}","amountCents":10000,"currency":"USD"}}'
sig=$(printf '%s.%s' "$t" "$body" | python3 -c "import hmac,sys; print(hmac.new(b'{secret}', sys.stdin.buffer.read(), 'sha256').hexdigest())")
curl -s {url}/api/tracking/s2s -H 'Authorization: Bearer {key}' -H "X-Service-Signature: t=$t,sig=$sig" -H 'Content-Type: application/json' -d "$body"; echo

  2. See the conversion (ben's 20 %) and the override (rita's 10 % of that), as soon as both exist:

for i in $(seq 50); do seen=$(curl -s '{url}/api/v1/conversions?take=2' -H 'Authorization: Bearer {key}'); case $seen in *"order-$t"*override*|*override*"order-$t"*) break;; esac; sleep 0.2; done; echo "$seen"

{_deliveries(facts, url, key)}{_payouts(facts, config)}{_gateway(facts, config)}{_coupon(facts, config)}  Queues and dead letters: {command(config, "jobs queues")}      Stop: Ctrl-C (the data stays)
"""


def _links(sign_in: Mapping[str, str]) -> str:
    if not sign_in:
        return ""
    listed = "\n".join(f"     {who:12}{url}" for who, url in sign_in.items())
    return f"  Sign in, in a browser (each link works once, within a day; `flask sign-in` prints more):\n{listed}\n\n"


def _deliveries(facts: Mapping[str, str], url: str, key: str) -> str:
    if "webhookEndpointId" not in facts:
        return ""
    return f"""  3. See the deliveries to the webhook endpoint:

curl -s '{url}/api/v1/webhooks/{facts["webhookEndpointId"]}/deliveries' -H 'Authorization: Bearer {key}'; echo

"""


def _payouts(facts: Mapping[str, str], config: settings.Settings) -> str:
    """Return the commands by which the Owner pays ben and rita, without grace days, so that new sales are due."""
    url, key, organization_id = config.web.url, facts["apiKey"], facts["organizationId"]
    return f"""  4. Pay ben and rita, on a rail that moves no money; the Owner confirms the total that the preview shows:

{command(config, f"org set {organization_id} payoutGraceDays=0")}
owner=$({command(config, f"token dashboard --org {organization_id} --role Owner")})
total=$(curl -s -X POST {url}/api/v1/payouts/preview -H 'Authorization: Bearer {key}' | python3 -c "import json,sys; print(json.load(sys.stdin)['totalEligibleCents'])")
curl -s {url}/api/v1/payouts/run -H "Authorization: Bearer $owner" -H 'Content-Type: application/json' -d '{{"confirmTotalCents":'$total'}}'; echo
curl -s '{url}/api/v1/payouts?lineItems=false' -H 'Authorization: Bearer {key}'; echo

"""


def _gateway(facts: Mapping[str, str], config: settings.Settings) -> str:
    """Return the commands by which the second brand sells through its simulated gateway."""
    if "gatewayApiKey" not in facts or not loopback.is_gateway_simulated(config):
        return ""
    url, key = config.web.url, facts["gatewayApiKey"]
    conversions = f"curl -s '{url}/api/v1/conversions?take=2' -H 'Authorization: Bearer {key}'"
    steps = f"""  5. A second brand writes no code: its gateway, stripe, is connected, and simulated on this machine. A customer starts
     a subscription whose metadata names {facts["gatewayAffiliateSlug"]}, it renews, and 10.00 of it are refunded:

{command(config, "demo-gateway pay")}
{command(config, "demo-gateway renew")}
{command(config, "demo-gateway refund --cents 1000")}

  6. See both conversions as soon as the refund is booked ({facts["gatewayAffiliateSlug"]}'s 30 %), and why the first one is hers:

for i in $(seq 50); do seen=$({conversions}); case $seen in *'"refundedAmountCents":1000'*) break;; esac; sleep 0.2; done; echo "$seen"
one=$(printf %s "$seen" | python3 -c "import json,sys; print(json.load(sys.stdin)['items'][-1]['id'])"); curl -s "{url}/api/v1/conversions/$one/attribution" -H 'Authorization: Bearer {key}'; echo
"""
    if "gatewayWebhookEndpointId" in facts:
        steps += f"""curl -s '{url}/api/v1/webhooks/{facts["gatewayWebhookEndpointId"]}/deliveries' -H 'Authorization: Bearer {key}'; echo
"""
    return steps + "\n"


def _coupon(facts: Mapping[str, str], config: settings.Settings) -> str:
    """Return the commands that create a coupon, and mint, redeem and refund a code of it."""
    if "gatewayProgramId" not in facts or not loopback.is_gateway_simulated(config):
        return ""
    url, key, slug = config.web.url, facts["gatewayApiKey"], facts["gatewayAffiliateSlug"]
    terms = '{"name":"20 off","discountType":"PercentOff","discountValue":20,"duration":"Once","selfMintMode":"AllAffiliates"}'
    body = "-H 'Content-Type: application/json' -d"
    return f"""  7. A coupon of the second brand, created at its gateway as well; {slug} mints a code of her own:

coupon=$(curl -s {url}/api/v1/campaigns/{facts["gatewayProgramId"]}/coupons -H 'Authorization: Bearer {key}' {body} '{terms}' | {_field("id")})
{slug}=$({command(config, f"token affiliate --email {slug}@example.com")})
code=$(curl -s {url}/api/me/coupons/mint -H "Authorization: Bearer ${slug}" {body} '{{"campaignCouponId":"'$coupon'"}}' | {_field("code")}); echo "$code"

  8. A payment without an affiliate redeems the code and is refunded; see its count before and after:

{command(config, 'demo-gateway pay --code "$code"')}
for i in $(seq 50); do seen=$(curl -s {url}/api/me/coupons -H "Authorization: Bearer ${slug}"); case $seen in *'"redemptionCount":1'*) break;; esac; sleep 0.2; done; echo "$seen"
curl -s '{url}/api/v1/conversions?take=1' -H 'Authorization: Bearer {key}'; echo
{command(config, "demo-gateway refund")}
for i in $(seq 50); do seen=$(curl -s {url}/api/me/coupons -H "Authorization: Bearer ${slug}"); case $seen in *'"redemptionCount":1'*) ;; *) break;; esac; sleep 0.2; done; echo "$seen"

"""


def _field(name: str) -> str:
    """Return the command that reads one field of a JSON response from a pipe."""
    return f"""python3 -c "import json,sys; print(json.load(sys.stdin)['{name}'])\""""
