"""The browser names a tool that drives browsers without anybody in front of them."""

import re

from domain.fraud.facts import ClickFacts
from domain.fraud.rule import Rule

_TOOL = re.compile(r"headless|phantomjs|puppeteer|playwright|selenium|webdriver|slimerjs", re.IGNORECASE)


def _holds(click: ClickFacts) -> bool:
    return _TOOL.search(click.agent) is not None


RULE = Rule("headless", 80, _holds)
