"""Fraud rules: facts about a click or a lead in, a score with its reasons out. Points add up.

People share addresses, so a rule about addresses never blocks alone; at most it holds.
Source: core spec, "Click and lead fraud review".
"""

from collections.abc import Iterable

from domain.fraud.bands import Strictness, decide, severity
from domain.fraud.facts import ClickFacts, LeadFacts, PageLeadFacts, Verdict
from domain.fraud.page_leads import PAGE_LEAD_RULES
from domain.fraud.rule import Facts, Rule
from domain.fraud.rules import CLICK_RULES, LEAD_RULES

__all__ = [
    "ClickFacts",
    "LeadFacts",
    "PageLeadFacts",
    "Strictness",
    "Verdict",
    "added",
    "decide",
    "score",
    "severity",
]

_MOST = 100
_NOTHING = Verdict(score=0, reasons=())


def score(facts: ClickFacts | LeadFacts | PageLeadFacts) -> Verdict:
    """Return the points of every rule that holds, 100 at most, with the rules' names.

    A lead starts from the verdict on its click.
    """
    if isinstance(facts, ClickFacts):
        return _weighed(CLICK_RULES, facts, _NOTHING)
    if isinstance(facts, PageLeadFacts):
        return _weighed(PAGE_LEAD_RULES, facts, facts.click or _NOTHING)
    return _weighed(LEAD_RULES, facts, facts.click or _NOTHING)


def added(ours: Verdict, theirs: Verdict) -> Verdict:
    """Return both verdicts as one: the points of both, 100 at most, and every reason once."""
    return Verdict(
        score=min(ours.score + theirs.score, _MOST),
        reasons=tuple(dict.fromkeys((*ours.reasons, *theirs.reasons))),
    )


def _weighed(rules: Iterable[Rule[Facts]], facts: Facts, known: Verdict) -> Verdict:
    against = [rule for rule in rules if rule.holds(facts)]
    if not against:
        return known
    return Verdict(
        score=min(known.score + sum(rule.points for rule in against), _MOST),
        reasons=(*known.reasons, *(rule.reason for rule in against)),
    )
