"""The rules for leads that a visitor's page sends, one per file, in the order in which their reasons are named."""

from domain.fraud.facts import PageLeadFacts
from domain.fraud.page_leads import lead_burst, no_click
from domain.fraud.rule import Rule

#: What is looked for in a lead of a page, besides the verdict on its click. Together they hold it at any strictness.
PAGE_LEAD_RULES: tuple[Rule[PageLeadFacts], ...] = (no_click.RULE, lead_burst.RULE)
