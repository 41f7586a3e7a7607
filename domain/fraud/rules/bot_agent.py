"""The browser says that it is a robot, or says nothing.

Clicks of robots are not counted in the first place; leads of theirs are judged here.
"""

from domain.fraud.facts import ClickFacts
from domain.fraud.rule import Rule

RULE: Rule[ClickFacts] = Rule("bot_agent", 100, lambda click: click.is_bot)
