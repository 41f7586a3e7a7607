"""Calls the service's own API in this process, to create the demo before a web server runs."""

from collections.abc import Mapping
from typing import Any

import click
from flask import Flask, current_app

import settings
from api import web
from api.edge import trace
from commands.demo import loopback


def call(method: str, path: str, api_key: str | None, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the JSON of a response. Raises ClickException for an error response."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy cannot be mounted
    web.mount(app)  # the application of a command has no routes otherwise
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    response = app.test_client().open(
        path, method=method, json=body, headers=headers, environ_overrides={trace.UNLOGGED: True}
    )
    if response.status_code >= 300:
        raise click.ClickException(
            f"{method} {path} answered {response.status_code}: {response.get_data(as_text=True)}"
        )
    content: dict[str, Any] = response.get_json()
    return content


def subscribe(api_key: str) -> Mapping[str, Any] | None:
    """Subscribe the demo receiver to all events; None if webhooks to this machine are not allowed."""
    config = settings.current()
    if not config.webhooks.allow_private and not _is_receiver_allowed(config):
        return None
    return call("POST", "/api/v1/webhooks", api_key, {"url": _receiver_url(config), "events": ["*"]})


def update_endpoint(api_key: str, endpoint_id: str) -> None:
    """Update the endpoint of an earlier start to the receiver's current address: PORT may have changed."""
    config = settings.current()
    if not _is_receiver_allowed(config):
        return
    for endpoint in call("GET", "/api/v1/webhooks", api_key)["items"]:
        if endpoint["id"] == endpoint_id and endpoint["url"] != _receiver_url(config):
            call("PATCH", f"/api/v1/webhooks/{endpoint_id}", api_key, {"url": _receiver_url(config)})


def _is_receiver_allowed(config: settings.Settings) -> bool:
    """Return whether webhooks to the receiver are allowed, which only `flask up` configures."""
    return loopback.receiver_address(config) in config.webhooks.also_allow


def _receiver_url(config: settings.Settings) -> str:
    address, port = loopback.receiver_address(config)
    return f"https://{address}:{port}/webhooks"
