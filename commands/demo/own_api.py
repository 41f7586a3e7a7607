"""The service's own API as the demo is made through it, before there is a web server; and the demo's subscription."""

from collections.abc import Mapping
from typing import Any

import click
from flask import Flask, current_app

import settings
from api import web
from commands.demo import loopback


def call(method: str, path: str, api_key: str | None, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the JSON of an answer. Raises ClickException with what was refused."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy cannot be mounted
    web.mount(app)  # by itself a command's application answers no requests
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    answer = app.test_client().open(path, method=method, json=body, headers=headers)
    if answer.status_code >= 300:
        raise click.ClickException(f"{method} {path} answered {answer.status_code}: {answer.get_data(as_text=True)}")
    found: dict[str, Any] = answer.get_json()
    return found


def subscribe(api_key: str) -> Mapping[str, Any] | None:
    """Subscribe the demo receiver to everything; None where webhooks may not go to this machine."""
    chosen = settings.current()
    if not chosen.webhooks.allow_private and not _is_let_in(chosen):
        return None
    return call("POST", "/api/v1/webhooks", api_key, {"url": _receiver_url(chosen), "events": ["*"]})


def follow(api_key: str, endpoint_id: str) -> None:
    """Lead the endpoint of an earlier start to where the receiver is now: PORT may have changed."""
    chosen = settings.current()
    if not _is_let_in(chosen):
        return
    for endpoint in call("GET", "/api/v1/webhooks", api_key)["items"]:
        if endpoint["id"] == endpoint_id and endpoint["url"] != _receiver_url(chosen):
            call("PATCH", f"/api/v1/webhooks/{endpoint_id}", api_key, {"url": _receiver_url(chosen)})


def _is_let_in(chosen: settings.Settings) -> bool:
    """Say whether webhooks may go to the receiver, which only `flask up` arranges."""
    return loopback.receiver(chosen) in chosen.webhooks.also_allow


def _receiver_url(chosen: settings.Settings) -> str:
    address, port = loopback.receiver(chosen)
    return f"https://{address}:{port}/webhooks"
