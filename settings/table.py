"""A setting is one line in the dataclass of its concern: variable, parser, default, meaning.

The lines are the table that the environment is read by, and that `python -m settings` prints.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Generic, Self, TypeVar

T = TypeVar("T")
D = TypeVar("D")


class BadSetting(Exception):
    """An environment variable that cannot be used as it is; the message names it and says what would do."""


@dataclass(frozen=True, slots=True)
class Variable(Generic[T]):
    """An environment variable. One that is empty counts as not set.

    `parse` raises ValueError with the rest of a sentence that begins with the variable's name.
    `shown` is how the default is printed where its value does not say it.
    """

    name: str
    parse: Callable[[str], T]
    default: T
    meaning: str
    shown: str | None = None

    def read(self, environ: Mapping[str, str]) -> T:
        """Return the value that `environ` asks for."""
        raw = environ.get(self.name, "").strip()
        if not raw:
            return self.default
        try:
            return self.parse(raw)
        except ValueError as error:
            raise BadSetting(f"{self.name} {error}") from None

    def variables(self) -> list["Variable[Any]"]:
        """Return the variables that are read here."""
        return [self]


@dataclass(frozen=True, slots=True)
class _Family:
    members: Mapping[str, Variable[Any]]

    def read(self, environ: Mapping[str, str]) -> dict[str, Any]:
        return {key: variable.read(environ) for key, variable in self.members.items()}

    def variables(self) -> list[Variable[Any]]:
        return list(self.members.values())


@dataclass(frozen=True, slots=True)
class Concern:
    """A dataclass of settings that reads itself."""

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Self:
        """Return what `environ` asks for, or raise BadSetting."""
        found = cls(**{line.name: line.metadata["line"].read(environ) for line in fields(cls)})
        found.check()
        return found

    @classmethod
    def variables(cls) -> list[Variable[Any]]:
        """Return every variable of the concern, in the order of its lines."""
        return [variable for line in fields(cls) for variable in line.metadata["line"].variables()]

    def check(self) -> None:
        """Raise BadSetting where values do not go together."""


@dataclass(frozen=True, slots=True)
class _Group:
    concern: type[Concern]

    def read(self, environ: Mapping[str, str]) -> Concern | None:
        variables = self.concern.variables()
        given = [variable.name for variable in variables if environ.get(variable.name, "").strip()]
        missing = [
            variable.name for variable in variables if variable.default is MISSING and variable.name not in given
        ]
        if given and missing:
            raise BadSetting(f"{given[0]} is set without {missing[0]}; set both, or none of the group")
        return self.concern.read(environ) if given else None

    def variables(self) -> list[Variable[Any]]:
        return self.concern.variables()


def setting(
    name: str, parse: Callable[[str], T], default: D, meaning: str, *, shown: str | None = None, is_secret: bool = False
) -> T | D:
    """Declare a setting. A secret is left out of the text of its object."""
    line: Variable[T | D] = Variable(name, parse, default, meaning, shown)
    return field(default=default, repr=not is_secret, metadata={"line": line})


def needed(name: str, parse: Callable[[str], T], meaning: str, *, is_secret: bool = False) -> T:
    """Declare a setting that a `group` cannot do without. These lines come first."""
    line: Variable[Any] = Variable(name, parse, MISSING, meaning)
    made: T = field(repr=not is_secret, metadata={"line": line})
    return made


def family(members: Mapping[str, Variable[T]]) -> Mapping[str, T]:
    """Declare settings of one kind, which are read into a mapping by their keys."""
    line = _Family(members)
    return field(default_factory=lambda: line.read({}), metadata={"line": line})


C = TypeVar("C", bound=Concern)


def group(concern: type[C]) -> C | None:
    """Declare settings that are set together or not at all: None when none of them is set."""
    return field(default=None, metadata={"line": _Group(concern)})
