"""Fraud scores: facts about a click or a lead in, a score with its reasons out. Points add up.

People share addresses, so a rule about addresses never blocks alone; at most it holds a click.
Source: core spec, "Click and lead fraud review".
"""

from collections.abc import Iterable

from domain.fraud.bands import Strictness, decide, severity
from domain.fraud.facts import ClickFacts, LeadFacts, PageLeadFacts, Verdict
from domain.fraud.rules import CLICK_RULES, LEAD_RULES, PAGE_LEAD_RULES, Facts, Rule

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

_MAX = 100
_CLEAN = Verdict(score=0, reasons=())


def score(facts: ClickFacts | LeadFacts | PageLeadFacts) -> Verdict:
    """Return the points of every rule that holds, 100 at most, with the rules' names.

    A lead starts from the verdict on its click.
    """
    if isinstance(facts, ClickFacts):
        return _add_rules(CLICK_RULES, facts, _CLEAN)
    if isinstance(facts, PageLeadFacts):
        return _add_rules(PAGE_LEAD_RULES, facts, facts.click or _CLEAN)
    return _add_rules(LEAD_RULES, facts, facts.click or _CLEAN)


def add_verdicts(ours: Verdict, theirs: Verdict) -> Verdict:
    """Return the sum of two verdicts: the points of both, 100 at most, and every reason once."""
    return Verdict(
        score=min(ours.score + theirs.score, _MAX),
        reasons=tuple(dict.fromkeys((*ours.reasons, *theirs.reasons))),
    )


def _add_rules(rules: Iterable[Rule[Facts]], facts: Facts, start: Verdict) -> Verdict:
    against = [rule for rule in rules if rule.holds(facts)]
    if not against:
        return start
    return Verdict(
        score=min(start.score + sum(rule.points for rule in against), _MAX),
        reasons=(*start.reasons, *(rule.reason for rule in against)),
    )
