"""What a tool is: a name and a description around one declared operation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class ToolKind(StrEnum):
    """Whether a tool only looks, writes, writes and asks first when it matters, or ends and spends and always asks."""

    Read = "read"
    Write = "write"
    Careful = "careful"
    Destructive = "destructive"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `endpoint` is the operation it asks, `about` what a model reads (at most 300 characters).

    `only` are the fields it takes where those are not all of the operation's, `hides` those that it leaves out;
    `renamed` are its own names of the operation's, `preset` what it sends when nothing is said.
    A tool that `repeats` may be sent twice and does it once; one that `mails` reaches people outside; one that is
    `signed` sends the key's signature; one that is `always_asked` asks however a client is set up.
    """

    name: str
    endpoint: str
    kind: ToolKind
    about: str
    only: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    preset: Mapping[str, object] = field(default_factory=dict)
    repeats: bool = False
    mails: bool = False
    signed: bool = False
    always_asked: bool = False

    @property
    def may_ask(self) -> bool:
        """Say whether it may want to be confirmed."""
        return self.kind in (ToolKind.Careful, ToolKind.Destructive)
