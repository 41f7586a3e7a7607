"""An MCP client, for the current and the earlier version of the protocol."""

import base64
from dataclasses import dataclass, field
from typing import Any

from werkzeug.test import TestResponse

from tests.support.rows.brands import Brand

MODERN = "2026-07-28"
_META = "io.modelcontextprotocol/"
_NAME_PARAM = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@dataclass(slots=True)
class Agent:
    """An MCP client with a brand's key. `is_modern`: protocol MODERN, not the previous one; `query` ends its URL."""

    brand: Brand
    query: str = ""
    is_modern: bool = True
    capabilities: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    def post(self, body: Any, **headers: str) -> TestResponse:
        """Post a body unchanged."""
        return self.brand.call("POST", f"/mcp{self.query}", body, **self.headers, **headers)

    def send(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> TestResponse:
        """Send a request with the metadata and headers of its protocol version; `headers` replace its own."""
        body_params = dict(params or {})
        version_headers: dict[str, str] = {}
        if self.is_modern:
            body_params["_meta"] = {
                f"{_META}protocolVersion": MODERN,
                f"{_META}clientInfo": {"name": "tester", "version": "1.0"},
                f"{_META}clientCapabilities": self.capabilities,
            } | body_params.get("_meta", {})
            version_headers = {"MCP_Protocol_Version": MODERN, "Mcp_Method": method}
            if method in _NAME_PARAM:
                version_headers["Mcp_Name"] = _encode_header(body_params.get(_NAME_PARAM[method]))
        return self.post(
            {"jsonrpc": "2.0", "id": 1, "method": method, "params": body_params}, **version_headers | headers
        )

    def request_result(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result of a request that has one."""
        answer = self.send(method, params)
        assert answer.status_code == 200, answer.text
        assert "result" in answer.json, answer.text
        result: dict[str, Any] = answer.json["result"]
        return result

    def list_tools(self) -> list[str]:
        """Return the names of the tools that are listed for it."""
        return [tool["name"] for tool in self.request_result("tools/list")["tools"]]

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured result, also if it is an error."""
        result: dict[str, Any] = self.request_result("tools/call", name=tool, arguments=arguments)["structuredContent"]
        return result

    def run_tool(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed, confirm it if it requires a confirmation, and return its result."""
        result = self.call(tool, **arguments)
        if "confirmToken" in result:
            result = self.call(tool, **arguments, confirmToken=result["confirmToken"])
        assert "error" not in result, result
        return result

    def get_refusal_code(self, tool: str, /, **arguments: Any) -> str:
        """Call a tool that must fail and return its error code."""
        result = self.request_result("tools/call", name=tool, arguments=arguments)
        assert result["isError"], result
        return str(result["structuredContent"]["error"])


def _encode_header(value: Any) -> str:
    text = str(value)
    return text if text.isascii() and text.isprintable() else f"=?base64?{base64.b64encode(text.encode()).decode()}?="
