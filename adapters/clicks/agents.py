"""Recognizes self-declared bots by their user agents: crawlers, mail scanners, previews and tools.

The list comes from a package; its patterns are compiled and cached here, to be fast and never quadratic.
Source: tracking spec, "Click" (bots are not clicks).
"""

import functools
import re

from crawlerdetect.providers import crawlers, exclusions

#: The characters of a user agent that are checked and stored.
MAX_LENGTH = 512

_CACHE_SIZE = 4096

# A browser driven by a tool is not a self-declared bot; a separate fraud rule scores it.
_DRIVEN = re.compile("headless", re.IGNORECASE)
# A leading wildcard does not change what a search finds, but makes it quadratic.
_LEAD = re.compile(r"^\[[^\]]+\]\*")


def is_bot(agent: str) -> bool:
    """Return whether a user agent declares a bot or is empty. Never raises."""
    return _is_bot(agent[:MAX_LENGTH])


@functools.lru_cache(maxsize=_CACHE_SIZE)
def _is_bot(agent: str) -> bool:
    name = _DRIVEN.sub("", agent).strip()
    if not name:
        return not agent.strip()
    browsers, bots = _patterns()
    return bots.search(browsers.sub("", name)) is not None


@functools.cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the pattern of texts to remove first (browsers' own, which may contain bots' names), and that of bots."""
    bots = (_LEAD.sub("", pattern) for pattern in crawlers.data)
    return re.compile("|".join(exclusions.data), re.IGNORECASE), re.compile("|".join(bots), re.IGNORECASE)
