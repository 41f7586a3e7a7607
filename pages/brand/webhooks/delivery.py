"""One delivery: the request, the result of each attempt, and redelivery."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from api.webhooks.deliveries import get_webhook_delivery, redeliver_webhook_delivery
from pages import api_client, screens
from pages.form_pages import Form, form_page
from pages.forms import FormState
from pages.screens import screen

blueprint = Blueprint("webhook_delivery_page", __name__)

_ADDRESS = "/dashboard/webhooks/<endpoint_id>/deliveries/<delivery_id>"
_SIGNATURE = """$(printf '%s.%s' "$T" "$BODY" | openssl dgst -sha256 -hmac "$SECRET" | sed 's/.*= *//')"""


@blueprint.get(f"{_ADDRESS}/fragment")
@screen("member", uses=(get_webhook_delivery,))
def show_webhook_delivery_part(endpoint_id: str, delivery_id: str) -> Response:
    """Show the status of a delivery and its attempts alone. Budget: 4 round trips."""
    return screens.render_part("brand/webhooks/_delivery.html", **_read_values(endpoint_id, delivery_id))


@form_page(
    blueprint, "member", _ADDRESS, Form("", redeliver_webhook_delivery, shows_all=True), uses=(get_webhook_delivery,)
)
def show_webhook_delivery(form: FormState | None, endpoint_id: str, delivery_id: str) -> Response:
    """Show a delivery. Budget: 4 round trips."""
    values = _read_values(endpoint_id, delivery_id)
    delivery = values["delivery"]
    body = delivery["event"]["body"]
    return screens.render(
        "brand/webhooks/delivery.html",
        form,
        payload=json.dumps(json.loads(body), indent=2, ensure_ascii=False),
        headers=list(delivery["headers"].items()),
        curl=_curl_commands(delivery["url"], delivery["headers"], body),
        **values,
    )


def _read_values(endpoint_id: str, delivery_id: str) -> dict[str, Any]:
    row = api_client.require(get_webhook_delivery, path={"endpoint_id": endpoint_id, "delivery_id": delivery_id})
    return {
        "endpoint_id": endpoint_id,
        "delivery": row,
        "unknown_attempts": row["attemptCount"] - len(row["attempts"]),
        "may_redeliver": api_client.is_allowed(redeliver_webhook_delivery),
    }


def _curl_commands(url: str, headers: Mapping[str, str], body: str) -> str:
    """Return shell commands that send the same body, signed with the reader's own secret."""
    header_options = [f"  -H {shlex.quote(f'{name}: {value}')}" for name, value in headers.items()]
    signed = [f'  -H "X-Service-Signature: t=$T,v1={_SIGNATURE}"', '  -H "X-Service-Timestamp: $T"']
    command = [f"curl -i {shlex.quote(url)}", *header_options, *signed, '  --data-binary "$BODY"']
    first = ["SECRET='whsec_…'", 'T="$(date +%s)"', f"BODY={shlex.quote(body)}"]
    return "\n".join([*first, " \\\n".join(command)])
