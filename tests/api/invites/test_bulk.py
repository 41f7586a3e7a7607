"""Inviting many people in one call, through HTTP. Source: core spec, "Affiliate invites"."""

from uuid import uuid4

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.api.invite_requests import (
    URL,
    create_pending_invites,
    invite,
    list_audit_entries,
    list_emails,
    list_invites,
    unique_email,
    unique_slug,
)
from tests.support.api.lists import count_round_trips
from tests.support.switches.brought_rows import add_old_token

BULK = f"{URL}/bulk"


def _post_bulk(brand, *recipients, **fields):
    body = {"programId": str(brand.programs[-1]), "recipients": list(recipients)} | fields
    return brand.post(BULK, {name: value for name, value in body.items() if value is not ...})


def test_every_recipient_is_invited_with_the_same_note(campaign):
    people = [
        {"email": unique_email("ada"), "fullName": " Ada L. ", "slug": unique_slug("ada")},
        {"email": unique_email("ben").upper(), "fullName": None, "slug": None},
    ]

    answer = _post_bulk(campaign, *people, personalNoteHtml="<p>Hi<script></script></p>", autoApprove=False)

    assert (answer.status_code, set(answer.json)) == (201, {"created", "skipped", "invites", "slugConflicts"})
    assert (answer.json["created"], answer.json["skipped"], answer.json["slugConflicts"]) == (2, 0, [])
    assert [(item["email"], item["fullName"], item["slug"]) for item in answer.json["invites"]] == [
        (people[0]["email"], "Ada L.", people[0]["slug"]),
        (people[1]["email"].lower(), "", None),
    ]
    for item in answer.json["invites"]:
        assert (item["personalNoteHtml"], item["autoApprove"], item["state"]) == ("<p>Hi</p>", False, "Pending")
        assert item["programName"] == "Spring"
    assert "acceptUrl" not in answer.get_data(as_text=True)
    assert sorted(email.message.recipient for email in list_emails(campaign)) == sorted(
        person["email"].lower() for person in people
    )


def test_each_invite_is_audited(campaign):
    created = _post_bulk(campaign, {"email": unique_email()}, {"email": unique_email()}).json["invites"]

    entries = list_audit_entries(campaign)
    assert {action for action, *_ in entries} == {"affiliate_invite.created"}
    assert sorted((after for *_, after in entries), key=lambda after: after["id"]) == sorted(
        created, key=lambda invite: invite["id"]
    )


def test_email_list_is_accepted(campaign):
    emails = [unique_email(), unique_email()]

    answer = _post_bulk(campaign, recipients=..., emails=emails)

    assert (answer.status_code, answer.json["created"]) == (201, 2)
    assert [item["email"] for item in answer.json["invites"]] == emails


def test_recipients_take_precedence_over_emails(campaign):
    email = unique_email()

    answer = _post_bulk(campaign, {"email": email}, emails=["nonsense", 5])

    assert (answer.status_code, [item["email"] for item in answer.json["invites"]]) == (201, [email])
    assert _post_bulk(campaign, recipients=None, emails=[unique_email()]).status_code == 201


def test_duplicate_and_existing_recipients_are_skipped(campaign):
    existing_email, repeated_email, new_email = unique_email("here"), unique_email("twice"), unique_email("once")
    campaign.affiliate(unique_slug(), email=existing_email)

    answer = _post_bulk(
        campaign,
        {"email": existing_email},
        {"email": repeated_email, "fullName": "First"},
        {"email": repeated_email.upper(), "fullName": "Second"},
        {"email": new_email},
    )

    assert (answer.json["created"], answer.json["skipped"], answer.json["slugConflicts"]) == (2, 2, [])
    assert [(item["email"], item["fullName"]) for item in answer.json["invites"]] == [
        (repeated_email, "First"),
        (new_email, ""),
    ]


def test_batch_of_existing_affiliates_writes_nothing(campaign):
    existing_email = unique_email()
    campaign.affiliate(unique_slug(), email=existing_email)

    answer = _post_bulk(campaign, {"email": existing_email}, {"email": existing_email})

    assert (answer.status_code, answer.json) == (201, {"created": 0, "skipped": 2, "invites": [], "slugConflicts": []})
    assert list_invites(campaign, "id") == list_emails(campaign) == []


def test_second_invite_revokes_the_pending_one(campaign):
    email, slug = unique_email(), unique_slug()
    invite(campaign, email=email, slug=slug)

    answer = _post_bulk(campaign, {"email": email, "slug": slug})

    assert (answer.json["created"], answer.json["slugConflicts"]) == (1, [])
    assert list_invites(campaign, "state") == [("Revoked",), ("Pending",)]
    assert sorted(action.rpartition(".")[2] for action, *_ in list_audit_entries(campaign)) == [
        "created",
        "created",
        "revoked",
    ]


def test_unavailable_slug_is_reported_and_recipient_invited_without_it(campaign, rival):
    rival_slug, free_slug, reserved_slug = unique_slug(), unique_slug(), unique_slug()
    rival.program()
    rival.affiliate(rival_slug)
    invite(campaign, slug=reserved_slug)
    recipients = [
        {"email": unique_email("a"), "slug": free_slug},
        {"email": unique_email("b"), "slug": free_slug},
        {"email": unique_email("c"), "slug": rival_slug},
        {"email": unique_email("d"), "slug": reserved_slug},
        {"email": unique_email("e"), "slug": "admin"},
        {"email": unique_email("f"), "slug": "No Slug"},
        {"email": unique_email("g"), "slug": "x" * 65},
        {"email": unique_email("h"), "slug": "nul\x00"},
        {"email": unique_email("i"), "slug": ""},
    ]

    answer = _post_bulk(campaign, *recipients)

    assert answer.json["created"] == 9
    assert [item["slug"] for item in answer.json["invites"]] == [free_slug] + [None] * 8
    reasons = [
        "duplicate_within_batch",
        "slug_already_taken",
        "slug_already_taken",
        "slug_reserved",
        *["slug_invalid"] * 3,
    ]
    assert answer.json["slugConflicts"] == [
        {"email": person["email"], "requestedSlug": person["slug"], "reason": reason}
        for person, reason in zip(recipients[1:8], reasons, strict=True)
    ]


def test_slug_of_a_skipped_row_is_available_to_the_next(campaign):
    existing_email, slug = unique_email(), unique_slug()
    campaign.affiliate(unique_slug(), email=existing_email)

    answer = _post_bulk(campaign, {"email": existing_email, "slug": slug}, {"email": unique_email(), "slug": slug})

    assert ([item["slug"] for item in answer.json["invites"]], answer.json["slugConflicts"]) == ([slug], [])


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"recipients": []}, "recipients"),
        ({"recipients": ...}, "recipients"),
        ({"recipients": None}, "recipients"),
        ({"recipients": [{"email": f"a{n}@example.com"} for n in range(51)]}, "recipients"),
        ({"recipients": [{"email": "nonsense"}] * 51}, "recipients"),
        ({"recipients": "ada@example.com"}, "recipients"),
        ({"recipients": {"email": "ada@example.com"}}, "recipients"),
        ({"recipients": [], "emails": ["ada@example.com"]}, "recipients"),
        ({"recipients": ..., "emails": []}, "emails"),
        ({"recipients": ..., "emails": ["ada@example.com"] * 51}, "emails"),
        ({"recipients": ..., "emails": "ada@example.com"}, "emails"),
        ({"recipients": ..., "emails": ["ada@example.com", "ben"]}, "emails[1]"),
        ({"recipients": ..., "emails": [None]}, "emails[0]"),
        ({"recipients": ["ada@example.com"]}, "recipients[0]"),
        ({"recipients": [None]}, "recipients[0]"),
        ({"recipients": [{}]}, "recipients[0].email"),
        (
            {"recipients": [{"email": f"a{n}@example.com"} for n in range(3)] + [{"email": "ben"}]},
            "recipients[3].email",
        ),
        ({"recipients": [{"email": "a@example.com\r\nBcc: b@example.com"}]}, "recipients[0].email"),
        ({"recipients": [{"email": "a@example.com", "slug": 5}]}, "recipients[0].slug"),
        ({"recipients": [{"email": "a@example.com", "fullName": "x" * 201}]}, "recipients[0].fullName"),
        ({"recipients": [{"email": "a@example.com", "fullName": "a\x00"}]}, "recipients[0].fullName"),
        ({"programId": ...}, "programId"),
        ({"programId": "spring"}, "programId"),
        ({"personalNoteHtml": "x" * 10_001}, "personalNoteHtml"),
        ({"autoApprove": "yes"}, "autoApprove"),
    ],
)
def test_error_names_the_invalid_row_and_nothing_is_written(campaign, fields, field):
    answer = _post_bulk(campaign, **{"recipients": [{"email": unique_email()}]} | fields)

    assert (answer.status_code, answer.content_type) == (400, "application/json")
    assert (answer.json["error"], answer.json["field"]) == ("validation_failed", field)
    assert list_invites(campaign, "id") == list_emails(campaign) == []


@pytest.mark.parametrize("body", [b"", b"[]", b'["ada@example.com"]', b"5"])
def test_non_object_body_returns_400(campaign, body):
    answer = campaign.call("POST", BULK, body)

    assert (answer.status_code, answer.json["error"]) == (400, "validation_failed")


def test_fifty_invites_take_as_many_round_trips_as_two(campaign):
    _post_bulk(campaign, {"email": unique_email(), "slug": unique_slug()})  # statements are prepared once
    trips_of_two = count_round_trips(
        lambda: _post_bulk(campaign, *[{"email": unique_email(), "slug": unique_slug()} for _ in range(2)])
    )
    trips_of_fifty = count_round_trips(
        lambda: _post_bulk(campaign, *[{"email": unique_email(), "slug": unique_slug()} for _ in range(50)])
    )

    assert len(list_invites(campaign, "id")) == 53
    assert trips_of_fifty == trips_of_two


def test_batch_over_the_pending_limit_is_refused_whole(campaign):
    create_pending_invites(campaign, 498)

    over_limit = _post_bulk(campaign, *[{"email": unique_email()} for _ in range(3)])
    at_limit = _post_bulk(campaign, *[{"email": unique_email()} for _ in range(2)])

    assert (over_limit.status_code, over_limit.json["error"]) == (409, "pending_invites_limit_reached")
    assert (at_limit.status_code, at_limit.json["created"]) == (201, 2)
    assert len(list_emails(campaign)) == 2


def test_concurrent_batches_do_not_exceed_the_pending_limit(campaign):
    create_pending_invites(campaign, 490)
    batches = [[{"email": unique_email()} for _ in range(6)] for _ in range(3)]

    answers = run_concurrently(*[lambda batch=batch: _post_bulk(campaign, *batch) for batch in batches])

    assert sorted(answer.status_code for answer in answers) == [201, 409, 409]


def test_other_tenants_program_is_refused_like_an_unknown_one(campaign, rival):
    for program_id in (rival.program(), uuid4()):
        answer = _post_bulk(campaign, {"email": unique_email()}, programId=str(program_id))

        assert (answer.status_code, answer.json["error"]) == (400, "validation_failed")


@pytest.mark.parametrize(
    ("plan", "status", "key_code", "person_code"),
    [
        ("Starter", "Active", None, None),
        ("Pro", "Active", None, None),
        ("Free", "Active", "plan_tier_required", "paid_plan_required"),
        ("Starter", "Trialing", "paid_plan_required", "paid_plan_required"),
        ("Growth", "PastDue", "paid_plan_required", "paid_plan_required"),
        ("Growth", "Canceled", "plan_tier_required", "paid_plan_required"),
    ],
)
def test_bulk_invite_needs_an_active_paid_subscription(campaign, plan, status, key_code, person_code):
    campaign.set(plan=plan, status=status)

    answers = [_post_bulk(caller, {"email": unique_email()}) for caller in (campaign, campaign.person("Manager"))]

    assert [answer.status_code for answer in answers] == [402 if code else 201 for code in (key_code, person_code)]
    assert [answer.json.get("error") for answer in answers] == [key_code, person_code]


def test_key_on_too_low_a_plan_gets_the_required_plan(campaign):
    campaign.set(plan="Free")

    answer = _post_bulk(campaign, {"email": unique_email()})

    assert {name: value for name, value in answer.json.items() if name not in {"message", "doc_url"}} == {
        "error": "plan_tier_required",
        "required": "Starter",
        "current": "Free",
        "trialing": False,
    }


def test_caller_without_write_access_cannot_invite(campaign):
    callers = [
        campaign.other_key(scope="read"),
        campaign.person("Viewer"),
        campaign.person("Owner", is_email_verified=False),
    ]
    callers[0].programs = campaign.programs

    answers = [_post_bulk(caller, {"email": unique_email()}) for caller in callers]

    assert [(answer.status_code, answer.json["error"]) for answer in answers] == [
        (403, "forbidden"),
        (403, "forbidden"),
        (403, "email_verification_required"),
    ]


def test_repeated_idempotency_key_invites_once(campaign):
    body = {"programId": str(campaign.programs[-1]), "recipients": [{"email": unique_email()}]}

    first, again = (campaign.post(BULK, body, Idempotency_Key="once") for _ in range(2))

    assert again.json == first.json
    assert len(list_invites(campaign, "id")) == 1


def test_slug_that_is_anothers_old_token_is_a_conflict(campaign):
    slug, token = unique_slug(), unique_slug()
    campaign.affiliate(slug)
    add_old_token(campaign, slug, token)

    answer = _post_bulk(campaign, {"email": unique_email(), "slug": token})

    assert [conflict["requestedSlug"] for conflict in answer.json["slugConflicts"]] == [token]
