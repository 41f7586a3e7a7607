"""Settings: one frozen object, read once from the environment; errors name the variable and give a value that works.

A setting is one line in its concern (`concerns/`): variable, parser, default, meaning. Names end in their unit.
`python -m settings > docs/settings.md` prints them all; a test compares the page with that output.
"""

import functools
import os
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from settings.concerns.addresses import Addresses
from settings.concerns.fraud import Fraud
from settings.concerns.human_check import HumanCheck
from settings.concerns.identity import Identity
from settings.concerns.jobs import Jobs
from settings.concerns.mail import Mail
from settings.concerns.monitoring import Monitoring
from settings.concerns.platforms import Platforms
from settings.concerns.rails import Rails
from settings.concerns.rates import Rates
from settings.concerns.retention import Retention
from settings.concerns.servers import Servers
from settings.concerns.services.copilot import Copilot
from settings.concerns.services.switch_sources import SwitchSources
from settings.concerns.web import Web
from settings.concerns.webhooks import Webhooks
from settings.table import BadSetting, NamedValues, Variable

__all__ = ["BadSetting", "Settings", "current", "old_name_warnings", "read", "replace_old_names", "variables"]


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, by concern."""

    servers: Servers
    web: Web
    monitoring: Monitoring
    jobs: Jobs
    webhooks: Webhooks
    identity: Identity
    mail: Mail
    rails: Rails
    rates: Rates
    addresses: Addresses
    platforms: Platforms
    switches: SwitchSources
    fraud: Fraud
    human_check: HumanCheck
    copilot: Copilot
    retention: Retention


def read(environ: Mapping[str, str]) -> Settings:
    """Return the settings that `environ` holds, or raise BadSetting."""
    return Settings(**{name: concern.read(environ) for name, concern in get_type_hints(Settings).items()})


@functools.cache
def current() -> Settings:
    """Return the settings of this process."""
    return read(os.environ)


def variables() -> list[Variable[Any] | NamedValues[Any]]:
    """Return every variable, in the order of the page."""
    return [variable for concern in get_type_hints(Settings).values() for variable in concern.variables()]


def old_name_warnings(environ: Mapping[str, str]) -> list[str]:
    """Return a sentence for each variable that is set under its old name, with the form that replaces it."""
    return [
        f'{old} is an old name and will stop working in the next release; write {new.name}="{new.new_form(environ)}"'
        for new in _named_values()
        for old, _ in new.old_texts(environ).values()
    ]


def replace_old_names(environ: MutableMapping[str, str]) -> None:
    """Replace every old name in `environ` by the variable that means the same."""
    for new in _named_values():
        if text := new.new_form(environ):
            environ[new.name] = text
        for old, _ in new.old_texts(environ).values():
            del environ[old]


def _named_values() -> Iterator[NamedValues[Any]]:
    return (variable for variable in variables() if isinstance(variable, NamedValues))
