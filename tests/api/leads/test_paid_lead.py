"""Leads that a campaign pays for. Source: core spec, "Click and lead fraud review" (paid lead) and "Conversion"."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from adapters.clicks import networks, visitors
from adapters.fraud import mail_domains
from adapters.fraud import scorer as fraud_scorer
from pipelines.leads import paid
from tests.support.api.racing import at_once
from tests.support.outside.name_server import NameServer
from tests.support.rows import paid_leads, program_rows
from tests.support.rows.paid_leads import BROWSER, campaign, fraud_events, rows, send

# Of one inbox.
_VARIANTS = ("ada+x@gmail.com", "a.da@gmail.com")


@pytest.fixture(autouse=True)
def _local_tokens(app):
    with paid_leads.verified_by(URL="local"):
        yield


@pytest.fixture
def slug(brand):
    return campaign(brand)


def test_a_lead_earns_the_fee_of_its_campaign(brand, slug):
    answer = send(brand, slug, name="Ada")

    assert (answer.status_code, answer.json) == (200, {"ok": True})
    assert rows(brand) == [("Pending", 500, "USD", "payable", "lead_form")]
    ((earned,),) = brand.rows("select sum(amount_cents) from ledger_entry where organization_id = %s", brand.id)
    assert earned == 500


def test_a_lead_is_listed_with_who_it_is(brand, slug):
    send(brand, slug, email="Ada@Inbox.example.org", name=" Ada ")

    (shown,) = brand.get("/api/v1/conversions?kind=lead").json["items"]
    told = ("type", "amountCents", "commissionCents", "attributionMethod", "customerName")
    assert [shown[name] for name in told] == ["LeadReward", 0, 500, "lead_form", "Ada"]


def test_beside_a_sale_primary_the_bounty_is_paid(brand):
    slug = campaign(
        brand,
        default_commission_model="Cps",
        default_commission_type="Percentage",
        default_commission_value=Decimal(20),
        lead_bounty_cents=250,
        lead_bounty_currency="EUR",
    )

    send(brand, slug)

    assert rows(brand) == [("Pending", 250, "EUR", "payable", "lead_form")]


def test_an_affiliates_own_fee_goes_first_on_a_lead_primary(brand):
    slug = campaign(brand)
    brand.rows(
        "update affiliate set custom_commission_type = 'Fixed', custom_commission_value = 7,"
        " custom_commission_currency = 'GBP' where organization_id = %s",
        brand.id,
    )

    send(brand, slug)

    assert rows(brand) == [("Pending", 700, "GBP", "payable", "lead_form")]


def test_a_campaign_that_pays_no_leads_records_it_for_nothing(brand):
    slug = campaign(
        brand,
        default_commission_model="Cps",
        default_commission_type="Percentage",
        default_commission_value=Decimal(20),
    )

    assert send(brand, slug).status_code == 200
    assert rows(brand) == [("Pending", 0, "USD", "not_paid_on_campaign", "lead_form")]


def test_until_the_preview_is_on_there_is_no_such_address(brand, slug):
    brand.set(leadPreview="off")

    answer = send(brand, slug)

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert rows(brand) == []


@pytest.mark.parametrize(
    "change",
    [
        "update affiliate set status = 'Paused'",
        "update program set is_active = false",
        "update program set archived_at = now()",
        "update program set suspended_at = now()",
        "update tracking_link set deleted_at = now()",
    ],
)
def test_a_slug_that_cannot_earn_looks_like_none(brand, slug, change):
    brand.rows(f"{change} where organization_id = %s", brand.id)

    answer, nobodys = send(brand, slug), send(brand, "nobody-has-this")

    assert (answer.status_code, answer.json) == (nobodys.status_code, nobodys.json)
    assert (answer.status_code, rows(brand)) == (404, [])


def test_who_is_paused_while_a_lead_is_looked_at_gets_nothing(brand, slug, monkeypatch):
    judge = paid.judge

    def paused_meanwhile(case):
        brand.rows("update affiliate set status = 'Paused' where organization_id = %s", brand.id)
        return judge(case)

    monkeypatch.setattr(paid, "judge", paused_meanwhile)

    assert (send(brand, slug).status_code, rows(brand)) == (404, [])


def test_a_program_id_names_the_campaign(brand, rival, slug):
    theirs = rival.program()
    named = str(brand.programs[-1])

    assert send(brand, slug, programId=named).status_code == 200
    assert send(brand, slug, programId=str(theirs)).status_code == 404
    assert send(brand, slug, programId=str(uuid4())).status_code == 404
    assert send(brand, slug.upper(), programId=None).status_code == 200


@pytest.mark.parametrize(
    "fields",
    [
        {"email": "nobody"},
        {"email": ...},
        {"email": None},
        {"email": 7},
        {"email": "a" * 400 + "@example.com"},
        {"email": "a\x00@example.com"},
        {"slug": ...},
        {"slug": 7},
        {"programId": "no-id"},
        {"programId": 10**18},
        {"name": "x" * 201},
        {"name": ["Ada"]},
        {"name": "a\x00"},
        {"token": ...},
        {"token": ""},
        {"token": "x" * 4097},
        {"token": -1},
    ],
)
def test_what_is_malformed_is_problem_details(brand, slug, fields):
    answer = send(brand, slug, **fields)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == list(fields)
    assert rows(brand) == []


@pytest.mark.parametrize("fields", [{"slug": ""}, {"slug": "x" * 65}, {"slug": "a\x00"}, {"slug": "\u202e"}])
def test_a_slug_that_nobody_can_have_leads_nowhere(brand, fields):
    assert send(brand, "", **fields).status_code == 404


def test_until_the_preview_is_on_a_malformed_lead_finds_nothing_either(brand, slug):
    assert send(brand, slug, email="nobody").status_code == 400
    brand.set(leadPreview="off")

    assert send(brand, slug, email="nobody").status_code == 404


@pytest.mark.parametrize("sent", [b"", b"[]", b"{", b'{"slug": "a", "slug": "b"}', b"\xff"])
def test_what_is_no_json_object_is_problem_details(brand, sent):
    answer = brand.app.test_client().post("/api/v1/lead", data=sent, content_type="application/json")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_who_is_not_verified_is_refused(brand, slug):
    for wrong in ("nonsense", "a.b.c.d", "é.ü", f"{paid_leads.token()}0"):
        answer = send(brand, slug, token=wrong)

        assert (answer.status_code, answer.json["error"], answer.json["field"]) == (
            400,
            "human_verification_failed",
            "token",
        )
    assert rows(brand) == []


def test_without_a_verification_service_it_is_said_what_to_set(brand, slug):
    with paid_leads.verified_by(URL=""):
        answer = send(brand, slug, token="any")

    assert (answer.status_code, answer.json["error"]) == (503, "human_check_not_configured")
    assert "HUMAN_CHECK_URL" in answer.json["message"]
    assert rows(brand) == []


def test_while_the_verification_service_is_away_nothing_is_recorded(brand, slug):
    with paid_leads.verified_by(URL="http://127.0.0.1:9/verify", SECRET="s"):
        answer = send(brand, slug, token="any")

    assert (answer.status_code, answer.json["error"]) == (503, "human_check_unavailable")
    assert rows(brand) == []


def test_a_person_is_one_lead_of_a_campaign_whoever_brought_them(brand, slug):
    other = f"{slug}-2"
    brand.affiliate(other)

    answers = [send(brand, one, email=email) for one in (slug, other) for email in _VARIANTS]

    assert {(answer.status_code, answer.get_data()) for answer in answers} == {(200, b'{"ok":true}')}
    assert len(rows(brand)) == 1


def test_a_lead_that_expired_is_not_paid_for_again(brand, slug):
    send(brand, slug, email="ada@inbox.example.org")
    brand.rows("update lead set state = 'Expired' where organization_id = %s", brand.id)

    send(brand, slug, email="ada@inbox.example.org")

    assert len(rows(brand)) == 1


def test_a_free_signup_of_the_same_person_stays_beside_the_paid_lead(brand, slug):
    brand.signed("/api/tracking/lead", {"affiliateSlug": slug, "email": "ada@inbox.example.org"})
    send(brand, slug, email="ada@inbox.example.org")

    assert rows(brand) == [
        ("Pending", 0, "USD", "attribution_only", "lead_signup"),
        ("Pending", 500, "USD", "payable", "lead_form"),
    ]


def test_the_same_person_twice_at_once_is_one_lead(brand, slug):
    answers = at_once(*[lambda: send(brand, slug, email="ada@inbox.example.org") for _ in range(6)])

    assert {answer.status_code for answer in answers} == {200}
    assert len(rows(brand)) == 1


def test_an_affiliate_is_no_lead_of_their_own(brand, slug):
    address = f"{slug}+me@example.com"

    answers = [send(brand, slug, email=address) for _ in range(2)]

    assert [(answer.status_code, answer.json) for answer in answers] == [(200, {"ok": True})] * 2
    assert rows(brand) == []
    assert fraud_events(brand) == [("blocked", 100, ["self_lead"])]


def test_over_the_daily_cap_a_lead_is_dropped_with_a_fraud_event(brand, slug):
    brand.set(leadsPerDay="2")

    answers = [send(brand, slug) for _ in range(3)]

    assert {answer.get_data() for answer in answers} == {b'{"ok":true}'}
    assert len(rows(brand)) == 2
    assert fraud_events(brand) == [("blocked", 100, ["daily_cap"])]


def test_yesterdays_leads_and_other_affiliates_are_not_in_the_cap(brand, slug):
    brand.set(leadsPerDay="1")
    send(brand, slug)
    brand.rows("update lead set occurred_at = occurred_at - interval '1 day' where organization_id = %s", brand.id)
    other = f"{slug}-2"
    brand.affiliate(other)

    send(brand, slug)
    send(brand, other)

    assert len(rows(brand)) == 3


def test_when_the_budget_is_spent_the_next_lead_is_refused(brand):
    slug = campaign(brand, budget_cents=1_200)

    answers = [send(brand, slug) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 409]
    assert answers[-1].json["error"] == "campaign_budget_reached"
    assert len(rows(brand)) == 2


def test_a_known_person_is_told_the_same_when_the_budget_is_spent(brand):
    slug = campaign(brand, budget_cents=500)
    send(brand, slug, email="ada@inbox.example.org")

    assert send(brand, slug, email="ada@inbox.example.org").status_code == 200
    assert send(brand, slug).status_code == 409


def test_fifty_leads_at_once_never_overshoot_a_budget(brand):
    slug = campaign(brand, budget_cents=3_600)  # room for seven
    people = [(paid_leads.person(), paid_leads.token()) for _ in range(50)]

    calls = [lambda one=one: send(brand, slug, email=one[0], token=one[1]) for one in people]
    answers = [answer for start in range(0, 50, 10) for answer in at_once(*calls[start : start + 10])]

    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [409] * 43
    assert rows(brand) == [("Pending", 500, "USD", "payable", "lead_form")] * 7


def test_a_lead_that_is_denied_makes_room_again(brand):
    slug = campaign(brand, budget_cents=500)
    send(brand, slug)
    ((conversion_id,),) = brand.rows("select id from conversion where organization_id = %s", brand.id)
    assert send(brand, slug).status_code == 409

    brand.person().post(f"/api/conversions/{conversion_id}/deny", {})

    assert send(brand, slug).status_code == 200


def test_a_budget_in_another_currency_without_a_rate_pays_nothing(brand):
    slug = campaign(brand, budget_cents=10**9, budget_currency="MZN")

    assert send(brand, slug).status_code == 409


def test_a_fee_of_zero_needs_no_budget(brand):
    slug = campaign(brand, default_commission_value=Decimal(0), budget_cents=0)

    assert send(brand, slug).status_code == 200
    assert rows(brand) == [("Pending", 0, "USD", "payable", "lead_form")]


def test_a_disposable_address_is_held_without_a_word(brand, slug):
    answer = send(brand, slug, email="ada@mailinator.com")

    assert (answer.status_code, answer.json) == (200, {"ok": True})
    assert rows(brand) == [("Invalidated", 500, "USD", "payable", "lead_form")]
    assert fraud_events(brand) == [("held", 60, ["disposable_domain"])]
    assert brand.rows("select state from lead where organization_id = %s", brand.id) == [("Invalidated",)]
    assert brand.rows("select amount_cents from ledger_entry where organization_id = %s", brand.id) == []


def test_how_strict_the_brand_is_decides(brand, slug):
    for strictness, outcome in (("lenient", "Pending"), ("strict", "Invalidated")):
        brand.set(fraudStrictness=strictness)
        send(brand, slug, email=f"{strictness}@mailinator.com")

        assert rows(brand)[-1][0] == outcome


def test_a_robot_is_blocked_without_a_word(brand, slug):
    answer = send(brand, slug, headers={"User-Agent": "Googlebot/2.1"})

    assert (answer.status_code, answer.json) == (200, {"ok": True})
    assert rows(brand)[0][0] == "Invalidated"
    assert fraud_events(brand) == [("blocked", 100, ["bot_agent"])]


def test_a_lead_from_a_data_centre_is_held(brand, slug, monkeypatch):
    monkeypatch.setattr(networks, "known", lambda: networks.parse("127.0.0.0/8"))

    assert send(brand, slug).json == {"ok": True}
    assert rows(brand)[0][0] == "Invalidated"
    assert fraud_events(brand) == [("held", 50, ["data_centre"])]


def test_an_address_whose_domain_takes_no_mail_speaks_against_a_lead(brand, slug, monkeypatch):
    brand.set(fraudStrictness="strict")
    server = NameServer()
    server.zone = {("takes.example", "MX"): ["10 mx.takes.example."]}
    hosts = mail_domains.MailHosts(mail_domains.resolver_of(server.address))
    monkeypatch.setattr(mail_domains, "_mail_hosts", lambda: hosts)

    send(brand, slug, email="ada@takes.example")
    send(brand, slug, email="ada@missing.example")
    server.close()

    assert [status for status, *_ in rows(brand)] == ["Pending", "Invalidated"]
    assert fraud_events(brand) == [("held", 40, ["no_mx"])]


def test_a_held_lead_takes_nothing_of_the_budget_until_it_is_validated(brand):
    slug = campaign(brand, budget_cents=500)
    send(brand, slug, email="ada@mailinator.com")
    ((held_id,),) = brand.rows("select id from conversion where organization_id = %s", brand.id)
    status = f"/api/v1/programs/{brand.programs[-1]}/budget-status"
    assert brand.get(status).json["spentCents"] == 0

    assert brand.person().post(f"/api/v1/conversions/{held_id}/validate").status_code == 200

    assert brand.get(status).json["spentCents"] == 500
    assert send(brand, slug).status_code == 409
    assert brand.rows("select amount_cents from ledger_entry where organization_id = %s", brand.id) == [(500,)]
    assert brand.rows("select state from lead where organization_id = %s", brand.id) == [("Open",)]


def _clicked(brand, *, agent=BROWSER, score=0, reasons=(), sub_id=None):
    """Let somebody click a minute ago, and the rules have said this of it."""
    ((affiliate_id,),) = brand.rows("select id from affiliate where organization_id = %s", brand.id)
    click_id = program_rows.click(
        brand,
        affiliate_id,
        occurred_at=datetime.now(UTC) - timedelta(minutes=1),
        visitor_hash=bytes.fromhex(visitors.visitor("127.0.0.1", agent)),
        sub_id=sub_id,
        score=score,
    )
    judged = None if reasons is None else list(reasons)
    brand.rows("update click set reasons = %s where id = %s returning id", judged, click_id)


def test_the_verdict_on_the_visitors_click_counts(brand, slug):
    _clicked(brand, score=50, reasons=["data_centre"])

    send(brand, slug)

    assert rows(brand)[0][0] == "Invalidated"
    assert fraud_events(brand) == [("held", 50, ["data_centre"])]


def test_a_lead_has_the_tag_of_the_click_before_it(brand, slug):
    _clicked(brand, score=0, sub_id="news")

    send(brand, slug)

    assert brand.rows("select sub_id from conversion where organization_id = %s", brand.id) == [("news",)]


@pytest.mark.parametrize("click", [{"agent": "Another browser"}, {"reasons": None}])
def test_the_click_of_somebody_else_or_one_that_nobody_judged_counts_for_nothing(brand, slug, click):
    _clicked(brand, **{"score": 90, "reasons": ["headless"]} | click)

    send(brand, slug)

    assert rows(brand)[0][0] == "Pending"


def test_while_the_scorer_is_away_nothing_is_recorded(brand, slug, monkeypatch):
    scorer = fraud_scorer.Scorer("http://127.0.0.1:9/judge", None)
    monkeypatch.setattr(fraud_scorer, "_scorer", lambda: scorer)

    answers = [send(brand, slug), send(brand, slug, email=f"{slug}@example.com")]

    assert {(answer.status_code, answer.json["error"]) for answer in answers} == {(503, "fraud_scoring_unavailable")}
    assert (rows(brand), fraud_events(brand)) == ([], [])


def test_a_spent_budget_is_said_before_anybody_asks_the_scorer(brand, monkeypatch):
    slug = campaign(brand, budget_cents=0)
    scorer = fraud_scorer.Scorer("http://127.0.0.1:9/judge", None)
    monkeypatch.setattr(fraud_scorer, "_scorer", lambda: scorer)

    assert send(brand, slug).status_code == 409


def test_a_rehearsing_affiliate_brings_leads_that_never_count(brand):
    slug = campaign(brand, budget_cents=0)
    brand.rows("update affiliate set is_test = true where organization_id = %s", brand.id)

    assert send(brand, slug).status_code == 200
    assert brand.rows("select is_test from conversion where organization_id = %s", brand.id) == [(True,)]


def test_a_repeated_key_gets_the_first_answer(brand):
    slug = campaign(brand, budget_cents=500)
    key = {"Idempotency-Key": "once"}
    sent = {"email": paid_leads.person(), "token": paid_leads.token()}

    answers = [send(brand, slug, headers=key, **sent) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[1].headers["Idempotency-Replayed"] == "true"
    assert len(rows(brand)) == 1


def test_any_page_may_read_the_answer(brand, slug):
    answer = send(brand, slug, headers={"Origin": "https://shop.example.com"})

    assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.example.com"


def test_the_brand_is_told_of_a_lead_and_of_one_that_is_held(brand, slug, drain, receiver):
    brand.endpoint(receiver.url, ["conversion.created"])
    send(brand, slug)
    send(brand, slug, email="ada@mailinator.com")

    drain()

    told = receiver.of_type("conversion.created")
    assert sorted((one["type"], one["attributionMethod"], one["status"]) for one in told) == [
        ("LeadReward", "lead_form", "Invalidated"),
        ("LeadReward", "lead_form", "Pending"),
    ]
