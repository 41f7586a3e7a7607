"""The parts of a guide: steps, permissions, what is written at the gateway, and its test mode."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GuideStep:
    """One step at the gateway; `gives` are the credentials that it leads to, by the names of their fields."""

    text: str
    gives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Permission:
    """A permission of the key, by its name at the gateway, and what it is for.

    `calls` are the beginnings of the paths that it allows, without the version of the gateway's API.
    """

    name: str
    purpose: str
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guide:
    """How the credentials of a gateway are made.

    `key_url` is the gateway's page for that; None where it is in the brand's own store. No `permissions`: the gateway's
    keys have none to choose. `writes` is all that is ever created there.
    """

    title: str
    key_url: str | None
    steps: tuple[GuideStep, ...]
    permissions: tuple[Permission, ...] = ()
    writes: tuple[str, ...] = ()
    outcome: str = "Your sales come in automatically from then on."
    test_mode: str = ""

    @property
    def fields(self) -> set[str]:
        """The names of the credentials that its steps lead to."""
        return {name for step in self.steps for name in step.gives}
