"""Paid leads that are held or refused: caps, budgets and fraud rules.

Source: core spec, "Click and lead fraud review".
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from adapters.clicks import countries, networks, visitors
from adapters.fraud import mail_domains
from adapters.fraud import scorer as fraud_scorer
from tests.support.api.concurrency import run_concurrently
from tests.support.outside.name_server import NameServer
from tests.support.rows import paid_leads, program_rows
from tests.support.rows.paid_leads import BROWSER, create_campaign, list_fraud_events, list_lead_conversions, send_lead


def test_affiliate_cannot_be_their_own_lead(brand, slug):
    address = f"{slug}+me@example.com"

    answers = [send_lead(brand, slug, email=address) for _ in range(2)]

    assert [(answer.status_code, answer.json) for answer in answers] == [(200, {"ok": True})] * 2
    assert list_lead_conversions(brand) == []
    assert list_fraud_events(brand) == [("blocked", 100, ["self_lead"])]


def test_lead_over_the_daily_cap_is_dropped_with_a_fraud_event(brand, slug):
    brand.set(leadsPerDay="2")

    answers = [send_lead(brand, slug) for _ in range(3)]

    assert {answer.get_data() for answer in answers} == {b'{"ok":true}'}
    assert len(list_lead_conversions(brand)) == 2
    assert list_fraud_events(brand) == [("blocked", 100, ["daily_cap"])]


def test_daily_cap_is_per_affiliate_and_day(brand, slug):
    brand.set(leadsPerDay="1")
    send_lead(brand, slug)
    brand.rows("update lead set occurred_at = occurred_at - interval '1 day' where organization_id = %s", brand.id)
    other = f"{slug}-2"
    brand.affiliate(other)

    send_lead(brand, slug)
    send_lead(brand, other)

    assert len(list_lead_conversions(brand)) == 3


def test_lead_over_the_budget_is_refused(brand):
    slug = create_campaign(brand, budget_cents=1_200)

    answers = [send_lead(brand, slug) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 409]
    assert answers[-1].json["error"] == "campaign_budget_reached"
    assert len(list_lead_conversions(brand)) == 2


def test_known_person_gets_the_same_response_when_the_budget_is_spent(brand):
    slug = create_campaign(brand, budget_cents=500)
    send_lead(brand, slug, email="ada@inbox.example.org")

    assert send_lead(brand, slug, email="ada@inbox.example.org").status_code == 200
    assert send_lead(brand, slug).status_code == 409


def test_concurrent_leads_never_overshoot_a_budget(brand):
    slug = create_campaign(brand, budget_cents=3_600)  # enough for seven
    people = [(paid_leads.unique_person_email(), paid_leads.create_human_token()) for _ in range(50)]

    calls = [lambda person=person: send_lead(brand, slug, email=person[0], token=person[1]) for person in people]
    answers = [answer for start in range(0, 50, 10) for answer in run_concurrently(*calls[start : start + 10])]

    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [409] * 43
    assert list_lead_conversions(brand) == [("Pending", 500, "USD", "payable", "lead_form")] * 7


def test_denied_lead_frees_its_budget(brand):
    slug = create_campaign(brand, budget_cents=500)
    send_lead(brand, slug)
    ((conversion_id,),) = brand.rows("select id from conversion where organization_id = %s", brand.id)
    assert send_lead(brand, slug).status_code == 409

    brand.person().post(f"/api/conversions/{conversion_id}/deny", {})

    assert send_lead(brand, slug).status_code == 200


def test_budget_in_a_currency_without_a_rate_pays_nothing(brand):
    slug = create_campaign(brand, budget_cents=10**9, budget_currency="MZN")

    assert send_lead(brand, slug).status_code == 409


def test_fee_of_zero_needs_no_budget(brand):
    slug = create_campaign(brand, default_commission_value=Decimal(0), budget_cents=0)

    assert send_lead(brand, slug).status_code == 200
    assert list_lead_conversions(brand) == [("Pending", 0, "USD", "payable", "lead_form")]


def test_disposable_address_is_held_silently(brand, slug):
    answer = send_lead(brand, slug, email="ada@mailinator.com")

    assert (answer.status_code, answer.json) == (200, {"ok": True})
    assert list_lead_conversions(brand) == [("Invalidated", 500, "USD", "payable", "lead_form")]
    assert list_fraud_events(brand) == [("held", 60, ["disposable_domain"])]
    assert brand.rows("select state from lead where organization_id = %s", brand.id) == [("Invalidated",)]
    assert brand.rows("select amount_cents from ledger_entry where organization_id = %s", brand.id) == []


def test_fraud_strictness_decides_the_outcome(brand, slug):
    for strictness, outcome in (("lenient", "Pending"), ("strict", "Invalidated")):
        brand.set(fraudStrictness=strictness)
        send_lead(brand, slug, email=f"{strictness}@mailinator.com")

        assert list_lead_conversions(brand)[-1][0] == outcome


def test_robot_is_blocked_silently(brand, slug):
    answer = send_lead(brand, slug, headers={"User-Agent": "Googlebot/2.1"})

    assert (answer.status_code, answer.json) == (200, {"ok": True})
    assert list_lead_conversions(brand)[0][0] == "Invalidated"
    assert list_fraud_events(brand) == [("blocked", 100, ["bot_agent"])]


def test_lead_from_a_data_centre_is_held(brand, slug, monkeypatch):
    monkeypatch.setattr(networks, "load_networks", lambda: networks.parse_networks("127.0.0.0/8"))

    assert send_lead(brand, slug).json == {"ok": True}
    assert list_lead_conversions(brand)[0][0] == "Invalidated"
    assert list_fraud_events(brand) == [("held", 50, ["data_centre"])]


def test_language_mismatch_adds_to_the_score(brand, slug, monkeypatch):
    monkeypatch.setattr(networks, "load_networks", lambda: networks.parse_networks("127.0.0.0/8"))
    monkeypatch.setattr(countries, "find_country", {"127.0.0.1": "BR"}.get)

    send_lead(brand, slug, headers={"Accept-Language": "ru-RU,ru;q=0.9"})

    assert list_fraud_events(brand) == [("held", 60, ["data_centre", "language_mismatch"])]


def test_email_domain_without_mx_adds_to_the_score(brand, slug, monkeypatch):
    brand.set(fraudStrictness="strict")
    monkeypatch.setattr(mail_domains, "_LIFETIME_S", 60.0)  # long enough for a busy machine
    server = NameServer()
    server.zone = {("takes.example", "MX"): ["10 mx.takes.example."]}
    hosts = mail_domains.MailHosts(mail_domains.build_resolver(server.address))
    monkeypatch.setattr(mail_domains, "_mail_hosts", lambda: hosts)

    send_lead(brand, slug, email="ada@takes.example")
    send_lead(brand, slug, email="ada@missing.example")
    server.close()

    assert [status for status, *_ in list_lead_conversions(brand)] == ["Pending", "Invalidated"]
    assert list_fraud_events(brand) == [("held", 40, ["no_mx"])]


def test_held_lead_uses_budget_only_once_validated(brand):
    slug = create_campaign(brand, budget_cents=500)
    send_lead(brand, slug, email="ada@mailinator.com")
    ((held_id,),) = brand.rows("select id from conversion where organization_id = %s", brand.id)
    status = f"/api/v1/programs/{brand.programs[-1]}/budget-status"
    assert brand.get(status).json["spentCents"] == 0

    assert brand.person().post(f"/api/v1/conversions/{held_id}/validate").status_code == 200

    assert brand.get(status).json["spentCents"] == 500
    assert send_lead(brand, slug).status_code == 409
    assert brand.rows("select amount_cents from ledger_entry where organization_id = %s", brand.id) == [(500,)]
    assert brand.rows("select state from lead where organization_id = %s", brand.id) == [("Open",)]


def _create_click(brand, *, agent=BROWSER, score=0, reasons=(), sub_id=None):
    """Create a click one minute old with the given fraud score and reasons."""
    ((affiliate_id,),) = brand.rows("select id from affiliate where organization_id = %s", brand.id)
    click_id = program_rows.insert_click(
        brand,
        affiliate_id,
        occurred_at=datetime.now(UTC) - timedelta(minutes=1),
        visitor_hash=bytes.fromhex(visitors.hash_visitor("127.0.0.1", agent)),
        sub_id=sub_id,
        score=score,
    )
    stored_reasons = None if reasons is None else list(reasons)
    brand.rows("update click set reasons = %s where id = %s returning id", stored_reasons, click_id)


def test_verdict_on_the_visitors_click_counts(brand, slug):
    _create_click(brand, score=50, reasons=["data_centre"])

    send_lead(brand, slug)

    assert list_lead_conversions(brand)[0][0] == "Invalidated"
    assert list_fraud_events(brand) == [("held", 50, ["data_centre"])]


def test_lead_takes_the_sub_id_of_the_preceding_click(brand, slug):
    _create_click(brand, score=0, sub_id="news")

    send_lead(brand, slug)

    assert brand.rows("select sub_id from conversion where organization_id = %s", brand.id) == [("news",)]


@pytest.mark.parametrize("click", [{"agent": "Another browser"}, {"reasons": None}])
def test_click_of_another_visitor_or_without_a_verdict_is_ignored(brand, slug, click):
    _create_click(brand, **{"score": 90, "reasons": ["headless"]} | click)

    send_lead(brand, slug)

    assert list_lead_conversions(brand)[0][0] == "Pending"


def test_lead_is_refused_while_the_scorer_is_unavailable(brand, slug, monkeypatch):
    scorer = fraud_scorer.Scorer("http://127.0.0.1:9/judge", None)
    monkeypatch.setattr(fraud_scorer, "_scorer", lambda: scorer)

    answers = [send_lead(brand, slug), send_lead(brand, slug, email=f"{slug}@example.com")]

    assert {(answer.status_code, answer.json["error"]) for answer in answers} == {(503, "fraud_scoring_unavailable")}
    assert (list_lead_conversions(brand), list_fraud_events(brand)) == ([], [])


def test_spent_budget_is_checked_before_the_scorer(brand, monkeypatch):
    slug = create_campaign(brand, budget_cents=0)
    scorer = fraud_scorer.Scorer("http://127.0.0.1:9/judge", None)
    monkeypatch.setattr(fraud_scorer, "_scorer", lambda: scorer)

    assert send_lead(brand, slug).status_code == 409
