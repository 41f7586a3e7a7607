"""Tells programs that say what they are from browsers: a kept list of crawlers, mail scanners, previews and tools.

The list comes with a package; its patterns are run here, where they can be neither slow nor asked the same thing twice.
Source: tracking spec, "Click" (bots are not clicks).
"""

import functools
import re

from crawlerdetect.providers import crawlers, exclusions

#: What of an agent's name is looked at and stored.
LONGEST = 512

_KEPT_AGENTS = 4096

# A browser that a tool drives is not a robot that says so: what it does is weighed by a rule of its own.
_DRIVEN = re.compile("headless", re.IGNORECASE)
# What may stand before a name changes nothing about whether it is found, and makes a search quadratic.
_LEAD = re.compile(r"^\[[^\]]+\]\*")


def is_bot(agent: str) -> bool:
    """Return whether a browser says that it is a robot, or says nothing. Never raises."""
    return _is_bot(agent[:LONGEST])


@functools.lru_cache(maxsize=_KEPT_AGENTS)
def _is_bot(agent: str) -> bool:
    said = _DRIVEN.sub("", agent).strip()
    if not said:
        return not agent.strip()
    known, robots = _patterns()
    return robots.search(known.sub("", said)) is not None


@functools.cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what browsers say of themselves, which hides robots' names in it, and what robots are known by."""
    robots = (_LEAD.sub("", pattern) for pattern in crawlers.data)
    return re.compile("|".join(exclusions.data), re.IGNORECASE), re.compile("|".join(robots), re.IGNORECASE)
