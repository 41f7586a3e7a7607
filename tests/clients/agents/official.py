"""The official Python client, in each of its modes, as an agent of a brand that lists, reads, creates and archives."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from tests.clients.agents import letting_in
from tests.support.rows.brands import Brand

NAME = "agents: the official client"

_MODES = ("auto", "legacy", "2026-07-28")
_HANDSHAKE = "2025-11-25"


def check() -> None:
    """Run every mode against the service at FINDERFEE_URL."""
    started = time.monotonic()
    for mode in _MODES:
        asyncio.run(_Visit(mode).all())
    print(f"  {NAME}: fine ({time.monotonic() - started:.0f} s)", flush=True)


class _Visit:
    """A client of one mode, at a brand of its own. `answer` is what the person at it says when they are asked."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.brand, self.other = Brand.create(None), Brand.create(None)
        self.answer = types.ElicitResult(action="decline")
        self.asked: list[str] = []
        self.statuses: list[int] = []

    async def all(self) -> None:
        """Do all that an agent does. Raises AssertionError."""
        async with self._client(self.brand.api_key, asks=True) as client:
            await self._looks_around(client)
            await self._reads(client)
            await self._is_refused(client)
            if client.protocol_version == _HANDSHAKE:
                assert self.mode == "legacy"
            else:
                assert client.protocol_version == "2026-07-28"
                await self._asks_its_person(client)
        async with self._client(self.brand.api_key, asks=False) as client:
            await self._confirms_by_token(client)
        await letting_in.check(f"{os.environ['FINDERFEE_URL']}/mcp", self.mode)
        await self._is_not_let_in()

    async def _looks_around(self, client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert (len(names), len(set(names))) == (61, 61)
        assert [one.name for one in (await client.list_prompts()).prompts] == [
            "review_applications",
            "check_tracking",
            "weekly_report",
            "explain_commission",
        ]
        assert [str(one.uri) for one in (await client.list_resources()).resources] == ["finderfee://guide"]
        assert len((await client.list_resource_templates()).resource_templates) == 1

    async def _reads(self, client: Client) -> None:
        guide = (await client.read_resource("finderfee://guide")).contents[0]
        assert "minor units" in guide.text, guide
        made = await self._creates(client)
        program = (await client.read_resource(f"finderfee://programs/{made['id']}")).contents[0]
        assert made["id"] in program.text
        prompt = await client.get_prompt("check_tracking", {"programId": made["id"]})
        assert made["id"] in prompt.messages[0].content.text
        listed = await self._told(client, "list_programs", take=1)
        assert [row["id"] for row in listed["items"]] == [made["id"]]

    async def _is_refused(self, client: Client) -> None:
        theirs = str(self.other.program())
        for tool, code in (("get_program", "not_found"), ("archive_program", "not_found")):
            refused = await client.call_tool(tool, {"programId": theirs})
            assert (refused.is_error, refused.structured_content["error"]) == (True, code), refused
        for going_wrong in (
            client.read_resource(f"finderfee://programs/{theirs}"),
            client.get_prompt("no_such_prompt"),
            client.call_tool("no_such_tool"),
        ):
            assert await _code(going_wrong) == types.INVALID_PARAMS

    async def _asks_its_person(self, client: Client) -> None:
        made = await self._creates(client)
        for answer, code in (
            (types.ElicitResult(action="decline"), "declined_by_user"),
            (types.ElicitResult(action="cancel"), "declined_by_user"),
            (types.ElicitResult(action="accept", content={"confirm": False}), "declined_by_user"),
            (types.ElicitResult(action="accept", content={"confirm": True}), None),
        ):
            self.answer = answer
            self.asked.clear()
            done = await client.call_tool("archive_program", {"programId": made["id"]})
            assert (done.structured_content.get("error"), len(self.asked)) == (code, 1), done
            assert made["name"] in self.asked[0]
            assert await self._is_archived(client, made["id"]) is (code is None), answer

    async def _confirms_by_token(self, client: Client) -> None:
        made, other = await self._creates(client), await self._creates(client)
        preview = await self._told(client, "archive_program", programId=made["id"])
        assert preview["needsConfirmation"] is True
        assert await self._is_archived(client, made["id"]) is False
        token = preview["confirmToken"]
        misused = await client.call_tool("archive_program", {"programId": other["id"], "confirmToken": token})
        assert misused.structured_content["error"] == "confirm_token_invalid"
        for _ in range(2):  # one that is sent twice is done once
            await self._told(client, "archive_program", programId=made["id"], confirmToken=token)
        assert await self._is_archived(client, made["id"]) is True
        assert await self._is_archived(client, other["id"]) is False

    async def _is_not_let_in(self) -> None:
        for key in ("ff_live_nonsense", "a.b.c"):
            self.statuses.clear()
            try:
                async with self._client(key, asks=False) as client:
                    await client.list_tools()
            except* MCPError:
                assert set(self.statuses) == {401}, self.statuses
            else:
                raise AssertionError("a wrong key was let in")

    async def _creates(self, client: Client) -> dict[str, Any]:
        return await self._told(
            client,
            "create_program",
            name=f"Knives {self.mode}",
            defaultCommissionType="Percentage",
            defaultCommissionValue=20,
        )

    async def _is_archived(self, client: Client, program_id: str) -> bool:
        return "archivedAt" in await self._told(client, "get_program", programId=program_id)

    async def _told(self, client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
        found = await client.call_tool(tool, arguments)
        assert not found.is_error, found
        told: dict[str, Any] = found.structured_content
        return told

    async def _elicited(self, _: Any, asked: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append(asked.message)
        return self.answer

    async def _answered(self, answer: httpx2.Response) -> None:
        self.statuses.append(answer.status_code)

    @asynccontextmanager
    async def _client(self, key: str, *, asks: bool) -> AsyncIterator[Client]:
        headers, hooks = {"Authorization": f"Bearer {key}"}, {"response": [self._answered]}
        http = httpx2.AsyncClient(headers=headers, event_hooks=hooks, trust_env=False)
        transport = streamable_http_client(f"{os.environ['FINDERFEE_URL']}/mcp", http_client=http)
        more: dict[str, Any] = {"elicitation_callback": self._elicited} if asks else {}
        async with http, Client(transport, mode=self.mode, **more) as client:
            yield client


async def _code(going_wrong: Awaitable[object]) -> int:
    """Return the code of the error that something ends in."""
    try:
        found = await going_wrong
    except MCPError as error:
        return int(error.code)
    raise AssertionError(f"it was let through: {found}")
