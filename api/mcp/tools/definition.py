"""The definition of a tool: a name and a description for one declared operation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class ToolKind(StrEnum):
    """A tool reads; writes; writes, with a confirmation when it matters; or ends and spends, always with one."""

    Read = "read"
    Write = "write"
    Careful = "careful"
    Destructive = "destructive"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `endpoint` is the operation that it calls, `about` its description (at most 300 characters).

    `only` are the fields that it takes if not all of the operation's, `hides` the fields that it leaves out; `renamed`
    are its own names by the operation's names, `preset` its values of fields that have none.
    A tool that `is_idempotent` may be called twice and acts once; one that `sends_email` reaches people outside; one
    that `needs_signature` signs its request with the key; one that is `always_confirmed` needs a confirmation even if
    the client switched confirmations off.
    """

    name: str
    endpoint: str
    kind: ToolKind
    about: str
    only: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    preset: Mapping[str, object] = field(default_factory=dict)
    is_idempotent: bool = False
    sends_email: bool = False
    needs_signature: bool = False
    always_confirmed: bool = False

    @property
    def may_need_confirmation(self) -> bool:
        """Return whether a call may need a confirmation."""
        return self.kind in (ToolKind.Careful, ToolKind.Destructive)
