"""Where the APIs of the newsletter and CRM platforms are, and when they are asked who brought a buyer."""

from collections.abc import Mapping
from dataclasses import dataclass

from domain.platforms import schedule
from domain.platforms.names import Platform
from settings.parsers import host_url, seconds_list
from settings.table import Concern, Variable, family, setting


@dataclass(frozen=True, slots=True)
class Platforms(Concern):
    """Scheme and host that replace a platform's own, by its name (None: its own); and the times of look-ups."""

    urls: Mapping[str, str | None] = family(
        {
            name.value: Variable(
                f"PLATFORM_{name.upper()}_URL",
                host_url("the platform's own address"),
                None,
                f"replaces scheme and host of the API of {name}",
                shown="its own",
            )
            for name in Platform
        }
    )
    lookup_retry_at_s: tuple[int, ...] = setting(
        "LOOKUP_RETRY_AT_S",
        seconds_list,
        schedule.RETRY_AT_S,
        "when platforms are asked again for a buyer whom they do not know yet, after the sale",
    )
