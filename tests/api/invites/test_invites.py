"""Inviting one person, through HTTP. Source: core spec, "Affiliate invites"."""

import hashlib
import re
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.api.invite_requests import (
    URL,
    accept_invite,
    create_pending_invites,
    expire_invite,
    invite,
    list_audit_entries,
    list_emails,
    list_invites,
    token_from_invite,
    unique_email,
    unique_slug,
)

_SECRET_LESS = ("id", "expiresAt", "sentAt", "createdAt")


def test_new_invite_is_pending_and_returned_with_its_link(campaign):
    email, slug = unique_email(), unique_slug()

    answer = invite(
        campaign,
        email=email.upper(),
        fullName=" Ada Lovelace ",
        slug=slug,
        personalNoteHtml="<p>Hi</p>",
        customCommissionType="Percentage",
        customCommissionValue=12.5,
        autoApprove=False,
    )

    assert (answer.status_code, set(answer.json)) == (201, {"invite", "acceptUrl"})
    view = answer.json["invite"]
    assert {name: value for name, value in view.items() if name not in _SECRET_LESS} == {
        "programId": str(campaign.programs[-1]),
        "programName": "Spring",
        "email": email,
        "fullName": "Ada Lovelace",
        "slug": slug,
        "state": "Pending",
        "acceptedAt": None,
        "affiliateId": None,
        "autoApprove": False,
        "customCommissionType": "Percentage",
        "customCommissionValue": 12.5,
        "personalNoteHtml": "<p>Hi</p>",
    }
    lasts = datetime.fromisoformat(view["expiresAt"]) - datetime.fromisoformat(view["createdAt"])
    assert lasts == timedelta(days=14)
    assert view["sentAt"] == view["createdAt"]


def test_invite_with_only_email_and_program_has_default_fields(campaign):
    view = invite(campaign).json["invite"]

    assert (view["fullName"], view["slug"], view["personalNoteHtml"], view["customCommissionType"]) == (
        "",
        None,
        None,
        None,
    )
    assert view["autoApprove"] is True


@pytest.mark.parametrize("empty", ["fullName", "slug", "personalNoteHtml", "autoApprove", "customCommissionType"])
def test_null_counts_as_not_sent(campaign, empty):
    default, with_null = invite(campaign).json["invite"], invite(campaign, **{empty: None}).json["invite"]

    assert with_null[empty] == default[empty]


def test_link_contains_32_random_bytes_stored_only_as_a_hash(campaign):
    answers = [invite(campaign), invite(campaign)]

    tokens = [token_from_invite(answer) for answer in answers]
    assert all(
        re.fullmatch(r"http://127\.0\.0\.1:8000/invites/[\w-]{43}", answer.json["acceptUrl"]) for answer in answers
    )
    assert len(set(tokens)) == 2
    stored_hashes = {bytes(token_hash) for (token_hash,) in list_invites(campaign, "token_hash")}
    assert stored_hashes == {hashlib.sha256(token.encode()).digest() for token in tokens}
    for table in ("affiliate_invite", "audit_entry", "mail_message", "stored_answer", "job", "event"):
        stored = str(campaign.rows(f"select to_jsonb(t) from {table} t"))
        assert not any(token in stored for token in tokens), table


def test_keys_and_managers_may_invite_on_every_plan(campaign):
    campaign.set(plan="Free", status="Canceled")

    answers = [invite(campaign)] + [invite(campaign.person(role)) for role in ("Manager", "Admin", "Owner")]

    assert [answer.status_code for answer in answers] == [201] * 4
    by_role = campaign.rows("select m.role from affiliate_invite i join member m on m.id = i.invited_by order by i.id")
    assert sorted(by_role) == [("Admin",), ("Manager",), ("Owner",), ("Owner",)]


def test_caller_without_write_access_cannot_invite(campaign):
    read_only, viewer, unverified = (
        campaign.other_key(scope="read"),
        campaign.person("Viewer"),
        campaign.person("Owner", is_email_verified=False),
    )
    read_only.programs = campaign.programs

    answers = [invite(caller) for caller in (read_only, viewer, unverified)]

    assert [(answer.status_code, answer.json["error"]) for answer in answers] == [
        (403, "forbidden"),
        (403, "forbidden"),
        (403, "email_verification_required"),
    ]
    assert "read_write" in answers[0].json["message"]
    assert "Manager" in answers[1].json["message"]
    assert list_invites(campaign, "id") == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"email": ...}, "email"),
        ({"email": None}, "email"),
        ({"email": ""}, "email"),
        ({"email": "ada"}, "email"),
        ({"email": "ada@localhost"}, "email"),
        ({"email": "ada@example.com\r\nBcc: eve@example.com"}, "email"),
        ({"email": "ada@example.com\x00"}, "email"),
        ({"email": "a" * 400 + "@example.com"}, "email"),
        ({"email": 5}, "email"),
        ({"email": ["ada@example.com"]}, "email"),
        ({"programId": ...}, "programId"),
        ({"programId": None}, "programId"),
        ({"programId": "spring"}, "programId"),
        ({"programId": 10**18}, "programId"),
        ({"slug": "ab"}, "slug"),
        ({"slug": "x" * 65}, "slug"),
        ({"slug": "-ada"}, "slug"),
        ({"slug": "ada-"}, "slug"),
        ({"slug": "Ada"}, "slug"),
        ({"slug": "ada_b"}, "slug"),
        ({"slug": "ädä"}, "slug"),
        ({"slug": "ada\n"}, "slug"),
        ({"slug": "ada\x00"}, "slug"),
        ({"slug": 555}, "slug"),
        ({"fullName": "x" * 201}, "fullName"),
        ({"fullName": "a\x00"}, "fullName"),
        ({"fullName": 7}, "fullName"),
        ({"personalNoteHtml": "x" * 10_001}, "personalNoteHtml"),
        ({"personalNoteHtml": "a\x00"}, "personalNoteHtml"),
        ({"personalNoteHtml": {"a": 1}}, "personalNoteHtml"),
        ({"autoApprove": "yes"}, "autoApprove"),
        ({"autoApprove": 1}, "autoApprove"),
        ({"customCommissionType": "Percentage"}, "customCommissionValue"),
        ({"customCommissionValue": 5}, "customCommissionType"),
        ({"customCommissionType": "Percent", "customCommissionValue": 5}, "customCommissionType"),
        ({"customCommissionType": "Fixed", "customCommissionValue": "5"}, "customCommissionValue"),
        ({"customCommissionType": "Fixed", "customCommissionValue": 0.0000001}, "customCommissionValue"),
    ],
)
def test_error_names_the_invalid_field(campaign, fields, field):
    answer = invite(campaign, **fields)

    assert (answer.status_code, answer.content_type) == (400, "application/json")
    assert (answer.json["error"], answer.json["field"]) == ("validation_failed", field)
    assert answer.json["message"]
    assert list_invites(campaign, "id") == []


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"a"', b"\xff"])
def test_non_object_body_returns_400(campaign, body):
    answer = campaign.call("POST", URL, body)

    assert (answer.status_code, answer.json["error"]) == (400, "validation_failed")


@pytest.mark.parametrize(
    ("terms", "code", "field"),
    [
        (("Percentage", 100.5), "percentage_out_of_range", "customCommissionValue"),
        (("Percentage", -1), "percentage_out_of_range", "customCommissionValue"),
        (("Fixed", -1), "fixed_commission_out_of_range", "customCommissionValue"),
        (("Fixed", 10**18), "fixed_commission_out_of_range", "customCommissionValue"),
    ],
)
def test_out_of_range_commission_is_refused(campaign, terms, code, field):
    type, value = terms

    answer = invite(campaign, customCommissionType=type, customCommissionValue=value)

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, code, field)


def test_percentage_is_refused_on_a_click_campaign(brand):
    brand.program(default_commission_model="Cpc", default_commission_type="Fixed", default_commission_value=1)

    percentage = invite(brand, customCommissionType="Percentage", customCommissionValue=5)
    too_much = invite(brand, customCommissionType="Fixed", customCommissionValue=1001)

    assert [answer.json["error"] for answer in (percentage, too_much)] == [
        "invalid_commission_type",
        "unit_fee_out_of_range",
    ]


def test_other_tenants_program_is_refused_like_an_unknown_one(campaign, rival):
    of_rival, of_unknown = invite(campaign, programId=str(rival.program())), invite(campaign, programId=str(uuid4()))

    assert (of_rival.status_code, of_rival.json["error"]) == (400, "validation_failed")
    assert (of_unknown.status_code, of_unknown.json["error"]) == (400, "validation_failed")


@pytest.mark.parametrize("column", ["archived_at = now()", "suspended_at = now()", "is_active = false"])
def test_invite_to_an_inactive_program_returns_409(campaign, column):
    campaign.rows(f"update program set {column} returning id")

    answer = invite(campaign)

    assert (answer.status_code, answer.json["error"]) == (409, "program_inactive")


def test_existing_affiliate_cannot_be_invited(campaign):
    campaign.affiliate(unique_slug(), email="ada@example.com")
    other_program = campaign.program()

    answer = invite(campaign, email="ADA@example.com", programId=str(campaign.programs[0]))

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (
        409,
        "affiliate_already_exists",
        "email",
    )
    assert invite(campaign, email="ada@example.com", programId=str(other_program)).status_code == 201


def test_concurrent_invites_stay_within_500_pending(campaign):
    create_pending_invites(campaign, 498)

    answers = run_concurrently(*[lambda: invite(campaign)] * 4)

    assert sorted(answer.status_code for answer in answers) == [201, 201, 409, 409]
    assert {answer.json["error"] for answer in answers if answer.status_code == 409} == {
        "pending_invites_limit_reached"
    }
    assert campaign.rows("select count(*) from affiliate_invite where state = 'Pending'") == [(500,)]


def test_replaced_expired_and_accepted_invites_free_pending_capacity(campaign):
    create_pending_invites(campaign, 499)
    last = invite(campaign, email="last@example.com")
    over_limit = invite(campaign)
    replacing = invite(campaign, email="last@example.com")
    expire_invite(campaign, replacing.json["invite"]["id"])
    after_expiry = invite(campaign)
    accept_invite(campaign, token_from_invite(after_expiry))
    after_accepting = invite(campaign)

    assert [answer.status_code for answer in (last, over_limit, replacing, after_expiry, after_accepting)] == [
        201,
        409,
        201,
        201,
        201,
    ]


def test_pending_limit_is_per_organization(campaign, rival):
    create_pending_invites(campaign, 500)
    rival.program()

    assert invite(rival).status_code == 201
    assert invite(campaign).status_code == 409


def test_repeated_idempotency_key_invites_once(campaign):
    body = {"programId": str(campaign.programs[-1]), "email": unique_email()}

    first = campaign.post(URL, body, Idempotency_Key="once")
    again = campaign.post(URL, body, Idempotency_Key="once")

    assert again.json == first.json
    assert again.headers["Idempotency-Replayed"] == "true"
    assert len(list_invites(campaign, "id")) == len(list_emails(campaign)) == 1


def test_audit_entry_equals_the_returned_invite(campaign):
    view = invite(campaign).json["invite"]

    assert list_audit_entries(campaign) == [("affiliate_invite.created", view["id"], None, view)]


@pytest.mark.parametrize(
    ("note", "sanitized"),
    [
        ("<p>Hi <script>alert(1)</script><b>you</b></p>", "<p>Hi <b>you</b></p>"),
        ('<a href="javascript:alert(1)">x</a>', "<a>x</a>"),
        ('<a href="{{brand.name}}">x</a>', "<a>x</a>"),
        ('<img src=x onerror="alert(1)">', None),
        ("   ", None),
        ("{{ affiliate.firstName }}", "{{ affiliate.firstName }}"),
        ("ünï ✓ 王", "ünï ✓ 王"),
    ],
)
def test_harmful_html_is_removed_from_the_note(campaign, note, sanitized):
    assert invite(campaign, personalNoteHtml=note).json["invite"]["personalNoteHtml"] == sanitized
    assert list_invites(campaign, "personal_note_html") == [(sanitized,)]


def test_note_of_maximum_length_is_accepted_in_any_script(campaign):
    assert invite(campaign, personalNoteHtml="😀" * 10_000).status_code == 201


def test_invite_by_a_test_key_creates_a_test_affiliate(campaign):
    test_key = campaign.other_key(is_test=True)
    test_key.programs = campaign.programs

    accept_invite(campaign, token_from_invite(invite(test_key)))
    accept_invite(campaign, token_from_invite(invite(campaign)))

    assert campaign.rows("select is_test from affiliate order by created_at") == [(True,), (False,)]


def test_other_tenants_invite_is_invisible(campaign, rival):
    rival.program()
    invite(rival)

    assert list_invites(campaign, "id") == []
