"""The official client knows only the address of /mcp: it discovers the provider, and its user authorizes it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from tests.clients.agents import identity_provider
from tests.support.rows.brands import Brand

_REDIRECT_URL = "http://127.0.0.1:1/back"


async def check(address: str, mode: str) -> None:
    """Authorize a client to read, and again when it first writes. Raises AssertionError."""
    brand = Brand.create(None)
    user = {"org_id": str(brand.id), "role": "Owner", "sub": f"ann-{brand.id.hex}", "email": "ann@example.com"}
    identity_provider.user.clear()
    identity_provider.user.update(user)
    identity_provider.requested_scopes.clear()
    async with _open_client(address, mode) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert "list_programs" in tools
        assert "create_program" not in tools
        assert identity_provider.requested_scopes == ["finderfee.read"]
        arguments = {"name": "Knives", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}
        result = await client.call_tool("create_program", arguments)
        assert not result.is_error, result
    first, second = identity_provider.requested_scopes
    assert set(second.split()) == {first, "finderfee.write"}
    assert brand.rows("select actor_type, via from audit_entry where action = 'program.created'") == [("oauth", "mcp")]


@asynccontextmanager
async def _open_client(address: str, mode: str) -> AsyncIterator[Client]:
    browser = _Browser()
    metadata = OAuthClientMetadata(
        client_name="tester",
        redirect_uris=[_REDIRECT_URL],
        grant_types=["authorization_code"],
        response_types=["code"],
        token_endpoint_auth_method="none",  # a public client
    )
    auth = OAuthClientProvider(address, metadata, _TokenStorage(), browser.open, browser.wait_for_redirect)
    http = httpx2.AsyncClient(auth=auth, trust_env=False)
    async with http, Client(streamable_http_client(address, http_client=http), mode=mode) as client:
        yield client


class _Browser:
    """The browser of a user who grants every request."""

    async def open(self, address: str) -> None:
        async with httpx2.AsyncClient(trust_env=False) as http:
            self._redirect_url = (await http.get(address)).headers["Location"]

    async def wait_for_redirect(self) -> AuthorizationCodeResult:
        params = {name: values[0] for name, values in parse_qs(urlsplit(self._redirect_url).query).items()}
        return AuthorizationCodeResult(code=params["code"], state=params["state"], iss=params["iss"])


class _TokenStorage:
    """The tokens and the registration that a client stores between two starts."""

    _tokens: Any = None
    _client: Any = None

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info
