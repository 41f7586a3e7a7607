"""Conversions recorded by hand, through HTTP. Source: core spec, "Conversions" (manual conversion)."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from tests.support import books
from tests.support.api.concurrency import run_concurrently
from tests.support.recruits import Recruits
from tests.support.rows.brands import Brand

URL = "/api/v1/conversions"
_MAX_CENTS = 1_000_000_000_000


def _build_body(brand, **fields):
    body = {
        "programId": str(brand.programs[-1]),
        "affiliateId": str(brand.rows("select id from affiliate order by created_at desc limit 1")[0][0]),
        "amountCents": 10_000,
    } | fields
    return {name: value for name, value in body.items() if value is not ...}


def _post(brand, **fields):
    return brand.post(URL, _build_body(brand, **fields))


def _post_bonus(brand, **fields):
    return _post(brand, **{"kind": "bonus", "amountCents": ..., "commissionCents": 500} | fields)


def test_sale_is_priced_by_the_engine(campaign):
    answer = _post(campaign, note=" Sold at the fair ")

    conversion = answer.json["conversion"]
    assert (answer.status_code, answer.json["note"]) == (201, "Sold at the fair")
    expected = {
        "amountCents": 10_000, "currency": "USD", "commissionCents": 2_000, "status": "Pending", "type": "OneTime",
        "attributionMethod": "manual", "externalEventId": f"manual:{conversion['id']}", "payability": "payable",
        "parentAffiliateConversionId": None, "locked": False,
    }  # fmt: skip
    assert {name: conversion[name] for name in expected} == expected
    detail = campaign.get(f"{URL}/{conversion['id']}").json
    assert {name: detail[name] for name in conversion} == conversion
    assert [(line["eventType"], line["commissionCents"]) for line in detail["events"]] == [("initial", 2_000)]


def test_bonus_has_a_commission_and_no_amount(campaign):
    conversion = _post_bonus(campaign).json["conversion"]

    assert (conversion["amountCents"], conversion["commissionCents"], conversion["type"], conversion["status"]) == (
        0,
        500,
        "Bonus",
        "Pending",
    )


def test_sale_uses_and_records_the_affiliates_custom_rate(campaign):
    campaign.affiliate("cleo", custom_commission_type="Fixed", custom_commission_value=Decimal("7.5"))

    assert _post(campaign).json["conversion"]["commissionCents"] == 750
    assert campaign.rows("select source, rate_source, rate_type, rate_value::text from conversion") == [
        ("manual", "affiliate", "Fixed", "7.500000")
    ]


def test_given_commission_replaces_the_computed_one(campaign):
    conversion = _post(campaign, commissionCents=50_000).json["conversion"]

    assert conversion["commissionCents"] == 50_000
    assert campaign.rows("select rate_source, rate_type from conversion") == [("manual", None)]
    assert _post(campaign, commissionCents=0).json["conversion"]["commissionCents"] == 0


def test_commission_is_in_the_ledger_and_the_invariants_hold(campaign, drain):
    _post(campaign)
    _post_bonus(campaign)
    drain()

    assert campaign.rows("select kind, amount_cents from ledger_entry order by 2") == [("earn", 500), ("earn", 2_000)]
    assert books.list_violations(campaign.id) == []


@pytest.mark.parametrize("fields", [{}, {"kind": "bonus", "amountCents": ..., "commissionCents": 2_000}])
def test_recruiter_gets_an_override(brand, drain, fields):
    recruits = Recruits.create(brand)
    conversion = _post(brand, affiliateId=str(recruits.ben), **fields).json["conversion"]
    drain()

    assert recruits.overrides("parent_id::text, commission_cents") == [(conversion["id"], 200)]
    assert books.list_violations(brand.id) == []


def test_manual_conversion_sends_an_event(campaign):
    conversion = _post(campaign).json["conversion"]

    ((body,),) = campaign.rows("select body from event where type = 'conversion.created'")
    data = json.loads(body)["data"]
    assert data == {
        "conversionId": conversion["id"],
        "affiliateId": conversion["affiliateId"],
        "programId": conversion["programId"],
        "amountCents": 10_000,
        "currency": "USD",
        "commissionCents": 2_000,
        "status": "Pending",
        "externalEventId": conversion["externalEventId"],
        "type": "OneTime",
        "attributionMethod": "manual",
    }


def test_backdated_sale_is_held_from_its_occurrence(campaign):
    occurred = datetime.now(UTC).replace(microsecond=0) - timedelta(days=40)

    conversion = _post(campaign, occurredAt=occurred.isoformat()).json["conversion"]

    assert datetime.fromisoformat(conversion["occurredAt"]) == occurred
    assert datetime.fromisoformat(conversion["createdAt"]) > occurred + timedelta(days=39)
    assert campaign.rows("select hold_until from conversion") == [(occurred + timedelta(days=30),)]
    assert conversion["status"] == "Pending"


def test_missing_currency_defaults_to_the_home_currency(campaign):
    campaign.rows("update organization set home_currency = 'EUR' returning 1")

    assert _post(campaign).json["conversion"]["currency"] == "EUR"
    assert _post(campaign, currency=" ").json["conversion"]["currency"] == "EUR"
    assert _post(campaign, currency="jpy").json["conversion"]["currency"] == "JPY"
    assert _post(campaign, currency="ANG").json["conversion"]["currency"] == "XCG"


def test_sale_sets_customer_avatar_and_counts_as_their_payment(campaign):
    conversion = _post(campaign, customerEmail=" C@X.test ").json["conversion"]

    assert conversion["customerAvatarUrl"].startswith("https://")
    assert campaign.rows("select customer_email from conversion") == [("c@x.test",)]
    assert campaign.rows("select customer_key, payments from program_customer") == [("email:c@x.test", 1)]


def test_bonus_does_not_count_as_a_customer_payment(campaign):
    assert _post_bonus(campaign, customerEmail="c@x.test").status_code == 201

    assert campaign.rows("select count(*) from program_customer") == [(0,)]


@pytest.mark.parametrize(
    ("note", "trimmed"),
    [(None, None), ("", None), ("  ", None), ("ü😀", "ü😀"), (f"  {'x' * 1_200}", "x" * 1_000), (..., None)],
)
def test_note_is_trimmed_and_returned(campaign, note, trimmed):
    answer = _post(campaign, note=note)

    assert (answer.status_code, answer.json["note"]) == (201, trimmed)


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"amountCents": ...}, "amount_out_of_range", "amountCents"),
        ({"amountCents": None}, "amount_out_of_range", "amountCents"),
        ({"amountCents": 0}, "amount_out_of_range", "amountCents"),
        ({"amountCents": -1}, "amount_out_of_range", "amountCents"),
        ({"amountCents": _MAX_CENTS + 1}, "amount_out_of_range", "amountCents"),
        ({"amountCents": 10**18}, "amount_out_of_range", "amountCents"),
        ({"amountCents": 10**30}, "amount_out_of_range", "amountCents"),
        ({"commissionCents": -1}, "commission_out_of_range", "commissionCents"),
        ({"commissionCents": 50_001}, "commission_exceeds_cap", "commissionCents"),
        ({"commissionCents": 10**18}, "commission_exceeds_cap", "commissionCents"),
        ({"currency": "XXX"}, "unsupported_currency", "currency"),
        ({"currency": "USDT"}, "unsupported_currency", "currency"),
        ({"currency": "ü"}, "unsupported_currency", "currency"),
        ({"kind": "bonus", "commissionCents": 5}, "bonus_has_no_amount", "amountCents"),
        ({"kind": "bonus", "amountCents": 0, "commissionCents": 5}, "bonus_has_no_amount", "amountCents"),
        ({"kind": "bonus", "amountCents": ...}, "commission_out_of_range", "commissionCents"),
        ({"kind": "bonus", "amountCents": ..., "commissionCents": 0}, "commission_out_of_range", "commissionCents"),
        ({"kind": "bonus", "amountCents": ..., "commissionCents": _MAX_CENTS + 1}, "commission_out_of_range",
            "commissionCents"),
        ({"occurredAt": "2999-01-01"}, "occurred_at_out_of_range", "occurredAt"),
        ({"occurredAt": "2001-01-01"}, "occurred_at_out_of_range", "occurredAt"),
        ({"affiliateId": str(uuid4())}, "affiliate_not_in_program", "affiliateId"),
    ],
)  # fmt: skip
def test_out_of_range_field_is_named(campaign, fields, code, field):
    answer = _post(campaign, **fields)

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, code, field)
    assert campaign.rows("select count(*) from conversion") == [(0,)]


@pytest.mark.parametrize("amounts", [{"amountCents": _MAX_CENTS}, {"amountCents": 1, "commissionCents": 5}])
def test_range_limits_are_inclusive(campaign, amounts):
    assert _post(campaign, **amounts).status_code == 201


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("programId", ...),
        ("programId", "x"),
        ("affiliateId", None),
        ("affiliateId", 7),
        ("kind", "lead"),
        ("amountCents", "100"),
        ("amountCents", 10.5),
        ("amountCents", True),
        ("commissionCents", "1"),
        ("currency", 7),
        ("currency", "U\x00D"),
        ("customerEmail", "nobody"),
        ("occurredAt", "yesterday"),
        ("occurredAt", 7),
        ("note", 7),
        ("note", "a\x00"),
    ],
)
def test_malformed_field_returns_problem_details(campaign, field, value):
    answer = _post(campaign, **{field: value})

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [field]


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_unapproved_affiliate_is_refused(campaign, status):
    campaign.affiliate("cleo", status=status)

    answer = _post(campaign)

    assert (answer.status_code, answer.json["error"]) == (409, "affiliate_not_approved")


def test_test_affiliate_is_refused(campaign):
    campaign.affiliate("cleo", is_test=True)

    answer = _post(campaign)

    assert (answer.status_code, answer.json["error"]) == (400, "test_affiliate_not_allowed")


def test_affiliate_of_another_program_or_tenant_is_refused(campaign, rival):
    ben = campaign.rows("select id from affiliate")[0][0]
    campaign.program()
    campaign.affiliate("cleo")
    rival.program()
    other_tenants = rival.affiliate("ben")
    deleted = campaign.affiliate("dora", deleted_at=datetime.now(UTC))

    for affiliate_id in (ben, other_tenants, deleted):
        answer = _post(campaign, affiliateId=str(affiliate_id))
        assert (answer.status_code, answer.json["error"]) == (400, "affiliate_not_in_program")


def test_other_tenants_program_returns_404(campaign, rival):
    program_id = rival.program()

    answer = _post(campaign, programId=str(program_id))

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_suspended_or_archived_campaign_is_refused(campaign):
    campaign.program(suspended_at=datetime.now(UTC))
    campaign.affiliate("cleo")
    suspended = _post(campaign)
    campaign.program(archived_at=datetime.now(UTC))
    campaign.affiliate("dora")
    archived = _post(campaign)

    assert (suspended.status_code, suspended.json["error"]) == (409, "program_suspended")
    assert (archived.status_code, archived.json["error"]) == (400, "no_active_program")


def test_click_campaign_pays_the_given_commission_for_a_sale(campaign):
    campaign.program(
        default_commission_model="Cpc", default_commission_type="Fixed", default_commission_value=Decimal("0.1")
    )
    campaign.affiliate("cleo")

    refused = _post(campaign)

    assert (refused.status_code, refused.json["error"]) == (400, "not_a_sale_campaign")
    assert _post(campaign, commissionCents=70).json["conversion"]["commissionCents"] == 70
    assert _post_bonus(campaign).status_code == 201


def test_only_requests_with_one_idempotency_key_create_one_conversion(campaign):
    body = _build_body(campaign)
    first, second = campaign.post(URL, body), campaign.post(URL, body)
    keyed = run_concurrently(*[lambda: campaign.post(URL, body, Idempotency_Key="k")] * 2)

    assert first.json["conversion"]["id"] != second.json["conversion"]["id"]
    assert [answer.status_code for answer in keyed] == [201, 201]
    assert keyed[0].json == keyed[1].json
    assert campaign.rows("select count(*) from conversion") == [(3,)]


def test_test_key_writes_test_rows(campaign):
    body = _build_body(campaign)
    campaign.other_key(is_test=True).post(URL, body)

    assert campaign.rows("select is_test from conversion") == [(True,)]
    assert campaign.rows("select is_test from ledger_entry") == [(True,)]
    assert campaign.rows("select count(*) from affiliate_revenue") == [(0,)]


def test_manual_conversion_is_audited_with_its_note(campaign):
    conversion = _post(campaign, note="Why").json["conversion"]

    assert campaign.rows("select action, entity_id, before, after from audit_entry") == [
        ("conversion.manual_created", conversion["id"], None, conversion | {"note": "Why"})
    ]


def test_creation_needs_a_manager_or_a_write_key_and_a_plan(app, campaign):
    body = _build_body(campaign)
    unverified = campaign.person("Manager", email="new@example.com", is_email_verified=False)
    refused = unverified.post(URL, body)
    free = Brand.create(app, plan="Free")

    assert (refused.status_code, refused.json["error"]) == (403, "email_verification_required")
    assert campaign.person("Viewer").post(URL, body).status_code == 403
    assert "read_write" in campaign.other_key(scope="read").post(URL, body).json["message"]
    assert campaign.person("Manager").post(URL, body).status_code == 201
    assert campaign.post(URL, body).status_code == 201
    answer = free.post(URL, body)
    assert answer.status_code == 402
    assert set(answer.json) == {"error", "message", "required", "current", "trialing", "doc_url"}
