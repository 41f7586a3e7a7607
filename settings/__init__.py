"""Settings: one frozen object, read once from the environment, loud about what is wrong.

A setting is one line in its concern (`concerns/`): variable, parser, default, meaning. Units stand last in every name.
`python -m settings > docs/settings.md` prints them all; a test holds that the page is that print.
"""

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_type_hints

from settings.concerns.fraud import Fraud
from settings.concerns.gateways import Gateways
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
from settings.concerns.web import Web
from settings.concerns.webhooks import Webhooks
from settings.table import BadSetting

__all__ = ["BadSetting", "Settings", "current", "read"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that an operator or a test can turn."""

    servers: Servers
    web: Web
    monitoring: Monitoring
    jobs: Jobs
    webhooks: Webhooks
    identity: Identity
    mail: Mail
    rails: Rails
    rates: Rates
    gateways: Gateways
    platforms: Platforms
    fraud: Fraud
    human_check: HumanCheck
    copilot: Copilot
    retention: Retention


def read(environ: Mapping[str, str]) -> Settings:
    """Return the settings that `environ` asks for, or raise BadSetting."""
    return Settings(**{name: concern.read(environ) for name, concern in get_type_hints(Settings).items()})


@functools.cache
def current() -> Settings:
    """Return the settings of this process."""
    return read(os.environ)
