"""What `make run` prints for a newcomer: the address, the key, and commands that work when they are pasted."""

import shlex
from collections.abc import Mapping
from pathlib import Path

import settings
from commands.demo import loopback

_ROOT = Path(__file__).resolve().parents[2]
_DEFAULTS = {"DATA_DIR": str(_ROOT / ".data"), "PORT": "8000"}


def command(chosen: settings.Settings, arguments: str) -> str:
    """Return an operator's command as it works in another terminal: with DATA_DIR and PORT where they are not usual."""
    used = {"DATA_DIR": str(chosen.servers.data_dir), "PORT": str(chosen.web.port)}
    unusual = [f"{name}={shlex.quote(value)} " for name, value in used.items() if value != _DEFAULTS[name]]
    return f"{''.join(unusual)}.venv/bin/flask {arguments}"


def short(chosen: settings.Settings) -> str:
    """Return the address, and how to see the rest, for a log: nothing in it opens anything."""
    shown = command(chosen, "demo --show-secrets")
    return f"\n  Finderfee   {chosen.web.url}\n\n  The demo's key and commands: {shown}\n"


def full(made: Mapping[str, str], chosen: settings.Settings, *, sign_in: Mapping[str, str]) -> str:
    """Return everything, with the demo's secrets; `sign_in` are one-time links by who they sign in."""
    url, key, secret = chosen.web.url, made["apiKey"], made["signingSecret"]
    return f"""
  Finderfee   {url}
  demo key    {key}

{_links(sign_in)}  1. Post a signed sale (paste as it is; every paste is a new order):

t=$(date +%s); body='{{"externalEventId":"order-'$t'","affiliateSlug":"{made["affiliateSlug"]}","amountCents":10000,"currency":"USD"}}'
sig=$(printf '%s.%s' "$t" "$body" | python3 -c "import hmac,sys; print(hmac.new(b'{secret}', sys.stdin.buffer.read(), 'sha256').hexdigest())")
curl -s {url}/api/tracking/s2s -H 'Authorization: Bearer {key}' -H "X-Service-Signature: t=$t,sig=$sig" -H 'Content-Type: application/json' -d "$body"; echo

  2. See the conversion (ben's 20 %) and the override (rita's 10 % of that), as soon as both are there:

for i in $(seq 50); do seen=$(curl -s '{url}/api/v1/conversions?take=2' -H 'Authorization: Bearer {key}'); case $seen in *"order-$t"*override*|*override*"order-$t"*) break;; esac; sleep 0.2; done; echo "$seen"

{_deliveries(made, url, key)}{_payouts(made, chosen)}{_gateway(made, chosen)}{_coupon(made, chosen)}  Queues and dead letters: {command(chosen, "jobs queues")}      Stop: Ctrl-C (the data stays)
"""


def _links(sign_in: Mapping[str, str]) -> str:
    if not sign_in:
        return ""
    listed = "\n".join(f"     {who:12}{url}" for who, url in sign_in.items())
    return f"  Sign in, in a browser (each link works once, within a day; `flask sign-in` prints more):\n{listed}\n\n"


def _deliveries(made: Mapping[str, str], url: str, key: str) -> str:
    if "webhookEndpointId" not in made:
        return ""
    return f"""  3. See what the webhook endpoint was told:

curl -s '{url}/api/v1/webhooks/{made["webhookEndpointId"]}/deliveries' -H 'Authorization: Bearer {key}'; echo

"""


def _payouts(made: Mapping[str, str], chosen: settings.Settings) -> str:
    """Return how the Owner pays ben and rita; without days of grace, so that what was just sold is due."""
    url, key, organization_id = chosen.web.url, made["apiKey"], made["organizationId"]
    return f"""  4. Pay ben and rita, on a rail that moves no money; the Owner confirms the total that the preview shows:

{command(chosen, f"org set {organization_id} payoutGraceDays=0")}
owner=$({command(chosen, f"token dashboard --org {organization_id} --role Owner")})
total=$(curl -s -X POST {url}/api/v1/payouts/preview -H 'Authorization: Bearer {key}' | python3 -c "import json,sys; print(json.load(sys.stdin)['totalEligibleCents'])")
curl -s {url}/api/v1/payouts/run -H "Authorization: Bearer $owner" -H 'Content-Type: application/json' -d '{{"confirmTotalCents":'$total'}}'; echo
curl -s '{url}/api/v1/payouts?lineItems=false' -H 'Authorization: Bearer {key}'; echo

"""


def _gateway(made: Mapping[str, str], chosen: settings.Settings) -> str:
    """Return how the second brand sells through the gateway that is played for it."""
    if "gatewayApiKey" not in made or not loopback.is_gateway_played(chosen):
        return ""
    url, key = chosen.web.url, made["gatewayApiKey"]
    conversions = f"curl -s '{url}/api/v1/conversions?take=2' -H 'Authorization: Bearer {key}'"
    steps = f"""  5. A second brand writes no code: its gateway, stripe, is connected, and played on this machine. Somebody starts a
     subscription whose metadata names {made["gatewayAffiliateSlug"]}, it renews, and 10.00 of it go back:

{command(chosen, "demo-gateway pay")}
{command(chosen, "demo-gateway renew")}
{command(chosen, "demo-gateway refund --cents 1000")}

  6. See both conversions as soon as the refund is there ({made["gatewayAffiliateSlug"]}'s 30 %), and why the first one is hers:

for i in $(seq 50); do seen=$({conversions}); case $seen in *'"refundedAmountCents":1000'*) break;; esac; sleep 0.2; done; echo "$seen"
one=$(printf %s "$seen" | python3 -c "import json,sys; print(json.load(sys.stdin)['items'][-1]['id'])"); curl -s "{url}/api/v1/conversions/$one/attribution" -H 'Authorization: Bearer {key}'; echo
"""
    if "gatewayWebhookEndpointId" in made:
        steps += f"""curl -s '{url}/api/v1/webhooks/{made["gatewayWebhookEndpointId"]}/deliveries' -H 'Authorization: Bearer {key}'; echo
"""
    return steps + "\n"


def _coupon(made: Mapping[str, str], chosen: settings.Settings) -> str:
    """Return how a coupon of the second brand is made, a code of it minted by its affiliate, redeemed and refunded."""
    if "gatewayProgramId" not in made or not loopback.is_gateway_played(chosen):
        return ""
    url, key, slug = chosen.web.url, made["gatewayApiKey"], made["gatewayAffiliateSlug"]
    terms = '{"name":"20 off","discountType":"PercentOff","discountValue":20,"duration":"Once","selfMintMode":"AllAffiliates"}'
    body = "-H 'Content-Type: application/json' -d"
    return f"""  7. A coupon of the second brand, made at its gateway as well; {slug} mints a code of her own:

coupon=$(curl -s {url}/api/v1/campaigns/{made["gatewayProgramId"]}/coupons -H 'Authorization: Bearer {key}' {body} '{terms}' | {_field("id")})
{slug}=$({command(chosen, f"token affiliate --email {slug}@example.com")})
code=$(curl -s {url}/api/me/coupons/mint -H "Authorization: Bearer ${slug}" {body} '{{"campaignCouponId":"'$coupon'"}}' | {_field("code")}); echo "$code"

  8. A payment that names nobody redeems it, and all of it goes back; see what it counted before and after:

{command(chosen, 'demo-gateway pay --code "$code"')}
for i in $(seq 50); do seen=$(curl -s {url}/api/me/coupons -H "Authorization: Bearer ${slug}"); case $seen in *'"redemptionCount":1'*) break;; esac; sleep 0.2; done; echo "$seen"
curl -s '{url}/api/v1/conversions?take=1' -H 'Authorization: Bearer {key}'; echo
{command(chosen, "demo-gateway refund")}
for i in $(seq 50); do seen=$(curl -s {url}/api/me/coupons -H "Authorization: Bearer ${slug}"); case $seen in *'"redemptionCount":1'*) ;; *) break;; esac; sleep 0.2; done; echo "$seen"

"""


def _field(name: str) -> str:
    """Return the end of a pipe that takes one field out of an answer."""
    return f"""python3 -c "import json,sys; print(json.load(sys.stdin)['{name}'])\""""
