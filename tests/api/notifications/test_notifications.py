"""The list of a person's notifications, and what they have read."""

from uuid import uuid4

import pytest

from models import db
from models.notifications.feed import NewNotice
from pipelines.notifications import notices
from tests.support.databases import run_for_all_tenants

URL = "/api/v1/notifications"


def _stage(brand, kind="webhook_failing", title="Webhook failing for a day: a.test"):
    with db.unit_of_work(brand.id):
        event = NewNotice(brand.id, kind, uuid4(), title=title, detail="It fails.", path="/dashboard/webhooks")
        notices.stage(event)


@pytest.fixture
def owner(brand):
    person = brand.person("Owner")
    assert person.get(URL).status_code == 200
    return person


def _count_unread(person):
    return person.get(URL).json["unreadCount"]


def test_notification_has_its_title_page_and_time(brand, owner, drain):
    _stage(brand)
    drain()

    answer = owner.get(URL).json
    (item,) = answer["items"]
    assert (item["kind"], item["title"], item["eventCount"], item["isUnread"]) == (
        "webhook_failing",
        "Webhook failing for a day: a.test",
        1,
        True,
    )
    assert item["url"].endswith("/dashboard/webhooks")
    assert item["firstAt"] == item["lastAt"]
    assert (answer["unreadCount"], answer["lastNumber"], answer["hasMore"]) == (1, 1, False)


def test_latest_is_first_and_pages_hold_every_one_once(brand, owner, drain):
    for number in range(5):
        _stage(brand, title=f"Number {number}")
        drain()
    titles, cursor = [], None
    while True:
        answer = owner.get(f"{URL}?take=2" + (f"&cursor={cursor}" if cursor else "")).json
        titles += [item["title"] for item in answer["items"]]
        cursor = answer["nextCursor"]
        if not cursor:
            break

    assert titles == [f"Number {number}" for number in (4, 3, 2, 1, 0)]


def test_each_person_reads_for_themselves(brand, owner, drain):
    manager = brand.person("Manager")
    manager.get(URL)
    _stage(brand)
    drain()

    assert owner.post(f"{URL}/read").json == {"unreadCount": 0}
    assert (_count_unread(owner), _count_unread(manager)) == (0, 1)
    assert [item["isUnread"] for item in owner.get(URL).json["items"]] == [False]


def test_event_after_the_shown_page_stays_unread(brand, owner, drain):
    _stage(brand, title="Shown")
    drain()
    last_number = owner.get(URL).json["lastNumber"]
    _stage(brand, title="Later")
    drain()

    assert owner.post(f"{URL}/read", {"upToNumber": last_number}).json == {"unreadCount": 1}
    unread = {item["title"]: item["isUnread"] for item in owner.get(URL).json["items"]}
    assert unread == {"Shown": False, "Later": True}


def test_mark_never_moves_back_nor_beyond_the_latest(brand, owner, drain):
    _stage(brand)
    drain()
    owner.post(f"{URL}/read", {"upToNumber": 1_000_000})
    owner.post(f"{URL}/read", {"upToNumber": 0})
    assert _count_unread(owner) == 0
    _stage(brand)
    drain()

    assert _count_unread(owner) == 1


def test_collected_event_makes_a_read_notification_unread_again(brand, owner, drain):
    brand.program()
    for number in range(2):
        ben = brand.affiliate(f"ben-{number}", status="Pending", approved_at=None)
        with db.unit_of_work(brand.id):
            notices.stage(NewNotice(brand.id, "new_application", ben))
        drain()
        assert _count_unread(owner) == 1
        owner.post(f"{URL}/read")

    ((count,),) = brand.rows("select count(*) from notification")
    assert (count, _count_unread(owner)) == (1, 0)


def test_other_tenant_sees_nothing(brand, owner, rival, drain):
    stranger = rival.person("Owner")
    stranger.get(URL)
    _stage(brand)
    drain()

    assert stranger.get(URL).json["items"] == []
    assert _count_unread(stranger) == 0
    stranger.post(f"{URL}/read")
    assert _count_unread(owner) == 1


@pytest.mark.parametrize(("role", "sees_payouts"), [("Viewer", False), ("Manager", False), ("Admin", True)])
def test_payouts_due_are_shown_from_the_role_admin_on(brand, drain, role, sees_payouts):
    person = brand.person(role)
    person.get(URL)
    _stage(brand, "payout_due", "Payouts due: 20.00 USD to 1 affiliate")
    _stage(brand)
    drain()

    kinds = {item["kind"] for item in person.get(URL).json["items"]}
    assert kinds == {"webhook_failing"} | ({"payout_due"} if sees_payouts else set())
    assert _count_unread(person) == (0 if role == "Viewer" else 1 + sees_payouts)


def test_viewer_has_none_unread_and_marks_nothing(brand, drain):
    viewer = brand.person("Viewer")
    viewer.get(URL)
    _stage(brand)
    drain()

    answer = viewer.get(URL).json
    assert ([item["isUnread"] for item in answer["items"]], answer["unreadCount"]) == ([False], 0)
    assert viewer.post(f"{URL}/read").status_code == 403
    assert viewer.call("PUT", "/api/v1/notification-preferences", {"items": []}).status_code == 403


def test_old_notifications_are_not_unread_for_a_new_member(brand, owner, drain):
    _stage(brand)
    drain()
    run_for_all_tenants(
        "update notification set first_at = first_at - interval '2 days', last_at = last_at - interval '2 days'"
    )
    manager = brand.person("Manager")

    answer = manager.get(URL).json
    assert ([item["isUnread"] for item in answer["items"]], answer["unreadCount"]) == ([False], 0)


def test_removed_member_is_refused(brand, owner, drain):
    manager = brand.person("Manager")
    manager.get(URL)
    manager.post(f"{URL}/read")
    manager.call("PUT", "/api/v1/notification-preferences", {"items": [{"kind": "first_sale", "email": False}]})
    run_for_all_tenants("delete from member where role = 'Manager'")

    assert brand.rows("select count(*) from notification_reader r join member m on m.id = r.member_id") == [(0,)]
    assert brand.rows("select count(*) from notification_reader") == [(0,)]


def test_unread_count_ends_at_100(brand, owner, drain):
    for _ in range(101):
        _stage(brand)
    drain()

    assert _count_unread(owner) == 100


def test_api_key_is_refused(brand):
    for method, path in (("GET", URL), ("POST", f"{URL}/read"), ("GET", "/api/v1/notification-preferences")):
        answer = brand.call(method, path)
        assert (answer.status_code, answer.json["error"]) == (403, "forbidden")


@pytest.mark.parametrize("deliveries", [1, 3])
def test_job_that_arrives_twice_writes_once(brand, owner, drain, deliveries):
    _stage(brand)
    drain(deliveries=deliveries)

    assert len(owner.get(URL).json["items"]) == 1
    assert brand.rows("select count(*) from mail_message") == [(1,)]


def test_job_of_an_unknown_kind_waits(brand, owner, drain):
    _stage(brand)
    run_for_all_tenants("update job set args = args || '{\"kind\": \"tomorrows\"}' where name = 'notification.add'")
    drain()

    assert owner.get(URL).json["items"] == []
    assert brand.rows("select failed_at from job where name = 'notification.add'") == [(None,)]
