"""The official client is told the address of /mcp alone: it finds the provider, and its person lets it in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from tests.clients.agents import provider
from tests.support.rows.brands import Brand

_BACK = "http://127.0.0.1:1/back"


async def check(address: str, mode: str) -> None:
    """Let a client in that looks around, and once more when it wants to change something. Raises AssertionError."""
    brand = Brand.create(None)
    provider.person.clear()
    provider.person.update(org_id=str(brand.id), role="Owner", sub=f"ann-{brand.id.hex}", email="ann@example.com")
    provider.asked.clear()
    async with _client(address, mode) as client:
        shown = {tool.name for tool in (await client.list_tools()).tools}
        assert "list_programs" in shown
        assert "create_program" not in shown
        assert provider.asked == ["finderfee.read"]
        wanted = {"name": "Knives", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}
        made = await client.call_tool("create_program", wanted)
        assert not made.is_error, made
    first, second = provider.asked
    assert set(second.split()) == {first, "finderfee.write"}
    assert brand.rows("select actor_type, via from audit_entry where action = 'program.created'") == [("oauth", "mcp")]


@asynccontextmanager
async def _client(address: str, mode: str) -> AsyncIterator[Client]:
    browser = _Browser()
    metadata = OAuthClientMetadata(
        client_name="tester",
        redirect_uris=[_BACK],
        grant_types=["authorization_code"],
        response_types=["code"],
        token_endpoint_auth_method="none",  # a public client
    )
    auth = OAuthClientProvider(address, metadata, _Kept(), browser.open, browser.back)
    http = httpx2.AsyncClient(auth=auth, trust_env=False)
    async with http, Client(streamable_http_client(address, http_client=http), mode=mode) as client:
        yield client


class _Browser:
    """The browser of a person who agrees to everything."""

    async def open(self, address: str) -> None:
        async with httpx2.AsyncClient(trust_env=False) as http:
            self._came = (await http.get(address)).headers["Location"]

    async def back(self) -> AuthorizationCodeResult:
        said = {name: values[0] for name, values in parse_qs(urlsplit(self._came).query).items()}
        return AuthorizationCodeResult(code=said["code"], state=said["state"], iss=said["iss"])


class _Kept:
    """What a client keeps between two starts."""

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
