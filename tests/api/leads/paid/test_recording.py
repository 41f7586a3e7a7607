"""Leads that a campaign pays for. Source: core spec, "Click and lead fraud review" (paid lead) and "Conversion"."""

from decimal import Decimal
from uuid import uuid4

import pytest

from pipelines.leads import paid_leads as paid
from tests.support.api.concurrency import run_concurrently
from tests.support.rows import paid_leads
from tests.support.rows.paid_leads import create_campaign, list_lead_conversions, send_lead

# Both reach one inbox.
_VARIANTS = ("ada+x@gmail.com", "a.da@gmail.com")


def test_lead_earns_the_fee_of_its_campaign(brand, slug):
    answer = send_lead(brand, slug, name="Ada")

    assert (answer.status_code, answer.json) == (200, {"ok": True})
    assert list_lead_conversions(brand) == [("Pending", 500, "USD", "payable", "lead_form")]
    ((earned,),) = brand.rows("select sum(amount_cents) from ledger_entry where organization_id = %s", brand.id)
    assert earned == 500


def test_lead_is_listed_with_its_customer_name(brand, slug):
    send_lead(brand, slug, email="Ada@Inbox.example.org", name=" Ada ")

    (view,) = brand.get("/api/v1/conversions?kind=lead").json["items"]
    names = ("type", "amountCents", "commissionCents", "attributionMethod", "customerName")
    assert [view[name] for name in names] == ["LeadReward", 0, 500, "lead_form", "Ada"]


def test_lead_bounty_is_paid_on_a_sale_campaign(brand):
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


def test_affiliates_own_fee_takes_precedence_on_a_lead_campaign(brand):
    slug = create_campaign(brand)
    brand.rows(
        "update affiliate set custom_commission_type = 'Fixed', custom_commission_value = 7,"
        " custom_commission_currency = 'GBP' where organization_id = %s",
        brand.id,
    )

    send_lead(brand, slug)

    assert list_lead_conversions(brand) == [("Pending", 700, "GBP", "payable", "lead_form")]


def test_campaign_without_lead_fee_records_the_lead_at_zero(brand):
    slug = create_campaign(
        brand,
        default_commission_model="Cps",
        default_commission_type="Percentage",
        default_commission_value=Decimal(20),
    )

    assert send_lead(brand, slug).status_code == 200
    assert list_lead_conversions(brand) == [("Pending", 0, "USD", "not_paid_on_campaign", "lead_form")]


def test_lead_returns_404_without_the_preview_flag(brand, slug):
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
def test_inactive_slug_returns_404_like_an_unknown_one(brand, slug, change):
    brand.rows(f"{change} where organization_id = %s", brand.id)

    answer, of_unknown = send_lead(brand, slug), send_lead(brand, "nobody-has-this")

    assert (answer.status_code, answer.json) == (of_unknown.status_code, of_unknown.json)
    assert (answer.status_code, list_lead_conversions(brand)) == (404, [])


def test_affiliate_paused_during_screening_gets_no_lead(brand, slug, monkeypatch):
    judge = paid.judge

    def judge_after_pause(case):
        brand.rows("update affiliate set status = 'Paused' where organization_id = %s", brand.id)
        return judge(case)

    monkeypatch.setattr(paid, "judge", judge_after_pause)

    assert (send_lead(brand, slug).status_code, list_lead_conversions(brand)) == (404, [])


def test_program_id_selects_the_campaign(brand, rival, slug):
    rival_program = rival.program()
    own_program = str(brand.programs[-1])

    assert send_lead(brand, slug, programId=own_program).status_code == 200
    assert send_lead(brand, slug, programId=str(rival_program)).status_code == 404
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
def test_malformed_field_is_problem_details(brand, slug, fields):
    answer = send_lead(brand, slug, **fields)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == list(fields)
    assert list_lead_conversions(brand) == []


@pytest.mark.parametrize("fields", [{"slug": ""}, {"slug": "x" * 65}, {"slug": "a\x00"}, {"slug": "\u202e"}])
def test_impossible_slug_returns_404(brand, fields):
    assert send_lead(brand, "", **fields).status_code == 404


def test_malformed_lead_returns_404_without_the_preview_flag(brand, slug):
    assert send_lead(brand, slug, email="nobody").status_code == 400
    brand.set(leadPreview="off")

    assert send_lead(brand, slug, email="nobody").status_code == 404


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"slug": "a", "slug": "b"}', b"\xff"])
def test_non_object_body_is_problem_details(brand, body):
    answer = brand.app.test_client().post("/api/v1/lead", data=body, content_type="application/json")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_invalid_verification_token_is_refused(brand, slug):
    for invalid_token in ("nonsense", "a.b.c.d", "é.ü", f"{paid_leads.create_human_token()}0"):
        answer = send_lead(brand, slug, token=invalid_token)

        assert (answer.status_code, answer.json["error"], answer.json["field"]) == (
            400,
            "human_verification_failed",
            "token",
        )
    assert list_lead_conversions(brand) == []


def test_missing_verification_service_returns_503_naming_the_setting(brand, slug):
    with paid_leads.configure_human_check(URL=""):
        answer = send_lead(brand, slug, token="any")

    assert (answer.status_code, answer.json["error"]) == (503, "human_check_not_configured")
    assert "HUMAN_CHECK_URL" in answer.json["message"]
    assert list_lead_conversions(brand) == []


def test_lead_is_refused_while_the_verification_service_is_unavailable(brand, slug):
    with paid_leads.configure_human_check(URL="http://127.0.0.1:9/verify", SECRET="s"):
        answer = send_lead(brand, slug, token="any")

    assert (answer.status_code, answer.json["error"]) == (503, "human_check_unavailable")
    assert list_lead_conversions(brand) == []


def test_person_is_one_lead_of_a_campaign_across_affiliates(brand, slug):
    other = f"{slug}-2"
    brand.affiliate(other)

    answers = [send_lead(brand, affiliate_slug, email=email) for affiliate_slug in (slug, other) for email in _VARIANTS]

    assert {(answer.status_code, answer.get_data()) for answer in answers} == {(200, b'{"ok":true}')}
    assert len(list_lead_conversions(brand)) == 1


def test_expired_lead_is_not_paid_again(brand, slug):
    send_lead(brand, slug, email="ada@inbox.example.org")
    brand.rows("update lead set state = 'Expired' where organization_id = %s", brand.id)

    send_lead(brand, slug, email="ada@inbox.example.org")

    assert len(list_lead_conversions(brand)) == 1


def test_free_signup_of_the_same_person_is_kept_with_the_paid_lead(brand, slug):
    brand.post_signed("/api/tracking/lead", {"affiliateSlug": slug, "email": "ada@inbox.example.org"})
    send_lead(brand, slug, email="ada@inbox.example.org")

    assert list_lead_conversions(brand) == [
        ("Pending", 0, "USD", "attribution_only", "lead_signup"),
        ("Pending", 500, "USD", "payable", "lead_form"),
    ]


def test_concurrent_leads_of_one_person_are_one_lead(brand, slug):
    answers = run_concurrently(*[lambda: send_lead(brand, slug, email="ada@inbox.example.org") for _ in range(6)])

    assert {answer.status_code for answer in answers} == {200}
    assert len(list_lead_conversions(brand)) == 1


def test_test_affiliate_brings_test_leads_only(brand):
    slug = create_campaign(brand, budget_cents=0)
    brand.rows("update affiliate set is_test = true where organization_id = %s", brand.id)

    assert send_lead(brand, slug).status_code == 200
    assert brand.rows("select is_test from conversion where organization_id = %s", brand.id) == [(True,)]


def test_repeated_idempotency_key_returns_the_first_response(brand):
    slug = create_campaign(brand, budget_cents=500)
    key = {"Idempotency-Key": "once"}
    fields = {"email": paid_leads.unique_person_email(), "token": paid_leads.create_human_token()}

    answers = [send_lead(brand, slug, headers=key, **fields) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[1].headers["Idempotency-Replayed"] == "true"
    assert len(list_lead_conversions(brand)) == 1


def test_any_origin_may_read_the_response(brand, slug):
    answer = send_lead(brand, slug, headers={"Origin": "https://shop.example.com"})

    assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.example.com"


def test_brand_receives_webhooks_of_payable_and_held_leads(brand, slug, drain, receiver):
    brand.endpoint(receiver.url, ["conversion.created"])
    send_lead(brand, slug)
    send_lead(brand, slug, email="ada@mailinator.com")

    drain()

    conversions = receiver.of_type("conversion.created")
    assert sorted(
        (conversion["type"], conversion["attributionMethod"], conversion["status"]) for conversion in conversions
    ) == [
        ("LeadReward", "lead_form", "Invalidated"),
        ("LeadReward", "lead_form", "Pending"),
    ]
