"""The browser says that it is a robot, or says nothing."""

from domain.fraud.facts import ClickFacts
from domain.fraud.rule import Rule

RULE: Rule[ClickFacts] = Rule("bot_agent", 100, lambda click: click.is_bot)
