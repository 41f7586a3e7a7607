"""One request of a client, as the methods of the protocol read it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.mcp.operation_calls.client import OperationClient
from api.mcp.protocol_versions import McpClient
from api.mcp.tool_choice import ToolChoice
from api.mcp.tools.binding import BoundTool


@dataclass(frozen=True, slots=True)
class McpRequest:
    """The method with its parameters, its client, the tools; `operations` calls the operations behind them."""

    method: str
    params: Mapping[str, Any]
    client: McpClient
    choice: ToolChoice
    tools: Mapping[str, BoundTool]
    operations: OperationClient
