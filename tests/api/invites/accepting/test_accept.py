"""Reading and accepting an invite by its link, through HTTP.

Source: core spec, "Affiliate invites" and section 3 (Invite).
"""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from tests.support.api.concurrency import run_concurrently
from tests.support.api.invite_requests import (
    URL,
    accept_invite,
    expire_invite,
    invite,
    list_audit_entries,
    list_invites,
    token_from_invite,
    unique_email,
    unique_slug,
    view_invite,
)


def _select_affiliates(brand, columns):
    return brand.rows(f"select {columns} from affiliate order by created_at")


def _list_events(brand):
    events = brand.rows("select type, body::jsonb -> 'data' from event order by created_at, type desc")
    return [(type, data) for type, data in events]


def test_anyone_with_the_link_sees_the_invite(campaign):
    email = unique_email()
    created = invite(
        campaign,
        email=email,
        fullName="Ada <i>L.</i>",
        personalNoteHtml="<p>{{affiliate.firstName}}: {{program.commission}} at {{ brand.name }} {{nothing}}</p>",
        customCommissionType="Fixed",
        customCommissionValue=15,
    )

    answer = view_invite(campaign, token_from_invite(created))

    assert (answer.status_code, answer.json) == (
        200,
        {
            "organizationName": "Brand",
            "programName": "Spring",
            "programDescription": "Tea <b>and</b> more",
            "defaultCommissionType": "Percentage",
            "defaultCommissionValue": 20,
            "defaultCommissionModel": "Cps",
            "customCommissionType": "Fixed",
            "customCommissionValue": 15,
            "email": email,
            "fullName": "Ada <i>L.</i>",
            "personalNoteHtml": "<p>Ada: 15 USD per sale at Brand {{nothing}}</p>",
            "state": "Pending",
            "expiresAt": created.json["invite"]["expiresAt"],
        },
    )


def test_reading_an_invite_changes_nothing(campaign):
    token = token_from_invite(invite(campaign))
    before = campaign.rows("select to_jsonb(i) from affiliate_invite i")

    for method in ("GET", "HEAD", "OPTIONS"):
        for path in (f"{URL}/by-token/{token}", f"/invites/{token}"):
            assert campaign.app.test_client().open(path, method=method).status_code == 200

    assert campaign.rows("select to_jsonb(i) from affiliate_invite i") == before
    assert _select_affiliates(campaign, "id") == []


def test_names_are_escaped_in_the_note(campaign):
    campaign.rows("update organization set name = '<b onclick=x>\"&' where id = %s returning id", campaign.id)
    token = token_from_invite(
        invite(
            campaign,
            fullName="<script>alert(1)</script>",
            personalNoteHtml='{{brand.name}}<a href="https://x.test/?{{affiliate.firstName}}{{brand.name}}">x</a>',
        )
    )

    view = view_invite(campaign, token).json

    brand, person = "&lt;b onclick=x&gt;&quot;&amp;", "&lt;script&gt;alert(1)&lt;/script&gt;"
    assert view["personalNoteHtml"] == f'{brand}<a href="https://x.test/?{person}{brand}">x</a>'
    assert view["organizationName"] == '<b onclick=x>"&'


def test_accepting_creates_an_approved_affiliate(campaign):
    email, slug = unique_email(), unique_slug()
    created = invite(campaign, email=email, fullName="Ada", slug=slug)

    answer = accept_invite(campaign, token_from_invite(created))

    affiliate_id = answer.json["affiliateId"]
    assert (answer.status_code, answer.json) == (
        200,
        {
            "affiliateId": affiliate_id,
            "programId": str(campaign.programs[-1]),
            "status": "Approved",
            "slug": slug,
        },
    )
    assert _select_affiliates(campaign, "id, email, full_name, status, source, approved_at = created_at, is_test") == [
        (UUID(affiliate_id), email, "Ada", "Approved", "Invite", True, False)
    ]
    assert campaign.rows("select slug, custom_alias, is_default from tracking_link") == [(slug, slug, True)]
    assert list_invites(campaign, "state, kept_slug, affiliate_id, accepted_at is not null") == [
        ("Accepted", slug, UUID(affiliate_id), True)
    ]
    assert campaign.sale(affiliateSlug=slug).status_code == 200


def test_accepting_emits_events_of_the_affiliate(campaign):
    email, slug = unique_email(), unique_slug()
    affiliate_id = accept_invite(
        campaign, token_from_invite(invite(campaign, email=email, fullName="Ada", slug=slug))
    ).json["affiliateId"]

    shared = {
        "affiliateId": affiliate_id,
        "programId": str(campaign.programs[-1]),
        "email": email,
        "fullName": "Ada",
    }
    created, approved = _list_events(campaign)
    assert created == ("affiliate.created", shared | {"status": "Approved", "slug": slug})
    assert (approved[0], set(approved[1])) == ("affiliate.approved", {*shared, "approvedAt"})
    assert campaign.rows("select count(*) from job where name = 'webhook.deliver'") == [(2,)]


def test_accepting_without_auto_approval_leaves_the_affiliate_pending(campaign):
    answer = accept_invite(campaign, token_from_invite(invite(campaign, autoApprove=False)))

    assert answer.json["status"] == "Pending"
    assert _select_affiliates(campaign, "status, approved_at") == [("Pending", None)]
    assert [type for type, _ in _list_events(campaign)] == ["affiliate.created"]


def test_auto_approval_of_the_program_is_ignored(brand):
    brand.program(auto_approve=True)

    assert accept_invite(brand, token_from_invite(invite(brand, autoApprove=False))).json["status"] == "Pending"


def test_custom_commission_of_the_invite_is_applied(campaign):
    accept_invite(
        campaign,
        token_from_invite(
            invite(campaign, customCommissionType="Percentage", customCommissionValue=33.25, slug="own-rate")
        ),
    )

    (terms,) = _select_affiliates(campaign, "custom_commission_type, custom_commission_value::text")
    assert terms == ("Percentage", "33.250000")


def test_repeated_accept_returns_the_same_and_writes_nothing(campaign):
    token = token_from_invite(invite(campaign, slug=unique_slug()))

    answers = [accept_invite(campaign, token) for _ in range(3)]

    assert {answer.data for answer in answers} == {answers[0].data}
    assert answers[0].status_code == 200
    assert len(_select_affiliates(campaign, "id")) == 1
    assert len(_list_events(campaign)) == 2
    assert len(list_audit_entries(campaign)) == 2


def test_concurrent_accepts_create_one_affiliate(campaign):
    token = token_from_invite(invite(campaign, slug=unique_slug()))

    answers = run_concurrently(*[lambda: accept_invite(campaign, token)] * 4)

    assert {(answer.status_code, answer.data) for answer in answers} == {(200, answers[0].data)}
    assert len(_select_affiliates(campaign, "id")) == 1
    assert len(_list_events(campaign)) == 2


@pytest.mark.parametrize(
    "request_", [{}, {"json": {}}, {"json": {"email": "x"}}, {"data": b"\xff{"}, {"data": {"a": "b"}}, {"json": []}]
)
def test_accept_ignores_its_body(campaign, request_):
    assert accept_invite(campaign, token_from_invite(invite(campaign)), **request_).status_code == 200


def test_idempotency_key_is_optional_and_stores_no_token(campaign):
    token = token_from_invite(invite(campaign))

    answers = [accept_invite(campaign, token, headers={"Idempotency-Key": "once"}) for _ in range(2)]

    assert answers[0].data == answers[1].data
    assert campaign.rows("select count(*) from stored_answer") == [(0,)]


@pytest.mark.parametrize("status", ["Approved", "Pending", "Banned"])
def test_existing_affiliate_is_unchanged_by_accepting(campaign, status):
    email, slug = unique_email(), unique_slug()
    token = token_from_invite(
        invite(campaign, email=email, slug=unique_slug(), customCommissionType="Fixed", customCommissionValue=1)
    )
    affiliate_id = campaign.affiliate(slug, email=email, status=status)

    first, again = accept_invite(campaign, token), accept_invite(campaign, token)

    assert first.json == {
        "affiliateId": str(affiliate_id),
        "programId": str(campaign.programs[-1]),
        "status": status,
        "slug": slug,
        "warning": "slug_unavailable",
    }
    assert again.json == first.json
    assert _select_affiliates(campaign, "status, custom_commission_type, source") == [(status, None, "Direct")]
    assert _list_events(campaign) == []


def test_deleted_affiliate_can_be_invited_again(campaign):
    email = unique_email()
    deleted_id = campaign.affiliate(unique_slug(), email=email)
    campaign.rows("update affiliate set deleted_at = now() returning id")

    answer = accept_invite(campaign, token_from_invite(invite(campaign, email=email)))

    assert answer.status_code == 200
    assert answer.json["affiliateId"] != str(deleted_id)


def test_accepted_invite_answers_after_its_affiliate_is_deleted(campaign):
    token = token_from_invite(invite(campaign))
    first = accept_invite(campaign, token)
    campaign.rows("update affiliate set deleted_at = now() returning id")
    campaign.rows("update tracking_link set deleted_at = now() returning id")

    assert accept_invite(campaign, token).json == first.json


def test_accepted_invite_does_not_expire(campaign):
    created = invite(campaign)
    first = accept_invite(campaign, token_from_invite(created))
    expire_invite(campaign, created.json["invite"]["id"])

    assert accept_invite(campaign, token_from_invite(created)).json == first.json
    assert view_invite(campaign, token_from_invite(created)).status_code == 404


@pytest.mark.parametrize("call", [view_invite, accept_invite])
def test_expired_link_returns_410(campaign, call):
    created = invite(campaign)
    expire_invite(campaign, created.json["invite"]["id"])

    answer = call(campaign, token_from_invite(created))

    assert (answer.status_code, answer.json["error"]) == (410, "invite_expired")
    assert _select_affiliates(campaign, "id") == []


@pytest.mark.parametrize("call", [view_invite, accept_invite])
def test_every_invalid_token_gets_the_same_response(campaign, call):
    real = token_from_invite(invite(campaign))
    guesses = [
        "x",
        "A" * 43,
        real[:-1],
        real + "x",
        real.swapcase(),
        "%00",
        "%FF",
        "ü",
        "a" * 4_000,
        "'; --",
        "by-token",
    ]

    answers = [call(campaign, guess) for guess in guesses]

    assert {(answer.status_code, answer.data) for answer in answers} == {(404, answers[0].data)}
    assert answers[0].json["error"] == "not_found"


@pytest.mark.parametrize("column", ["archived_at = now()", "suspended_at = now()", "is_active = false"])
def test_inactive_program_cannot_be_joined(campaign, column):
    token = token_from_invite(invite(campaign))
    campaign.rows(f"update program set {column} returning id")

    answer = accept_invite(campaign, token)

    assert (answer.status_code, answer.json["error"]) == (409, "program_inactive")
    assert list_invites(campaign, "state") == [("Pending",)]
    campaign.rows("update program set archived_at = null, suspended_at = null, is_active = true returning id")
    assert accept_invite(campaign, token).status_code == 200


def test_accept_is_audited_without_the_token(campaign):
    created = invite(campaign)
    token, invite_id = token_from_invite(created), created.json["invite"]["id"]

    accept_invite(campaign, token)

    action, entity_id, before, after = list_audit_entries(campaign)[-1]
    assert (action, entity_id, before) == ("affiliate_invite.accepted", invite_id, created.json["invite"])
    (view,) = campaign.person("Manager").get(URL).json["items"]
    assert after == view
    assert campaign.rows("select actor_type, actor_user_id from audit_entry where action = %s", action) == [
        ("public", None)
    ]
    assert token not in str(campaign.rows("select to_jsonb(a) from audit_entry a"))


def test_sale_is_credited_right_after_accepting(campaign, drain):
    slug = unique_slug()
    accept_invite(
        campaign, token_from_invite(invite(campaign, slug=slug, customCommissionType="Fixed", customCommissionValue=7))
    )

    campaign.sale(affiliateSlug=slug, occurredAt=datetime.now(UTC).isoformat())
    drain()

    assert campaign.rows("select commission_cents from conversion") == [(700,)]
