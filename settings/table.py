"""A setting is one line in the dataclass of its concern: variable, parser, default, meaning.

The lines are the table by which the environment is read, and which `python -m settings` prints.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Generic, Self, TypeVar

T = TypeVar("T")
D = TypeVar("D")

#: The name under which a setting of named values has the value that is written without a name.
DEFAULT = "default"


class BadSetting(Exception):
    """An environment variable that cannot be used as it is; the message names it and gives a value that can."""


@dataclass(frozen=True, slots=True)
class Variable(Generic[T]):
    """An environment variable. An empty value counts as not set.

    `parse` raises ValueError with the rest of a sentence that begins with the variable's name.
    `default_text` is how the default is printed where its value alone does not explain it.
    """

    name: str
    parse: Callable[[str], T]
    default: T
    meaning: str
    default_text: str | None = None

    def read(self, environ: Mapping[str, str]) -> T:
        """Return the value that `environ` sets, or the default."""
        raw = environ.get(self.name, "").strip()
        return _parse(self.parse, raw, self.name) if raw else self.default

    def variables(self) -> list["Variable[Any] | NamedValues[Any]"]:
        """Return the variables that are read here."""
        return [self]


@dataclass(frozen=True, slots=True)
class NamedValue(Generic[T]):
    """One value of a setting that takes several.

    Without a default of its own it gets the value that is written without a name, if there is one.
    `old_variable` set this value alone in earlier releases, and still does in this one.
    """

    parse: Callable[[str], T]
    default: T | None
    meaning: str
    old_variable: str | None = None


@dataclass(frozen=True, slots=True)
class NamedValues(Generic[T]):
    """A variable that takes several values by their names: `stripe=https://… paypal=…`.

    The value named `default` may be written without its name: `16 mail=4`. `example` is a value that
    fits every name without a default.
    """

    name: str
    members: Mapping[str, NamedValue[T]]
    meaning: str
    example: str

    def read(self, environ: Mapping[str, str]) -> dict[str, Any]:
        """Return the value of every name."""
        raw = environ.get(self.name, "").strip()
        old = self.old_texts(environ)
        if raw and old:
            key, (variable, _) = next(iter(old.items()))
            raise BadSetting(
                f"{self.name} and {variable}, an old name, are both set; move the value of {variable} into {self.name},"
                f" as {_item(key, 'VALUE')}, and unset {variable}"
            )
        return self._values(self._texts(raw) if raw else old)

    def old_texts(self, environ: Mapping[str, str]) -> dict[str, tuple[str, str]]:
        """Return by name the old variable that is set, and its text."""
        texts = {
            key: (member.old_variable, environ.get(member.old_variable, "").strip())
            for key, member in self.members.items()
            if member.old_variable is not None
        }
        return {key: (variable, text) for key, (variable, text) in texts.items() if text}

    def new_form(self, environ: Mapping[str, str]) -> str:
        """Return the value of this variable that means the same as all its old variables that are set."""
        return " ".join(_item(key, text) for key, (_, text) in self.old_texts(environ).items())

    def variables(self) -> list["Variable[Any] | NamedValues[Any]"]:
        """Return the variables that are read here."""
        return [self]

    def _values(self, texts: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, member in self.members.items():
            if key in texts:
                values[key] = self._parse(key, *texts[key])
            elif member.default is None and DEFAULT in texts:
                variable, text = texts[DEFAULT]
                values[key] = self._parse(key, f"{variable}, which is also for {key},", text)
            elif member.default is None and DEFAULT in self.members:
                values[key] = self.members[DEFAULT].default
            else:
                values[key] = member.default
        return values

    def _parse(self, key: str, label: str, text: str) -> T:
        return _parse(self.members[key].parse, text, label, f", such as {self._example(key)}")

    def _texts(self, raw: str) -> dict[str, tuple[str, str]]:
        """Return each named value's label in error messages, which never quote the value, and its text."""
        texts: dict[str, tuple[str, str]] = {}
        for place, item in enumerate(re.split(r"[\s,]+", raw.strip(", ")), start=1):
            key, equals, text = item.partition("=")
            if not equals and DEFAULT in self.members:
                key, text = DEFAULT, item
            example = self._example(key if key in self.members else list(self.members)[-1])
            if not text:
                raise BadSetting(f"{self.name}: item {place} is not NAME=VALUE, such as {example}")
            if key not in self.members:
                names = ", ".join(self.members)
                raise BadSetting(f"{self.name}: the name of item {place} must be one of: {names}; such as {example}")
            if key in texts:
                raise BadSetting(f"{self.name}: {key} is set twice; write it once, such as {example}")
            texts[key] = (f"{self.name}: {key}", text)
        return texts

    def _example(self, key: str) -> str:
        default = self.members[key].default
        return _item(key, self.example if default is None else default)


@dataclass(frozen=True, slots=True)
class Concern:
    """A dataclass of settings that reads itself."""

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Self:
        """Return the concern as `environ` sets it, or raise BadSetting."""
        concern = cls(**{line.name: line.metadata["line"].read(environ) for line in fields(cls)})
        concern.check()
        return concern

    @classmethod
    def variables(cls) -> list[Variable[Any] | NamedValues[Any]]:
        """Return every variable of the concern, in the order of its lines."""
        return [variable for line in fields(cls) for variable in line.metadata["line"].variables()]

    def check(self) -> None:
        """Raise BadSetting where values contradict each other."""


@dataclass(frozen=True, slots=True)
class _Group:
    concern: type[Concern]

    def read(self, environ: Mapping[str, str]) -> Concern | None:
        variables = self.concern.variables()
        given = [variable.name for variable in variables if environ.get(variable.name, "").strip()]
        missing = [
            variable.name
            for variable in variables
            if isinstance(variable, Variable) and variable.default is MISSING and variable.name not in given
        ]
        if given and missing:
            raise BadSetting(f"{given[0]} is set without {missing[0]}; set both, or none of the group")
        return self.concern.read(environ) if given else None

    def variables(self) -> list[Variable[Any] | NamedValues[Any]]:
        return self.concern.variables()


def setting(
    name: str,
    parse: Callable[[str], T],
    default: D,
    meaning: str,
    *,
    default_text: str | None = None,
    is_secret: bool = False,
) -> T | D:
    """Declare a setting. A secret is left out of the text of its object."""
    line: Variable[T | D] = Variable(name, parse, default, meaning, default_text)
    return field(default=default, repr=not is_secret, metadata={"line": line})


def required_setting(name: str, parse: Callable[[str], T], meaning: str, *, is_secret: bool = False) -> T:
    """Declare a setting without which its `group` cannot be used. These lines come first."""
    line: Variable[Any] = Variable(name, parse, MISSING, meaning)
    declared: T = field(repr=not is_secret, metadata={"line": line})
    return declared


def named_values(name: str, members: Mapping[str, NamedValue[T]], meaning: str, *, example: str) -> Mapping[str, T]:
    """Declare a setting that takes several values by their names."""
    line = NamedValues(name, members, meaning, example)
    return field(default_factory=lambda: line.read({}), metadata={"line": line})


C = TypeVar("C", bound=Concern)


def group(concern: type[C]) -> C | None:
    """Declare settings that are set together or not at all: None when none of them is set."""
    return field(default=None, metadata={"line": _Group(concern)})


def _parse(parse: Callable[[str], T], raw: str, label: str, example: str = "") -> T:
    try:
        return parse(raw)
    except ValueError as error:
        raise BadSetting(f"{label} {error}{example}") from None


def _item(key: str, value: object) -> str:
    return str(value) if key == DEFAULT else f"{key}={value}"
