"""Leads that a campaign pays for: a verified person filled in the form of a referral.

Prepare (a transaction) reads the affiliate and the obstacles; judge (no transaction) calls name servers and the
operator's scorer; record (a transaction) decides under the budget's lock and writes. The answer is the same for a
person who was known, over the cap or in quarantine and for a new lead.
Source: core spec, "Click and lead fraud review" (paid lead) and "Conversion" (lead rows).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID, uuid5

from adapters.clicks import agents, countries, networks, visitors
from adapters.fraud import mail_domains, scorer
from domain import emails, fraud
from domain.fraud import ClickFacts, LeadFacts, Verdict
from domain.fraud.rules import DAILY_CAP, SELF_LEAD
from domain.leads import LeadMethod
from domain.programs.rewards import Reward
from domain.refusals import Refused
from domain.statuses import AffiliateStatus, ConversionStatus
from models.clicks.public_links import Link
from models.fraud import fraud_settings
from models.fraud.fraud_settings import FraudSettings
from models.leads import paid_leads
from models.leads.rows import LeadReferral
from pipelines.fraud import fraud_events
from pipelines.leads import lifecycle
from pipelines.leads.lifecycle import NewLead
from pipelines.programs import rewards

#: What stops a lead regardless of its fraud score, checked in this order.
Obstacle = Literal["self_lead", "known", "daily_cap", "budget"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormVisit:
    """The request that sends a lead. `visitor` is the keyed hash (hex) that its clicks have."""

    ip: str
    agent: str
    languages: tuple[str, ...]
    visitor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadCase:
    """A lead to be judged. `click` is the verdict on the visitor's last click, or on the visit itself."""

    organization_id: UUID
    referral: LeadReferral
    settings: FraudSettings
    email: str
    name: str | None
    facts: LeadFacts
    click: Verdict
    sub_id: str | None
    obstacle: Obstacle | None


def not_open_refusal() -> Refused:
    """Return the refusal for a slug that is unknown, cannot earn, or belongs to a brand without paid leads."""
    return Refused(404, "not_found", "There is no such form.")


def check_open(link: Link) -> None:
    """Raise Refused 404 not_found for a link that accepts no paid leads now."""
    if not link.can_earn or not fraud_settings.read(link.organization_id).lead_preview:
        raise not_open_refusal()


def prepare(*, link: Link, lead: Mapping[str, Any], visit: FormVisit, now: datetime) -> LeadCase:
    """Return a lead with everything it is judged by; `lead` is `schemas.leads.paid_lead.PaidLeadBody` loaded.

    Raises Refused 404 not_found for a link whose affiliate or program cannot earn now.
    """
    organization_id = link.organization_id
    referral = _find_creditable(organization_id, link.program_id, link.affiliate_id)
    click = paid_leads.find_last_click(
        organization_id=organization_id,
        affiliate_id=link.affiliate_id,
        visitor_hash=bytes.fromhex(visit.visitor),
        since=now - timedelta(days=link.cookie_window_days),
    )
    facts = _read_facts(organization_id, referral, lead["email"], now)
    return LeadCase(
        organization_id=organization_id,
        referral=referral,
        settings=fraud_settings.read(organization_id),
        email=lead["email"],
        name=lead["name"],
        facts=facts.lead,
        click=_worse_verdict(_verdict_from_click(click), _score_visit(visit)),
        sub_id=click.sub_id if click else None,
        obstacle=_find_obstacle(organization_id, referral, facts),
    )


def judge(case: LeadCase) -> Verdict | None:
    """Return the fraud verdict on a lead; None if the budget is spent. Never call this inside a transaction.

    People who are known or over the cap are judged, too, so that neither the response time nor an unreachable scorer
    reveals them.
    Raises Refused 503 fraud_scoring_unavailable if the operator's scorer gives no usable answer.
    """
    if case.obstacle == "budget":
        return None
    domain = case.email.rpartition("@")[2]
    facts = LeadFacts(
        email=case.email,
        affiliate_email=case.facts.affiliate_email,
        is_disposable=mail_domains.is_disposable(domain),
        has_mx=mail_domains.has_mx(domain),
        leads_today=case.facts.leads_today,
        daily_cap=case.facts.daily_cap,
        click=case.click,
    )
    try:
        return fraud.add_verdicts(fraud.score(facts), scorer.judge(facts))
    except scorer.ScorerUnavailable as error:
        message = "The lead could not be checked and was not recorded. Send it again."
        raise Refused(503, "fraud_scoring_unavailable", message) from error


def record(*, case: LeadCase, verdict: Verdict | None, now: datetime) -> None:
    """Record a judged lead with its conversion and its fraud event, unless an obstacle stops it.

    For a known person nothing is written; for the affiliate's own lead or one over the cap only a fraud event. A lead
    with a high score is written as Invalidated; it uses no budget until it is validated.
    Raises Refused 409 campaign_budget_reached, 404 not_found if the affiliate can no longer earn.
    """
    purse = rewards.lock_purse(organization_id=case.organization_id, program_id=case.referral.program_id)
    _find_creditable(case.organization_id, case.referral.program_id, case.referral.affiliate_id)
    current = _read_facts(case.organization_id, case.referral, case.email, now)
    obstacle = _find_obstacle(case.organization_id, case.referral, current, purse)
    if verdict is None or obstacle == "budget":
        raise Refused(409, "campaign_budget_reached", "The program takes no more leads: its budget is spent.")
    if obstacle in ("self_lead", "daily_cap"):
        _reject(case, current.lead, now)
    elif obstacle is None:
        _write(case, verdict, current.reward, now)


def _find_creditable(organization_id: UUID, program_id: UUID, affiliate_id: UUID) -> LeadReferral:
    referral = lifecycle.find_referral(
        organization_id=organization_id, program_id=program_id, affiliate_id=affiliate_id
    )
    if referral is None or not referral.is_program_open or referral.affiliate_status != AffiliateStatus.Approved:
        raise not_open_refusal()
    return referral


@dataclass(frozen=True, slots=True)
class _Facts:
    lead: LeadFacts
    is_known: bool
    reward: Reward | None


def _read_facts(organization_id: UUID, referral: LeadReferral, email: str, now: datetime) -> _Facts:
    inbox = emails.normalize(email)
    count = paid_leads.count(
        organization_id=organization_id,
        program_id=referral.program_id,
        affiliate_id=referral.affiliate_id,
        email_normalized=inbox,
        forgotten=visitors.list_erased_hashes(inbox),
        is_test=referral.is_test_affiliate,
        since=now.replace(hour=0, minute=0, second=0, microsecond=0),
    )
    reward = rewards.find_fee(
        organization_id=organization_id, program_id=referral.program_id, affiliate_id=referral.affiliate_id, kind="lead"
    )
    lead = LeadFacts(
        email=email,
        affiliate_email=referral.affiliate_email,
        leads_today=count.today + 1,
        daily_cap=count.per_day,
    )
    return _Facts(lead, count.is_known, reward)


def _find_obstacle(
    organization_id: UUID, referral: LeadReferral, facts: _Facts, purse: rewards.BudgetReserve | None = None
) -> Obstacle | None:
    if SELF_LEAD.holds(facts.lead):
        return "self_lead"
    if facts.is_known:
        return "known"
    if DAILY_CAP.holds(facts.lead):
        return "daily_cap"
    if facts.reward is None or referral.is_test_affiliate:
        return None  # test leads use no budget
    current_purse = purse or rewards.lock_purse(organization_id=organization_id, program_id=referral.program_id)
    return None if current_purse.reserve(facts.reward.fee, 1) else "budget"


def _verdict_from_click(click: paid_leads.LastClick | None) -> Verdict | None:
    return Verdict(click.score, tuple(click.reasons)) if click and click.reasons is not None else None


def _score_visit(visit: FormVisit) -> Verdict:
    return fraud.score(
        ClickFacts(
            agent=visit.agent,
            is_bot=agents.is_bot(visit.agent),
            is_from_data_centre=networks.is_data_centre(visit.ip),
            languages=visit.languages,
            country=countries.find_country(visit.ip),
        )
    )


def _worse_verdict(click: Verdict | None, visit: Verdict) -> Verdict:
    return click if click is not None and click.score > visit.score else visit


def _reject(case: LeadCase, facts: LeadFacts, now: datetime) -> None:
    """Stage one fraud event per person and day, however often they try."""
    verdict = fraud.score(facts)
    subject = f"{case.referral.affiliate_id} {emails.normalize(case.email)} {now.date()}"
    _record_event(case, uuid5(case.referral.program_id, subject), verdict, "blocked", now)


def _write(case: LeadCase, verdict: Verdict, reward: Reward | None, now: datetime) -> None:
    decision = fraud.decide(verdict.score, case.settings.strictness)
    receipt = lifecycle.record(
        organization_id=case.organization_id,
        referral=case.referral,
        signup=NewLead(
            email=case.email,
            name=case.name,
            occurred_at=now,
            is_test=case.referral.is_test_affiliate,
            sub_id=case.sub_id,
            method=LeadMethod.lead_form,
        ),
        now=now,
        reward=reward,
        status=ConversionStatus.Pending if decision == "pass" else ConversionStatus.Invalidated,
    )
    if receipt.lead_id is not None and decision != "pass":
        _record_event(case, receipt.lead_id, verdict, "held" if decision == "hold" else "blocked", now)


def _record_event(
    case: LeadCase, subject_id: UUID, verdict: Verdict, action: Literal["blocked", "held"], now: datetime
) -> None:
    fraud_events.record_event(
        organization_id=case.organization_id,
        program_id=case.referral.program_id,
        affiliate_id=case.referral.affiliate_id,
        subject="lead",
        subject_id=subject_id,
        verdict=verdict,
        action=action,
        severity=fraud.severity(verdict.score),
        at=now,
    )
