"""The tools that a client may use: chosen by its address (`?toolsets=…&readonly=1&confirm=off`) and by its key."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.access.callers import Caller
from api.mcp.messages import INVALID_PARAMS, RpcError
from api.mcp.tools.binding import BoundTool
from api.mcp.tools.catalogue import TOOLSETS
from api.mcp.tools.definition import ToolKind


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """The choice in a client's address and the rights of its key. `confirms`: dangerous calls need a confirmation."""

    toolsets: frozenset[str]
    is_read_only: bool
    confirms: bool
    may_write: bool

    def includes(self, bound: BoundTool) -> bool:
        """Return whether this client may use a tool."""
        return self._is_offered(bound) and (self.may_write or bound.is_read_only)

    def needs_wider_grant(self, bound: BoundTool, caller: Caller) -> bool:
        """Return whether an OAuth client could use a tool if its user granted it write access."""
        return caller.kind == "oauth" and self._is_offered(bound) and not self.includes(bound)

    def requires_confirmation(self, bound: BoundTool) -> bool:
        """Return whether a dangerous call of a tool needs a confirmation from this client."""
        return bound.tool.may_need_confirmation and (self.confirms or bound.tool.always_confirmed)

    def _is_offered(self, bound: BoundTool) -> bool:
        return bound.toolset in self.toolsets and not (self.is_read_only and bound.tool.kind is not ToolKind.Read)


def choice_from_query(query: Mapping[str, Any], caller: Caller) -> ToolChoice:
    """Return the choice of a loaded McpQuery. Raises RpcError for an unknown toolset."""
    names = [name for name in query["toolsets"].split(",") if name]
    unknown = next((name for name in names if name not in TOOLSETS), None)
    if unknown is not None:
        raise RpcError(INVALID_PARAMS, f"There is no toolset {unknown}. The toolsets are {', '.join(TOOLSETS)}.")
    return ToolChoice(
        toolsets=frozenset(names or TOOLSETS),
        is_read_only=query["readonly"] in ("1", "true"),
        confirms=query["confirm"] == "on",
        may_write=caller.scope == "read_write",
    )
