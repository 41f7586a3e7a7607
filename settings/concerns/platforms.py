"""When newsletter and CRM platforms are searched for the referrer of a buyer."""

from dataclasses import dataclass

from domain.platforms import schedule
from settings.parsers import seconds_list
from settings.table import Concern, setting


@dataclass(frozen=True, slots=True)
class Platforms(Concern):
    """The times of look-ups at newsletter and CRM platforms."""

    lookup_retry_at_s: tuple[int, ...] = setting(
        "LOOKUP_RETRY_AT_S",
        seconds_list,
        schedule.RETRY_AT_S,
        "when platforms are asked again for a buyer whom they do not know yet, after the sale",
    )
