"""An agent's client, by either era of the protocol, and what it is answered."""

import base64
from dataclasses import dataclass, field
from typing import Any

from werkzeug.test import TestResponse

from tests.support.rows.brands import Brand

MODERN = "2026-07-28"
_META = "io.modelcontextprotocol/"
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


@dataclass(slots=True)
class Agent:
    """A client of a brand's key. Without `is_modern` it speaks as before the new era; `query` stands in its address."""

    brand: Brand
    query: str = ""
    is_modern: bool = True
    capabilities: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    def post(self, body: Any, **headers: str) -> TestResponse:
        """Send a body as it is."""
        return self.brand.call("POST", f"/mcp{self.query}", body, **self.headers, **headers)

    def send(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> TestResponse:
        """Send a request, with what its era wants besides; a header given here takes the place of its own."""
        body_params = dict(params or {})
        era_headers: dict[str, str] = {}
        if self.is_modern:
            body_params["_meta"] = {
                f"{_META}protocolVersion": MODERN,
                f"{_META}clientInfo": {"name": "tester", "version": "1.0"},
                f"{_META}clientCapabilities": self.capabilities,
            } | body_params.get("_meta", {})
            era_headers = {"MCP_Protocol_Version": MODERN, "Mcp_Method": method}
            if method in _NAMED_BY:
                era_headers["Mcp_Name"] = _encode_header(body_params.get(_NAMED_BY[method]))
        return self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": body_params}, **era_headers | headers)

    def request_result(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the result of a request that has one."""
        answer = self.send(method, params)
        assert answer.status_code == 200, answer.text
        assert "result" in answer.json, answer.text
        result: dict[str, Any] = answer.json["result"]
        return result

    def list_tools(self) -> list[str]:
        """Return the names of the tools that it is given."""
        return [tool["name"] for tool in self.request_result("tools/list")["tools"]]

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Return what a tool says, whether it did it or not."""
        result: dict[str, Any] = self.request_result("tools/call", name=tool, arguments=arguments)["structuredContent"]
        return result

    def run_tool(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Return what a tool says that did what it was told, confirmed where it wanted to be."""
        result = self.call(tool, **arguments)
        if "confirmToken" in result:
            result = self.call(tool, **arguments, confirmToken=result["confirmToken"])
        assert "error" not in result, result
        return result

    def get_refusal_code(self, tool: str, /, **arguments: Any) -> str:
        """Return the code with which a tool refuses."""
        result = self.request_result("tools/call", name=tool, arguments=arguments)
        assert result["isError"], result
        return str(result["structuredContent"]["error"])


def _encode_header(value: Any) -> str:
    text = str(value)
    return text if text.isascii() and text.isprintable() else f"=?base64?{base64.b64encode(text.encode()).decode()}?="
