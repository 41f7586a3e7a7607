"""Leads from a brand's own servers (tracking spec, "Lead body", "Lead" and section 7)."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.support.rows.leads import LEAD, SIGNED, count_rows, list_lead_emails, post_signed_lead, read_refusal


def test_every_field_is_stored_in_the_lead_and_its_conversion(shop):
    answer = post_signed_lead(
        shop,
        affiliateSlug="BEN",
        email=" Ada.Lovelace+News@Example.com ",
        name=" Ada 王 🎉 ",
        externalEventId=" signup/7 ☕",
        subId="News-Letter_1.a !",
        somethingNew={"is": "tolerated"},
    )

    assert (answer.status_code, sorted(answer.json), answer.json["ok"]) == (200, ["leadId", "ok"], True)
    lead_id = answer.json["leadId"]
    assert shop.rows(
        "select id::text, email, email_normalized, name, external_event_id, sub_id, method, state, is_test,"
        " expires_at - occurred_at from lead"
    ) == [
        (
            lead_id,
            "Ada.Lovelace+News@Example.com",
            "ada.lovelace@example.com",
            "Ada 王 🎉",
            " signup/7 ☕",
            "news-letter_1.a",
            "lead_signup",
            "Open",
            False,
            timedelta(days=90),
        )
    ]
    view = shop.get(f"/api/v1/conversions/{lead_id}").json
    names = (
        *("type", "amountCents", "commissionCents", "currency", "attributionMethod", "payability", "status"),
        *("customerName", "subId"),
    )
    assert [view[name] for name in names] == [
        *("LeadReward", 0, 0, "USD", "lead_signup", "not_paid_on_campaign", "Pending"),
        *("Ada 王 🎉", "news-letter_1.a"),
    ]
    assert view["customerAvatarUrl"].startswith("https://")
    assert shop.rows("select external_event_id, customer_email from conversion") == [
        (" signup/7 ☕", "Ada.Lovelace+News@Example.com")
    ]


@pytest.mark.parametrize("absent", [..., None], ids=["omitted", "null"])
def test_only_slug_and_email_are_required(shop, absent):
    names = ("name", "externalEventId", "subId", "programId")

    answer = post_signed_lead(shop, **dict.fromkeys(names, absent))

    assert answer.status_code == 200
    assert shop.rows("select name, external_event_id, sub_id, event_id from lead") == [
        (None, None, None, f"lead:{answer.json['leadId']}")
    ]


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"affiliateSlug": ..., "email": ...}, "affiliate_slug_required", "affiliateSlug"),
        ({"affiliateSlug": None}, "affiliate_slug_required", "affiliateSlug"),
        ({"affiliateSlug": "  "}, "affiliate_slug_required", "affiliateSlug"),
        ({"email": ...}, "email_required", "email"),
        ({"email": None}, "email_required", "email"),
        ({"email": " "}, "email_required", "email"),
        ({"email": "ada"}, "invalid_email", "email"),
        ({"email": "ada@localhost"}, "invalid_email", "email"),
        ({"email": "ada@@example.com"}, "invalid_email", "email"),
        ({"email": "a da@example.com"}, "invalid_email", "email"),
        ({"email": "Ada <ada@example.com>"}, "invalid_email", "email"),
        ({"email": '"ada lovelace"@example.com'}, "invalid_email", "email"),
        ({"email": "a" * 65 + "@example.com"}, "invalid_email", "email"),
        ({"email": "a@" + ".".join(["b" * 60] * 5) + ".com"}, "invalid_email", "email"),
        ({"email": "ada@example.com, bob@example.com"}, "invalid_email", "email"),
        ({"email": "ada@example.com\nbcc: bob@example.com"}, "invalid_email", "email"),
        ({"affiliateSlug": "nobody"}, "affiliate_not_found", "affiliateSlug"),
        ({"programId": str(uuid4())}, "affiliate_not_found", "affiliateSlug"),
    ],
)
def test_invalid_lead_is_refused_with_its_code(shop, fields, code, field):
    assert read_refusal(post_signed_lead(shop, **fields)) == (400, code, field)
    assert count_rows(shop) == (0, 0)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"affiliateSlug": 7}, "affiliateSlug"),
        ({"affiliateSlug": "b" * 256}, "affiliateSlug"),
        ({"affiliateSlug": "ben\0"}, "affiliateSlug"),
        ({"email": 7}, "email"),
        ({"email": ["ada@example.com"]}, "email"),
        ({"email": "ada\0@example.com"}, "email"),
        ({"email": "a" * 10_000 + "@example.com"}, "email"),
        ({"name": "n" * 10_000}, "name"),
        ({"name": 10**18}, "name"),
        ({"externalEventId": "e" * 513}, "externalEventId"),
        ({"externalEventId": -1}, "externalEventId"),
        ({"subId": True}, "subId"),
        ({"programId": "campaign"}, "programId"),
        ({"programId": 10**18}, "programId"),
    ],
)
def test_malformed_field_is_named_in_problem_details(shop, fields, field):
    answer = post_signed_lead(shop, **fields)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [field]
    assert count_rows(shop) == (0, 0)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"nonsense",
        b"\xff",
        LEAD[:-1],
        b'{"affiliateSlug": "ben", "email": "\\ud800@example.com"}',
        LEAD * 2,
    ],
)
def test_non_object_body_returns_invalid_body(shop, raw):
    answer = shop.post_signed(SIGNED, raw)

    assert read_refusal(answer)[:2] == (400, "invalid_body")


@pytest.mark.parametrize(
    "email", ["ÜNÏ@münchen.example", "ada@xn--mnchen-3ya.example", "a.d'a+{x}@sub.example.com", "a" * 64 + "@e.example"]
)
def test_unusual_valid_address_is_accepted(shop, email):
    assert post_signed_lead(shop, email=email).status_code == 200
    assert list_lead_emails(shop) == [email]


@pytest.mark.parametrize(
    ("columns", "payability"),
    [
        ({}, "not_paid_on_campaign"),
        ({"default_commission_model": "Cpc", "default_commission_type": "Fixed"}, "not_paid_on_campaign"),
        ({"default_commission_model": "Cpl", "default_commission_type": "Fixed"}, "attribution_only"),
        ({"lead_bounty_cents": 500}, "attribution_only"),
    ],
)
def test_free_lead_creates_a_zero_commission_conversion(brand, columns, payability):
    brand.program(**columns)
    brand.affiliate("ben")

    post_signed_lead(brand)

    assert brand.rows("select payability, commission_cents, type, attribution_method from conversion") == [
        (payability, 0, "LeadReward", "lead_signup")
    ]
    assert brand.rows("select count(*) from ledger_entry") == [(0,)]


def test_lead_conversion_is_in_the_home_currency(shop):
    shop.rows("update organization set home_currency = 'EUR' where id = %s returning id", shop.id)

    post_signed_lead(shop)

    assert shop.rows("select currency from conversion") == [("EUR",)]


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_unapproved_affiliate_gets_no_lead(brand, status):
    brand.program()
    brand.affiliate("ben", status=status)

    answer = post_signed_lead(brand)

    assert read_refusal(answer) == (400, "affiliate_not_active", "affiliateSlug")
    assert status in answer.json["message"]
    assert count_rows(brand) == (0, 0)
    assert brand.rows("select count(*) from uncredited_conversion") == [(0,)]


@pytest.mark.parametrize("closed", ["is_active = false", "archived_at = now()", "suspended_at = now()"])
def test_closed_campaign_accepts_no_lead(shop, closed):
    shop.rows(f"update program set {closed} returning id")

    assert read_refusal(post_signed_lead(shop))[:2] == (400, "no_active_program")


def test_removed_affiliate_is_not_found(shop):
    shop.rows("update affiliate set deleted_at = now() returning id")

    assert read_refusal(post_signed_lead(shop))[1] == "affiliate_not_found"


def test_program_id_selects_the_campaign_of_a_shared_slug(brand):
    first, second = brand.program(), brand.program()
    brand.affiliate("ben", program_id=first)
    brand.affiliate("ben", program_id=second)

    post_signed_lead(brand, email="ada@example.com")
    post_signed_lead(brand, email="ada@example.com", programId=str(second))

    assert brand.rows("select program_id from lead order by occurred_at") == [(first,), (second,)]


def test_without_program_id_the_active_campaign_is_used(brand):
    first, second = brand.program(is_active=False), brand.program()
    brand.affiliate("ben", program_id=first)
    brand.affiliate("ben", program_id=second)

    assert post_signed_lead(brand).status_code == 200
    assert brand.rows("select program_id from lead") == [(second,)]


def test_other_tenants_slug_and_campaign_are_not_found(shop, rival):
    rival_program = rival.program()
    rival.affiliate("rita")

    assert read_refusal(post_signed_lead(shop, affiliateSlug="rita"))[1] == "affiliate_not_found"
    assert read_refusal(post_signed_lead(shop, programId=str(rival_program)))[1] == "affiliate_not_found"


def test_brand_receives_one_event_per_lead(shop):
    lead = post_signed_lead(shop, email="ada@example.com", subId="spring")
    post_signed_lead(shop, email="ada@example.com")

    ((body,),) = shop.rows("select body from event where type = 'conversion.created'")
    data = json.loads(body)["data"]
    assert data | {"affiliateId": "", "programId": ""} == {
        "conversionId": lead.json["leadId"],
        "affiliateId": "",
        "programId": "",
        "amountCents": 0,
        "currency": "USD",
        "commissionCents": 0,
        "status": "Pending",
        "externalEventId": f"lead:{lead.json['leadId']}",
        "type": "LeadReward",
        "attributionMethod": "lead_signup",
        "subId": "spring",
    }


def test_affiliate_may_be_their_own_free_lead(shop):
    assert "leadId" in post_signed_lead(shop, email="ben@example.com").json


def test_recruiter_earns_no_override_on_a_lead(brand, drain):
    brand.program(sub_affiliate_enabled=True, sub_affiliate_percent=10)
    rita = brand.affiliate("rita")
    brand.affiliate("ben", recruited_by_affiliate_id=rita)

    post_signed_lead(brand)
    drain()

    assert count_rows(brand) == (1, 1)


def test_conversions_filter_by_kind_lead(shop, drain):
    lead_id = post_signed_lead(shop).json["leadId"]
    shop.sale()
    drain()

    listed = shop.get("/api/v1/conversions?kind=lead").json["items"]

    assert [item["id"] for item in listed] == [lead_id]


def test_test_key_records_separate_test_leads(shop):
    tester = shop.other_key(is_test=True)

    answers = [post_signed_lead(caller, email="ada@example.com").json for caller in (tester, shop, tester, shop)]

    assert ["leadId" in answer for answer in answers] == [True, True, False, False]
    assert shop.rows("select l.is_test, c.is_test from lead l join conversion c using (id) order by 1") == [
        (False, False),
        (True, True),
    ]


def test_test_affiliate_gets_test_leads(brand):
    brand.program()
    brand.affiliate("ben", is_test=True)

    post_signed_lead(brand)

    assert brand.rows("select l.is_test, c.is_test from lead l join conversion c using (id)") == [(True, True)]
