"""Which tools a client is given: by its address (`?toolsets=…&readonly=1&confirm=off`) and by its key."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.access.callers import Caller
from api.mcp.messages import INVALID_PARAMS, RpcError
from api.mcp.tools.binding import BoundTool
from api.mcp.tools.catalogue import TOOLSETS
from api.mcp.tools.row import ToolKind


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """What the address of a client says, and what its key may. `confirms` is whether dangerous calls ask first."""

    toolsets: frozenset[str]
    only_reads: bool
    confirms: bool
    may_write: bool

    def has(self, bound: BoundTool) -> bool:
        """Say whether a tool is there for this client."""
        return self._is_at_address(bound) and (self.may_write or bound.only_reads)

    def needs_more_leave(self, bound: BoundTool, caller: Caller) -> bool:
        """Say whether a tool would be there if the person behind a program let it write."""
        return caller.kind == "oauth" and self._is_at_address(bound) and not self.has(bound)

    def asks(self, bound: BoundTool) -> bool:
        """Say whether a tool that may want to be confirmed is to ask."""
        return bound.tool.may_ask and (self.confirms or bound.tool.always_asked)

    def _is_at_address(self, bound: BoundTool) -> bool:
        return bound.toolset in self.toolsets and not (self.only_reads and bound.tool.kind is not ToolKind.Read)


def of(query: Mapping[str, Any], caller: Caller) -> ToolChoice:
    """Return the choice of a loaded McpQuery. Raises RpcError for a set of tools that there is not."""
    named = [name for name in query["toolsets"].split(",") if name]
    unknown = next((name for name in named if name not in TOOLSETS), None)
    if unknown is not None:
        raise RpcError(INVALID_PARAMS, f"There is no toolset {unknown}; there are {', '.join(TOOLSETS)}.")
    return ToolChoice(
        toolsets=frozenset(named or TOOLSETS),
        only_reads=query["readonly"] in ("1", "true"),
        confirms=query["confirm"] == "on",
        may_write=caller.scope == "read_write",
    )
