"""The address belongs to a data centre or an anonymizer: people rarely browse from there."""

from domain.fraud.facts import ClickFacts
from domain.fraud.rule import Rule

RULE: Rule[ClickFacts] = Rule("data_centre", 50, lambda click: click.is_from_data_centre)
