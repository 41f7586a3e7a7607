"""Calls shopify: GraphQL, with a pasted token, or one that is requested for a day with the app's own credentials."""

import re
from collections.abc import Mapping
from typing import Any

from adapters.gateways import shapes, tokens
from adapters.gateways.base import CredentialsRefused, GatewayAccount, GatewayRejected, GatewayUnreachable
from adapters.gateways.wire import GatewayApi

VERSION = "2026-10"

_DOMAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,62}\.myshopify\.com")
_DAY_S = 24 * 3600
_TOKENS = tokens.AccessTokens()
_DENIED, _THROTTLED = "ACCESS_DENIED", "THROTTLED"


def shop(typed: str) -> str:
    """Return a shop's domain as shopify writes it, from typed text."""
    return typed.strip().lower().removeprefix("https://").partition("/")[0]


def prove(account: GatewayAccount) -> None:
    """Request a new token where the app's credentials are used. Raises as `graphql`."""
    if not account.credentials.get("accessToken"):
        _TOKENS.request_token(_key(account), lambda: _request_token(account))


def graphql(account: GatewayAccount, query: str, variables: Mapping[str, object] | None = None) -> Any:
    """Return the data of an answer; denied parts of it are missing.

    Raises CredentialsRefused, GatewayUnreachable, and GatewayRejected where no data came (403: a scope is missing).
    """

    def send(token: str) -> Any:
        api = _api(account, {"X-Shopify-Access-Token": token})
        body = {"query": query, "variables": dict(variables or {})}
        return api.request("POST", f"/admin/api/{VERSION}/graphql.json", json=body).json

    pasted = account.credentials.get("accessToken")
    response = send(pasted) if pasted else _TOKENS.using(_key(account), lambda: _request_token(account), send)
    data = shapes.get(response, "data")
    if not isinstance(data, Mapping):
        data = {}
    errors = shapes.items(response, "errors")
    if errors and all(part is None for part in data.values()):
        _raise_rejection(errors[0])
    return data


def _raise_rejection(error: Any) -> None:
    code, words = shapes.text(error, "extensions", "code"), shapes.text(error, "message") or "no reason given"
    if code == _THROTTLED:
        raise GatewayUnreachable("too many requests")
    raise GatewayRejected(403 if code == _DENIED else 400, words)


def _request_token(account: GatewayAccount) -> tuple[str, float]:
    form = {
        "grant_type": "client_credentials",
        "client_id": account.credentials.get("clientId", ""),
        "client_secret": account.credentials.get("clientSecret", ""),
    }
    try:
        answer = _api(account, {}).request("POST", "/admin/oauth/access_token", form=form).json
    except GatewayRejected as error:
        raise CredentialsRefused(str(error)) from error
    return tokens.read(answer, _DAY_S)


def _key(account: GatewayAccount) -> tuple[str, ...]:
    return tuple(account.credentials.get(name, "") for name in ("shopDomain", "clientId", "clientSecret"))


def _api(account: GatewayAccount, headers: Mapping[str, str]) -> GatewayApi:
    domain = shop(account.credentials.get("shopDomain", ""))
    if not _DOMAIN.fullmatch(domain):
        raise CredentialsRefused("the shop's domain is not such as your-shop.myshopify.com")
    return GatewayApi("shopify", f"https://{domain}", headers, is_brands_host=True)
