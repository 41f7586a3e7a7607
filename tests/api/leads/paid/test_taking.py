"""Leads that a campaign pays for. Source: core spec, "Click and lead fraud review" (paid lead) and "Conversion"."""

from decimal import Decimal
from uuid import uuid4

import pytest

from pipelines.leads import paid_leads as paid
from tests.support.api.concurrency import run_concurrently
from tests.support.rows import paid_leads
from tests.support.rows.paid_leads import create_campaign, list_lead_conversions, send_lead

# Of one inbox.
_VARIANTS = ("ada+x@gmail.com", "a.da@gmail.com")


def test_a_lead_earns_the_fee_of_its_campaign(brand, slug):
    answer = send_lead(brand, slug, name="Ada")

    assert (answer.status_code, answer.json) == (200, {"ok": True})
    assert list_lead_conversions(brand) == [("Pending", 500, "USD", "payable", "lead_form")]
    ((earned,),) = brand.rows("select sum(amount_cents) from ledger_entry where organization_id = %s", brand.id)
    assert earned == 500


def test_a_lead_is_listed_with_who_it_is(brand, slug):
    send_lead(brand, slug, email="Ada@Inbox.example.org", name=" Ada ")

    (shown,) = brand.get("/api/v1/conversions?kind=lead").json["items"]
    told = ("type", "amountCents", "commissionCents", "attributionMethod", "customerName")
    assert [shown[name] for name in told] == ["LeadReward", 0, 500, "lead_form", "Ada"]


def test_beside_a_sale_primary_the_bounty_is_paid(brand):
    slug = create_campaign(
        brand,
        default_commission_model="Cps",
        default_commission_type="Percentage",
        default_commission_value=Decimal(20),
        lead_bounty_cents=250,
        lead_bounty_currency="EUR",
    )

    send_lead(brand, slug)

    assert list_lead_conversions(brand) == [("Pending", 250, "EUR", "payable", "lead_form")]


def test_an_affiliates_own_fee_goes_first_on_a_lead_primary(brand):
    slug = create_campaign(brand)
    brand.rows(
        "update affiliate set custom_commission_type = 'Fixed', custom_commission_value = 7,"
        " custom_commission_currency = 'GBP' where organization_id = %s",
        brand.id,
    )

    send_lead(brand, slug)

    assert list_lead_conversions(brand) == [("Pending", 700, "GBP", "payable", "lead_form")]


def test_a_campaign_that_pays_no_leads_records_it_for_nothing(brand):
    slug = create_campaign(
        brand,
        default_commission_model="Cps",
        default_commission_type="Percentage",
        default_commission_value=Decimal(20),
    )

    assert send_lead(brand, slug).status_code == 200
    assert list_lead_conversions(brand) == [("Pending", 0, "USD", "not_paid_on_campaign", "lead_form")]


def test_until_the_preview_is_on_there_is_no_such_address(brand, slug):
    brand.set(leadPreview="off")

    answer = send_lead(brand, slug)

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert list_lead_conversions(brand) == []


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

    answer, nobodys = send_lead(brand, slug), send_lead(brand, "nobody-has-this")

    assert (answer.status_code, answer.json) == (nobodys.status_code, nobodys.json)
    assert (answer.status_code, list_lead_conversions(brand)) == (404, [])


def test_who_is_paused_while_a_lead_is_looked_at_gets_nothing(brand, slug, monkeypatch):
    judge = paid.judge

    def paused_meanwhile(case):
        brand.rows("update affiliate set status = 'Paused' where organization_id = %s", brand.id)
        return judge(case)

    monkeypatch.setattr(paid, "judge", paused_meanwhile)

    assert (send_lead(brand, slug).status_code, list_lead_conversions(brand)) == (404, [])


def test_a_program_id_names_the_campaign(brand, rival, slug):
    theirs = rival.program()
    named = str(brand.programs[-1])

    assert send_lead(brand, slug, programId=named).status_code == 200
    assert send_lead(brand, slug, programId=str(theirs)).status_code == 404
    assert send_lead(brand, slug, programId=str(uuid4())).status_code == 404
    assert send_lead(brand, slug.upper(), programId=None).status_code == 200


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
        {"token": ...},
        {"token": ""},
        {"token": "x" * 4097},
        {"token": -1},
    ],
)
def test_what_is_malformed_is_problem_details(brand, slug, fields):
    answer = send_lead(brand, slug, **fields)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == list(fields)
    assert list_lead_conversions(brand) == []


@pytest.mark.parametrize("fields", [{"slug": ""}, {"slug": "x" * 65}, {"slug": "a\x00"}, {"slug": "\u202e"}])
def test_a_slug_that_nobody_can_have_leads_nowhere(brand, fields):
    assert send_lead(brand, "", **fields).status_code == 404


def test_until_the_preview_is_on_a_malformed_lead_finds_nothing_either(brand, slug):
    assert send_lead(brand, slug, email="nobody").status_code == 400
    brand.set(leadPreview="off")

    assert send_lead(brand, slug, email="nobody").status_code == 404


@pytest.mark.parametrize("sent", [b"", b"[]", b"{", b'{"slug": "a", "slug": "b"}', b"\xff"])
def test_what_is_no_json_object_is_problem_details(brand, sent):
    answer = brand.app.test_client().post("/api/v1/lead", data=sent, content_type="application/json")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_who_is_not_verified_is_refused(brand, slug):
    for wrong in ("nonsense", "a.b.c.d", "é.ü", f"{paid_leads.create_human_token()}0"):
        answer = send_lead(brand, slug, token=wrong)

        assert (answer.status_code, answer.json["error"], answer.json["field"]) == (
            400,
            "human_verification_failed",
            "token",
        )
    assert list_lead_conversions(brand) == []


def test_without_a_verification_service_it_is_said_what_to_set(brand, slug):
    with paid_leads.configure_human_check(URL=""):
        answer = send_lead(brand, slug, token="any")

    assert (answer.status_code, answer.json["error"]) == (503, "human_check_not_configured")
    assert "HUMAN_CHECK_URL" in answer.json["message"]
    assert list_lead_conversions(brand) == []


def test_while_the_verification_service_is_away_nothing_is_recorded(brand, slug):
    with paid_leads.configure_human_check(URL="http://127.0.0.1:9/verify", SECRET="s"):
        answer = send_lead(brand, slug, token="any")

    assert (answer.status_code, answer.json["error"]) == (503, "human_check_unavailable")
    assert list_lead_conversions(brand) == []


def test_a_person_is_one_lead_of_a_campaign_whoever_brought_them(brand, slug):
    other = f"{slug}-2"
    brand.affiliate(other)

    answers = [send_lead(brand, one, email=email) for one in (slug, other) for email in _VARIANTS]

    assert {(answer.status_code, answer.get_data()) for answer in answers} == {(200, b'{"ok":true}')}
    assert len(list_lead_conversions(brand)) == 1


def test_a_lead_that_expired_is_not_paid_for_again(brand, slug):
    send_lead(brand, slug, email="ada@inbox.example.org")
    brand.rows("update lead set state = 'Expired' where organization_id = %s", brand.id)

    send_lead(brand, slug, email="ada@inbox.example.org")

    assert len(list_lead_conversions(brand)) == 1


def test_a_free_signup_of_the_same_person_stays_beside_the_paid_lead(brand, slug):
    brand.post_signed("/api/tracking/lead", {"affiliateSlug": slug, "email": "ada@inbox.example.org"})
    send_lead(brand, slug, email="ada@inbox.example.org")

    assert list_lead_conversions(brand) == [
        ("Pending", 0, "USD", "attribution_only", "lead_signup"),
        ("Pending", 500, "USD", "payable", "lead_form"),
    ]


def test_the_same_person_twice_at_once_is_one_lead(brand, slug):
    answers = run_concurrently(*[lambda: send_lead(brand, slug, email="ada@inbox.example.org") for _ in range(6)])

    assert {answer.status_code for answer in answers} == {200}
    assert len(list_lead_conversions(brand)) == 1


def test_a_rehearsing_affiliate_brings_leads_that_never_count(brand):
    slug = create_campaign(brand, budget_cents=0)
    brand.rows("update affiliate set is_test = true where organization_id = %s", brand.id)

    assert send_lead(brand, slug).status_code == 200
    assert brand.rows("select is_test from conversion where organization_id = %s", brand.id) == [(True,)]


def test_a_repeated_key_gets_the_first_answer(brand):
    slug = create_campaign(brand, budget_cents=500)
    key = {"Idempotency-Key": "once"}
    sent = {"email": paid_leads.unique_person_email(), "token": paid_leads.create_human_token()}

    answers = [send_lead(brand, slug, headers=key, **sent) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[1].headers["Idempotency-Replayed"] == "true"
    assert len(list_lead_conversions(brand)) == 1


def test_any_page_may_read_the_answer(brand, slug):
    answer = send_lead(brand, slug, headers={"Origin": "https://shop.example.com"})

    assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.example.com"


def test_the_brand_is_told_of_a_lead_and_of_one_that_is_held(brand, slug, drain, receiver):
    brand.endpoint(receiver.url, ["conversion.created"])
    send_lead(brand, slug)
    send_lead(brand, slug, email="ada@mailinator.com")

    drain()

    told = receiver.of_type("conversion.created")
    assert sorted((one["type"], one["attributionMethod"], one["status"]) for one in told) == [
        ("LeadReward", "lead_form", "Invalidated"),
        ("LeadReward", "lead_form", "Pending"),
    ]
