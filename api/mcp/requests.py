"""One request of a client, as the methods of the protocol see it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.mcp.asking.asker import ToolAsker
from api.mcp.choice import ToolChoice
from api.mcp.eras import McpClient
from api.mcp.tools.binding import BoundTool


@dataclass(frozen=True, slots=True)
class McpRequest:
    """What is asked, by whom, of which tools; `asker` asks the operations behind them."""

    method: str
    params: Mapping[str, Any]
    client: McpClient
    choice: ToolChoice
    tools: Mapping[str, BoundTool]
    asker: ToolAsker
