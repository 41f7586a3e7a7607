"""Concurrent affiliate imports and enrollments: each person is stored once."""

import contextlib
from uuid import uuid4

from adapters import clock
from models import db
from pipelines.affiliates import enrollment
from schemas.affiliates.affiliate import AffiliateBody
from tests.support.api.concurrency import hold_in_thread, run_concurrently, start_call
from tests.support.api.import_requests import (
    AFFILIATES,
    AFFILIATES_IMPORT,
    build_person_row,
    hold_import_lock,
    import_people,
)


def test_concurrent_import_of_one_organization_returns_409(campaign, rival):
    rival.program()

    with hold_in_thread(hold_import_lock(campaign)):
        refused, by_rival = (
            import_people(campaign, build_person_row("ann")),
            import_people(rival, build_person_row("ann")),
        )

    assert (refused.status_code, refused.json["error"]) == (409, "migration_already_in_progress")
    assert by_rival.status_code == 200
    assert import_people(campaign, build_person_row("ann")).status_code == 200


def test_import_waits_for_a_concurrent_enrollment(campaign):
    body = AffiliateBody().load({"programId": str(campaign.programs[-1]), "email": "ann@example.com"})

    with db.unit_of_work(campaign.id):
        enrollment.create(organization_id=campaign.id, body=body, is_test=False, now=clock.now())
        answer = start_call(lambda: import_people(campaign, build_person_row("ann"), build_person_row("ben")))

    assert (answer().status_code, answer().json["reasons"]) == (200, {"already_exists": 1})


def test_enrollment_during_an_import_creates_one_affiliate(campaign):
    rows = [build_person_row(f"number-{number}") for number in range(50)]
    body = {"programId": str(campaign.programs[-1]), "email": "number-7@example.com", "customAlias": "seven"}

    answers = run_concurrently(lambda: import_people(campaign, *rows), lambda: campaign.post(AFFILIATES, body))

    assert sorted(answer.status_code for answer in answers) in ([200, 201], [200, 409])
    assert campaign.rows("select count(*) from affiliate") == [(50,)]


def test_imports_sharing_slugs_in_another_order_do_not_deadlock(campaign, rival):
    campaign.affiliate("somebody")
    rival.program()
    names = [f"{letter}-{uuid4().hex[:8]}" for letter in "amz"]
    rows = [build_person_row(name, slug=name) for name in names]

    with contextlib.suppress(ZeroDivisionError), db.unit_of_work(campaign.id):
        # Both imports wait for the uncommitted link with this slug.
        db.db.run(
            "insert into tracking_link (id, organization_id, program_id, affiliate_id, slug, is_default)"
            " select gen_random_uuid(), organization_id, program_id, id, %s, false from affiliate returning id",
            (names[1],),
        )
        answers = [
            start_call(lambda: import_people(campaign, *rows)),
            start_call(lambda: import_people(rival, *rows[::-1])),
        ]
        raise ZeroDivisionError

    assert [answer().json["imported"] for answer in answers] == [3, 3]


def test_repeated_idempotency_key_returns_the_first_response(campaign):
    body = {"programId": str(campaign.programs[-1]), "affiliates": [build_person_row("ann")]}

    first = campaign.post(AFFILIATES_IMPORT, body, Idempotency_Key="once")
    again = campaign.post(AFFILIATES_IMPORT, body, Idempotency_Key="once")

    assert (again.status_code, again.json) == (200, first.json)
    assert campaign.rows("select count(*) from import_job") == [(1,)]
