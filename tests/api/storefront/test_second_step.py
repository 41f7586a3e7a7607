"""The second step of an application: invitation and submission.

Source: tracking spec, section 6, affiliate.application_completed.
"""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from models import db
from pipelines import mail
from tests.support.api.applications import (
    apply,
    apply_for_second_step,
    build_form,
    build_question,
    build_two_step_form,
    list_events,
    list_second_step_links,
)
from tests.support.api.concurrency import run_concurrently
from tests.support.job_queues import drain
from tests.support.rows.brands import Partner

_OWN_APPLICATIONS = "/api/me/applications"
_COMPLETED = "affiliate.application_completed"


@pytest.fixture
def brand_with_steps(brand):
    """The brand with a campaign whose form has two steps."""
    brand.program(name="Tea\nclub", application_form=build_two_step_form())
    return brand


@pytest.fixture
def ada():
    """An email address unique to the test."""
    return f"ada-{uuid4().hex}@example.com"


def _execute(brand, sql, *params):
    with db.unit_of_work(brand.id):
        db.db.stage(sql, params)


def _list_completed(brand):
    return [data for type, data in list_events(brand) if type == _COMPLETED]


def _submit(email, brand, **answers):
    ((affiliate_id,),) = brand.rows("select id from affiliate where email = %s", email)
    return Partner(brand.app, email).post(f"{_OWN_APPLICATIONS}/{affiliate_id}/answers", {"answers": answers})


def test_applicant_gets_one_plain_text_email(brand_with_steps, ada):
    _execute(
        brand_with_steps,
        "update organization set name = '<b>Acme</b>\r\nBcc: eve@example.com' where id = %s",
        brand_with_steps.id,
    )
    apply(brand_with_steps, email=ada, answers={"team": "<i>Tea</i>"})
    apply(brand_with_steps, email=ada, answers={"team": "Coffee"})
    drain("mail", deliveries=2)

    ((email_id, subject),) = brand_with_steps.rows("select id, subject from mail_message where recipient = %s", ada)
    with db.any_org_work():
        email = mail.any_org_open(email_id)
    assert subject == "A few more questions about your application to Tea club"
    assert email.text.startswith("<b>Acme</b> Bcc: eve@example.com has a few more questions")
    assert (email.html, "<i>Tea" in email.text) == (None, False)


def test_unfinished_applicant_is_emailed_again_after_an_hour(brand_with_steps, ada):
    first = apply_for_second_step(brand_with_steps, ada)

    def apply_again():
        assert apply(brand_with_steps, email=ada, answers={"team": "Tea"}).status_code == 200
        drain("mail")
        return list_second_step_links(brand_with_steps, ada)

    assert apply_again() == [first]
    _execute(brand_with_steps, "update affiliate set application_asked_at = now() - interval '61 minutes'")
    assert len(apply_again()) == 2
    assert _submit(ada, brand_with_steps, reach=5).status_code == 200
    _execute(brand_with_steps, "update affiliate set application_asked_at = now() - interval '61 minutes'")
    assert len(apply_again()) == 2


def test_other_applicants_get_no_email(brand_with_steps, ada):
    others = [f"{kind}-{ada}" for kind in ("one-step", "direct", "banned", "rejected", "closed")]
    one_step, direct, banned, rejected, closed = others
    brand_with_steps.affiliate("direct", email=direct)
    for email, status in ((banned, "Banned"), (rejected, "Rejected")):
        brand_with_steps.affiliate(email[:8], email=email, status=status, source="Public")
    for email in (direct, banned, rejected, closed):
        apply(brand_with_steps, email=email, answers={"team": "Tea"})
    _execute(brand_with_steps, "update program set is_active = false where organization_id = %s", brand_with_steps.id)
    drain("mail")
    brand_with_steps.program(application_form=build_form())
    apply(brand_with_steps, email=one_step)
    drain("mail")

    assert [list_second_step_links(brand_with_steps, email) for email in others] == [[]] * 5


def test_submission_replaces_all_answers_and_emits_an_event_each_time(brand_with_steps, ada):
    apply_for_second_step(brand_with_steps, ada)
    first = _submit(ada, brand_with_steps, reach="12.5", plan="Two\r\nlines ☕ <b>")
    second = _submit(ada, brand_with_steps, reach=7)

    ((affiliate_id, stored, completed_at),) = brand_with_steps.rows(
        "select id, application_data, application_completed_at from affiliate"
    )
    shared = {
        "affiliateId": str(affiliate_id),
        "programId": str(brand_with_steps.programs[-1]),
        "email": ada,
        "fullName": "Ada",
        "status": "Pending",
    }
    first_answers = {"team": "Tea", "reach": 12.5, "plan": "Two\nlines ☕ <b>"}
    assert _list_completed(brand_with_steps) == [
        shared | {"applicationAnswers": first_answers},
        shared | {"applicationAnswers": {"team": "Tea", "reach": 7}},
    ]
    assert stored == {"team": "Tea", "reach": 7}
    assert first.json["answers"] == {"reach": 12.5, "plan": "Two\nlines ☕ <b>"}
    assert second.json == {
        "affiliateId": str(affiliate_id),
        "status": "Pending",
        "completedAt": completed_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "answers": {"reach": 7},
    }
    audit_sql = "select action, after from audit_entry where action = %s order by created_at, id"
    assert brand_with_steps.rows(audit_sql, _COMPLETED) == [
        (_COMPLETED, {"status": "Pending", "answered": ["reach", "plan"]}),
        (_COMPLETED, {"status": "Pending", "answered": ["reach"]}),
    ]


def test_invalid_answer_is_named_and_nothing_stored(brand_with_steps, ada):
    apply_for_second_step(brand_with_steps, ada)
    for answers, key in (
        ({}, "reach"),
        ({"reach": True}, "reach"),
        ({"reach": "1\n2"}, "reach"),
        ({"reach": [1]}, "reach"),
        ({"reach": 1, "team": "Other"}, "team"),
        ({"reach": 1, "status": "Approved"}, "status"),
        ({"reach": 1, "__proto__": {}}, "__proto__"),
        ({"reach": 1, "plan": "x" * 10_000}, "plan"),
        ({"reach": 1, "plan": "nul\x00"}, "plan"),
    ):
        answer = _submit(ada, brand_with_steps, **answers)
        refusal = (answer.status_code, answer.json["error"], answer.json["field"])
        assert refusal == (400, "invalid_request", f"answers.{key}"), answers

    assert _list_completed(brand_with_steps) == []
    assert brand_with_steps.rows("select application_data, application_completed_at from affiliate") == [
        ({"team": "Tea"}, None)
    ]


def test_concurrent_submissions_store_one_whole_set(brand_with_steps, ada):
    apply_for_second_step(brand_with_steps, ada)

    answers = run_concurrently(*[lambda reach=reach: _submit(ada, brand_with_steps, reach=reach) for reach in (1, 2)])

    assert [answer.status_code for answer in answers] == [200, 200]
    answer_sets = [data["applicationAnswers"] for data in _list_completed(brand_with_steps)]
    assert sorted(answers_of_event["reach"] for answers_of_event in answer_sets) == [1, 2]
    assert [answers_of_event["team"] for answers_of_event in answer_sets] == ["Tea", "Tea"]
    # Either request may write last; the row equals the event of the same transaction.
    same_transaction_sql = "select application_data, body::jsonb from affiliate a join event e on e.xmin = a.xmin"
    ((stored, event),) = brand_with_steps.rows(same_transaction_sql)
    assert stored == event["data"]["applicationAnswers"]


def test_repeated_idempotency_key_submits_once(brand_with_steps, ada):
    apply_for_second_step(brand_with_steps, ada)
    ((affiliate_id,),) = brand_with_steps.rows("select id from affiliate")
    send = Partner(brand_with_steps.app, ada).post

    answers = [
        send(f"{_OWN_APPLICATIONS}/{affiliate_id}/answers", {"answers": {"reach": 1}}, Idempotency_Key="once")
        for _ in "ab"
    ]

    assert answers[0].data == answers[1].data
    assert len(_list_completed(brand_with_steps)) == 1


def test_second_step_is_open_until_decided_and_once_after_approval(brand_with_steps, ada):
    apply_for_second_step(brand_with_steps, ada)
    applicant = Partner(brand_with_steps.app, ada)
    codes = {}
    for status in ("Rejected", "Paused", "Banned", "Approved"):
        _execute(
            brand_with_steps, "update affiliate set status = %s where organization_id = %s", status, brand_with_steps.id
        )
        is_open = applicant.get(_OWN_APPLICATIONS).json[0]["isOpen"]
        codes[status] = [is_open, *(_submit(ada, brand_with_steps, reach=1).status_code for _ in "ab")]

    assert codes == {
        "Rejected": [False, 409, 409],
        "Paused": [False, 409, 409],
        "Banned": [False, 409, 409],
        "Approved": [True, 200, 409],
    }
    assert [data["status"] for data in _list_completed(brand_with_steps)] == ["Approved"]


def test_closed_program_or_one_step_form_refuses_answers(brand_with_steps, ada):
    apply_for_second_step(brand_with_steps, ada)
    closed = {"is_active": "false", "suspended_at": "now()", "application_form": "null"}
    codes = {}
    for column, value in closed.items():
        before = "null" if column == "suspended_at" else "true" if column == "is_active" else "application_form"
        _execute(
            brand_with_steps, f"update program set {column} = {value} where organization_id = %s", brand_with_steps.id
        )
        codes[column] = _submit(ada, brand_with_steps, reach=1).json["error"]
        _execute(
            brand_with_steps, f"update program set {column} = {before} where organization_id = %s", brand_with_steps.id
        )

    assert set(codes.values()) == {"application_closed"}


def test_own_applications_show_questions_and_answers(brand_with_steps, ada):
    apply_for_second_step(brand_with_steps, ada)
    brand_with_steps.program(application_form=build_form())
    apply(brand_with_steps, email=ada, answers={})
    applicant = Partner(brand_with_steps.app, ada)
    ((affiliate_id, program_id),) = brand_with_steps.rows(
        "select id, program_id from affiliate where program_id = %s", brand_with_steps.programs[0]
    )
    applicant.post(f"{_OWN_APPLICATIONS}/{affiliate_id}/answers", {"answers": {"reach": 1}})

    (view,) = applicant.get(_OWN_APPLICATIONS).json

    assert view.pop("appliedAt") and view.pop("completedAt")
    assert view == {
        "affiliateId": str(affiliate_id),
        "organizationId": str(brand_with_steps.id),
        "programId": str(program_id),
        "organizationName": "Brand",
        "programName": "Tea\nclub",
        "status": "Pending",
        "isOpen": True,
        "fields": [build_question("reach", "number", step=2, required=True), build_question("plan", "long", step=2)],
        "answers": {"reach": 1},
    }


def test_application_is_visible_only_to_its_applicant(brand_with_steps, rival, ada):
    apply_for_second_step(brand_with_steps, ada)
    ((affiliate_id,),) = brand_with_steps.rows("select id from affiliate")
    eve = Partner(brand_with_steps.app, f"eve-{ada}")
    body = {"answers": {"reach": 1}}

    assert eve.get(_OWN_APPLICATIONS).json == []
    for application_id in (affiliate_id, uuid4(), "x"):
        assert eve.post(f"{_OWN_APPLICATIONS}/{application_id}/answers", body).status_code == 404
    assert rival.post(f"{_OWN_APPLICATIONS}/{affiliate_id}/answers", body).status_code in (401, 403)
    unverified = Partner(brand_with_steps.app, ada, is_email_verified=False)
    assert unverified.post(f"{_OWN_APPLICATIONS}/{affiliate_id}/answers", body).status_code == 403
    for malformed in ({}, {"answers": None}, {"answers": []}, {"answers": 5}, [], b"{"):
        assert (
            Partner(brand_with_steps.app, ada)
            .post(f"{_OWN_APPLICATIONS}/{affiliate_id}/answers", malformed)
            .status_code
            == 400
        )
    assert _list_completed(brand_with_steps) == []


def test_late_email_is_not_sent_to_a_deleted_applicant(brand_with_steps, ada):
    apply(brand_with_steps, email=ada, answers={"team": "Tea"})
    _execute(brand_with_steps, "update affiliate set deleted_at = %s", datetime.now(UTC) - timedelta(seconds=1))

    assert drain("mail") >= 1
    assert list_second_step_links(brand_with_steps, ada) == []
