"""The official Python client, in each of its modes, lists, reads, creates and archives as an agent of a brand."""

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

from tests.clients.agents import oauth_flow
from tests.support.rows.brands import Brand

NAME = "agents: the official client"

_MODES = ("auto", "legacy", "2026-07-28")
_HANDSHAKE = "2025-11-25"


def check() -> None:
    """Run every mode against the service at FINDERFEE_URL."""
    started = time.monotonic()
    for mode in _MODES:
        asyncio.run(_Session(mode).run())
    print(f"  {NAME}: passed ({time.monotonic() - started:.0f} s)", flush=True)


class _Session:
    """A client of one mode with its own brand. `answer` is its user's answer to every question."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.brand, self.other = Brand.create(None), Brand.create(None)
        self.answer = types.ElicitResult(action="decline")
        self.questions: list[str] = []
        self.statuses: list[int] = []

    async def run(self) -> None:
        """Run every check. Raises AssertionError."""
        async with self._open_client(self.brand.api_key, can_ask_user=True) as client:
            await self._check_lists(client)
            await self._check_reads(client)
            await self._check_refusals(client)
            if client.protocol_version == _HANDSHAKE:
                assert self.mode == "legacy"
            else:
                assert client.protocol_version == "2026-07-28"
                await self._check_confirmation_by_user(client)
        async with self._open_client(self.brand.api_key, can_ask_user=False) as client:
            await self._check_confirmation_by_token(client)
        await oauth_flow.check(f"{os.environ['FINDERFEE_URL']}/mcp", self.mode)
        await self._check_wrong_keys()

    async def _check_lists(self, client: Client) -> None:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert (len(names), len(set(names))) == (61, 61)
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == [
            "review_applications",
            "check_tracking",
            "weekly_report",
            "explain_commission",
        ]
        assert [str(resource.uri) for resource in (await client.list_resources()).resources] == ["finderfee://guide"]
        assert len((await client.list_resource_templates()).resource_templates) == 1

    async def _check_reads(self, client: Client) -> None:
        guide = (await client.read_resource("finderfee://guide")).contents[0]
        assert "minor units" in guide.text, guide
        program_id = (await self._create_program(client))["id"]
        program = (await client.read_resource(f"finderfee://programs/{program_id}")).contents[0]
        assert program_id in program.text
        prompt = await client.get_prompt("check_tracking", {"programId": program_id})
        assert program_id in prompt.messages[0].content.text
        page = await self._call(client, "list_programs", take=1)
        assert [row["id"] for row in page["items"]] == [program_id]

    async def _check_refusals(self, client: Client) -> None:
        theirs = str(self.other.program())
        for tool, code in (("get_program", "not_found"), ("archive_program", "not_found")):
            refusal = await client.call_tool(tool, {"programId": theirs})
            assert (refusal.is_error, refusal.structured_content["error"]) == (True, code), refusal
        for invalid_call in (
            client.read_resource(f"finderfee://programs/{theirs}"),
            client.get_prompt("no_such_prompt"),
            client.call_tool("no_such_tool"),
        ):
            assert await _error_code(invalid_call) == types.INVALID_PARAMS

    async def _check_confirmation_by_user(self, client: Client) -> None:
        program = await self._create_program(client)
        for answer, code in (
            (types.ElicitResult(action="decline"), "declined_by_user"),
            (types.ElicitResult(action="cancel"), "declined_by_user"),
            (types.ElicitResult(action="accept", content={"confirm": False}), "declined_by_user"),
            (types.ElicitResult(action="accept", content={"confirm": True}), None),
        ):
            self.answer = answer
            self.questions.clear()
            result = await client.call_tool("archive_program", {"programId": program["id"]})
            assert (result.structured_content.get("error"), len(self.questions)) == (code, 1), result
            assert program["name"] in self.questions[0]
            assert await self._is_archived(client, program["id"]) is (code is None), answer

    async def _check_confirmation_by_token(self, client: Client) -> None:
        program, other = await self._create_program(client), await self._create_program(client)
        preview = await self._call(client, "archive_program", programId=program["id"])
        assert preview["needsConfirmation"] is True
        assert await self._is_archived(client, program["id"]) is False
        token = preview["confirmToken"]
        misused = await client.call_tool("archive_program", {"programId": other["id"], "confirmToken": token})
        assert misused.structured_content["error"] == "confirm_token_invalid"
        for _ in range(2):  # a repeated call succeeds without a second effect
            await self._call(client, "archive_program", programId=program["id"], confirmToken=token)
        assert await self._is_archived(client, program["id"]) is True
        assert await self._is_archived(client, other["id"]) is False

    async def _check_wrong_keys(self) -> None:
        for key in ("ff_live_nonsense", "a.b.c"):
            self.statuses.clear()
            try:
                async with self._open_client(key, can_ask_user=False) as client:
                    await client.list_tools()
            except* MCPError:
                assert set(self.statuses) == {401}, self.statuses
            else:
                raise AssertionError("a wrong key was accepted")

    async def _create_program(self, client: Client) -> dict[str, Any]:
        return await self._call(
            client,
            "create_program",
            name=f"Knives {self.mode}",
            defaultCommissionType="Percentage",
            defaultCommissionValue=20,
        )

    async def _is_archived(self, client: Client, program_id: str) -> bool:
        return "archivedAt" in await self._call(client, "get_program", programId=program_id)

    async def _call(self, client: Client, tool: str, /, **arguments: Any) -> dict[str, Any]:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result
        content: dict[str, Any] = result.structured_content
        return content

    async def _answer_question(self, _: Any, question: types.ElicitRequestParams) -> types.ElicitResult:
        self.questions.append(question.message)
        return self.answer

    async def _record_status(self, response: httpx2.Response) -> None:
        self.statuses.append(response.status_code)

    @asynccontextmanager
    async def _open_client(self, key: str, *, can_ask_user: bool) -> AsyncIterator[Client]:
        headers, hooks = {"Authorization": f"Bearer {key}"}, {"response": [self._record_status]}
        http = httpx2.AsyncClient(headers=headers, event_hooks=hooks, trust_env=False)
        transport = streamable_http_client(f"{os.environ['FINDERFEE_URL']}/mcp", http_client=http)
        callbacks: dict[str, Any] = {"elicitation_callback": self._answer_question} if can_ask_user else {}
        async with http, Client(transport, mode=self.mode, **callbacks) as client:
            yield client


async def _error_code(call: Awaitable[object]) -> int:
    """Return the code of the error that a call raises."""
    try:
        result = await call
    except MCPError as error:
        return int(error.code)
    raise AssertionError(f"no error was raised: {result}")
