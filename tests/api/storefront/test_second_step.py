"""The second step of an application: who is asked for it, and what comes of handing it in.

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

_MINE = "/api/me/applications"
_DONE = "affiliate.application_completed"


@pytest.fixture
def asking(brand):
    """The brand with a campaign that asks in two steps."""
    brand.program(name="Tea\nclub", application_form=build_two_step_form())
    return brand


@pytest.fixture
def ada():
    """An address that nobody else has."""
    return f"ada-{uuid4().hex}@example.com"


def _execute(brand, sql, *params):
    with db.unit_of_work(brand.id):
        db.db.stage(sql, params)


def _completed(brand):
    return [data for type, data in list_events(brand) if type == _DONE]


def _hand_in(email, brand, **said):
    ((affiliate_id,),) = brand.rows("select id from affiliate where email = %s", email)
    return Partner(brand.app, email).post(f"{_MINE}/{affiliate_id}/answers", {"answers": said})


def test_who_applies_is_written_to_once_and_the_letter_holds_no_markup(asking, ada):
    _execute(asking, "update organization set name = '<b>Acme</b>\r\nBcc: eve@example.com' where id = %s", asking.id)
    apply(asking, email=ada, answers={"team": "<i>Tea</i>"})
    apply(asking, email=ada, answers={"team": "Coffee"})
    drain("mail", deliveries=2)

    ((letter_id, subject),) = asking.rows("select id, subject from mail_message where recipient = %s", ada)
    with db.any_org_work():
        letter = mail.any_org_open(letter_id)
    assert subject == "A few more questions about your application to Tea club"
    assert letter.text.startswith("<b>Acme</b> Bcc: eve@example.com has a few more questions")
    assert (letter.html, "<i>Tea" in letter.text) == (None, False)


def test_who_did_not_finish_is_written_to_again_after_an_hour_and_who_did_is_not(asking, ada):
    first = apply_for_second_step(asking, ada)

    def again():
        assert apply(asking, email=ada, answers={"team": "Tea"}).status_code == 200
        drain("mail")
        return list_second_step_links(asking, ada)

    assert again() == [first]
    _execute(asking, "update affiliate set application_asked_at = now() - interval '61 minutes'")
    assert len(again()) == 2
    assert _hand_in(ada, asking, reach=5).status_code == 200
    _execute(asking, "update affiliate set application_asked_at = now() - interval '61 minutes'")
    assert len(again()) == 2


def test_nobody_else_is_written_to(asking, ada):
    others = [f"{kind}-{ada}" for kind in ("one", "direct", "banned", "rejected", "closed")]
    one, direct, banned, rejected, closed = others
    asking.affiliate("direct", email=direct)
    for email, status in ((banned, "Banned"), (rejected, "Rejected")):
        asking.affiliate(email[:8], email=email, status=status, source="Public")
    for email in (direct, banned, rejected, closed):
        apply(asking, email=email, answers={"team": "Tea"})
    _execute(asking, "update program set is_active = false where organization_id = %s", asking.id)
    drain("mail")
    asking.program(application_form=build_form())
    apply(asking, email=one)
    drain("mail")

    assert [list_second_step_links(asking, email) for email in others] == [[]] * 5


def test_handing_in_keeps_the_whole_set_and_tells_it_every_time(asking, ada):
    apply_for_second_step(asking, ada)
    first = _hand_in(ada, asking, reach="12.5", plan="Two\r\nlines ☕ <b>")
    second = _hand_in(ada, asking, reach=7)

    ((affiliate_id, kept, at),) = asking.rows("select id, application_data, application_completed_at from affiliate")
    shared = {
        "affiliateId": str(affiliate_id),
        "programId": str(asking.programs[-1]),
        "email": ada,
        "fullName": "Ada",
        "status": "Pending",
    }
    before = {"team": "Tea", "reach": 12.5, "plan": "Two\nlines ☕ <b>"}
    assert _completed(asking) == [
        shared | {"applicationAnswers": before},
        shared | {"applicationAnswers": {"team": "Tea", "reach": 7}},
    ]
    assert kept == {"team": "Tea", "reach": 7}
    assert first.json["answers"] == {"reach": 12.5, "plan": "Two\nlines ☕ <b>"}
    assert second.json == {
        "affiliateId": str(affiliate_id),
        "status": "Pending",
        "completedAt": at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "answers": {"reach": 7},
    }
    logged = "select action, after from audit_entry where action = %s order by created_at, id"
    assert asking.rows(logged, _DONE) == [
        (_DONE, {"status": "Pending", "answered": ["reach", "plan"]}),
        (_DONE, {"status": "Pending", "answered": ["reach"]}),
    ]


def test_what_is_wrong_is_named_and_keeps_nothing(asking, ada):
    apply_for_second_step(asking, ada)
    for said, key in (
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
        answer = _hand_in(ada, asking, **said)
        found = (answer.status_code, answer.json["error"], answer.json["field"])
        assert found == (400, "invalid_request", f"answers.{key}"), said

    assert _completed(asking) == []
    assert asking.rows("select application_data, application_completed_at from affiliate") == [({"team": "Tea"}, None)]


def test_two_at_once_are_one_row_and_two_whole_sets(asking, ada):
    apply_for_second_step(asking, ada)

    answers = run_concurrently(*[lambda reach=reach: _hand_in(ada, asking, reach=reach) for reach in (1, 2)])

    assert [answer.status_code for answer in answers] == [200, 200]
    told = [data["applicationAnswers"] for data in _completed(asking)]
    assert sorted(one["reach"] for one in told) == [1, 2]
    assert [one["team"] for one in told] == ["Tea", "Tea"]
    # Who came first may get the row last: what it holds is what the same transaction told.
    kept_with_it = "select application_data, body::jsonb from affiliate a join event e on e.xmin = a.xmin"
    ((kept, event),) = asking.rows(kept_with_it)
    assert kept == event["data"]["applicationAnswers"]


def test_a_repeated_key_hands_in_once(asking, ada):
    apply_for_second_step(asking, ada)
    ((affiliate_id,),) = asking.rows("select id from affiliate")
    send = Partner(asking.app, ada).post

    answers = [send(f"{_MINE}/{affiliate_id}/answers", {"answers": {"reach": 1}}, Idempotency_Key="once") for _ in "ab"]

    assert answers[0].data == answers[1].data
    assert len(_completed(asking)) == 1


def test_it_is_open_until_decided_and_once_for_who_was_let_in_before(asking, ada):
    apply_for_second_step(asking, ada)
    mine = Partner(asking.app, ada)
    codes = {}
    for status in ("Rejected", "Paused", "Banned", "Approved"):
        _execute(asking, "update affiliate set status = %s where organization_id = %s", status, asking.id)
        seen = mine.get(_MINE).json[0]["isOpen"]
        codes[status] = [seen, *(_hand_in(ada, asking, reach=1).status_code for _ in "ab")]

    assert codes == {
        "Rejected": [False, 409, 409],
        "Paused": [False, 409, 409],
        "Banned": [False, 409, 409],
        "Approved": [True, 200, 409],
    }
    assert [data["status"] for data in _completed(asking)] == ["Approved"]


def test_a_closed_program_and_a_form_of_one_step_ask_nothing_more(asking, ada):
    apply_for_second_step(asking, ada)
    closed = {"is_active": "false", "suspended_at": "now()", "application_form": "null"}
    codes = {}
    for column, value in closed.items():
        before = "null" if column == "suspended_at" else "true" if column == "is_active" else "application_form"
        _execute(asking, f"update program set {column} = {value} where organization_id = %s", asking.id)
        codes[column] = _hand_in(ada, asking, reach=1).json["error"]
        _execute(asking, f"update program set {column} = {before} where organization_id = %s", asking.id)

    assert set(codes.values()) == {"application_closed"}


def test_own_applications_show_the_questions_and_what_was_answered(asking, ada):
    apply_for_second_step(asking, ada)
    asking.program(application_form=build_form())
    apply(asking, email=ada, answers={})
    _hand_in_at = Partner(asking.app, ada)
    ((affiliate_id, program_id),) = asking.rows(
        "select id, program_id from affiliate where program_id = %s", asking.programs[0]
    )
    _hand_in_at.post(f"{_MINE}/{affiliate_id}/answers", {"answers": {"reach": 1}})

    (shown,) = _hand_in_at.get(_MINE).json

    assert shown.pop("appliedAt") and shown.pop("completedAt")
    assert shown == {
        "affiliateId": str(affiliate_id),
        "organizationId": str(asking.id),
        "programId": str(program_id),
        "organizationName": "Brand",
        "programName": "Tea\nclub",
        "status": "Pending",
        "isOpen": True,
        "fields": [build_question("reach", "number", step=2, required=True), build_question("plan", "long", step=2)],
        "answers": {"reach": 1},
    }


def test_an_application_is_its_own_persons_alone(asking, rival, ada):
    apply_for_second_step(asking, ada)
    ((affiliate_id,),) = asking.rows("select id from affiliate")
    eve = Partner(asking.app, f"eve-{ada}")
    body = {"answers": {"reach": 1}}

    assert eve.get(_MINE).json == []
    for wanted in (affiliate_id, uuid4(), "x"):
        assert eve.post(f"{_MINE}/{wanted}/answers", body).status_code == 404
    assert rival.post(f"{_MINE}/{affiliate_id}/answers", body).status_code in (401, 403)
    unproven = Partner(asking.app, ada, is_email_verified=False)
    assert unproven.post(f"{_MINE}/{affiliate_id}/answers", body).status_code == 403
    for malformed in ({}, {"answers": None}, {"answers": []}, {"answers": 5}, [], b"{"):
        assert Partner(asking.app, ada).post(f"{_MINE}/{affiliate_id}/answers", malformed).status_code == 400
    assert _completed(asking) == []


def test_a_letter_that_comes_late_asks_nobody_who_is_gone(asking, ada):
    apply(asking, email=ada, answers={"team": "Tea"})
    _execute(asking, "update affiliate set deleted_at = %s", datetime.now(UTC) - timedelta(seconds=1))

    assert drain("mail") >= 1
    assert list_second_step_links(asking, ada) == []
