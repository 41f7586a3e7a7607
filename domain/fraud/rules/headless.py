"""The browser names a tool that drives browsers without anybody in front of them."""

import functools
import re

from domain.fraud.facts import ClickFacts
from domain.fraud.rule import Rule

_TOOL = re.compile(r"headless|phantomjs|puppeteer|playwright|selenium|webdriver|slimerjs", re.IGNORECASE)


_KEPT_AGENTS = 4096


@functools.lru_cache(maxsize=_KEPT_AGENTS)
def _names_a_tool(agent: str) -> bool:
    return _TOOL.search(agent) is not None


RULE: Rule[ClickFacts] = Rule("headless", 80, lambda click: _names_a_tool(click.agent))
