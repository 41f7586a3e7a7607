"""A person's switches of notifications, and the unsubscribe link of an email."""

import re
from uuid import uuid4

import pytest

from adapters.mail import unsubscribe_links
from models import db
from models.notifications.feed import NewNotice
from pipelines.notifications import notices
from tests.support.databases import run_for_all_tenants
from tests.support.outside.post_office import PostOffice, make_jobs_due

URL = "/api/v1/notification-preferences"


@pytest.fixture
def office(app, monkeypatch):
    post_office = PostOffice(monkeypatch)
    yield post_office
    post_office.close()


def _stage(brand, kind="webhook_failing"):
    with db.unit_of_work(brand.id):
        notices.stage(
            NewNotice(brand.id, kind, uuid4(), title="Webhook failing", detail="It fails.", path="/dashboard/webhooks")
        )


def _switch(person, kind, **switches):
    answer = person.call("PUT", URL, {"items": [{"kind": kind} | switches]})
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return {item["kind"]: item for item in answer.json["items"]}[kind]


def _recipients(office):
    return sorted(recipient for message in office.sink.messages for recipient in message.recipients)


def test_everything_is_on_for_a_new_person(brand):
    answer = brand.person("Owner").get(URL).json

    assert (answer["emailAddress"], answer["isEmailVerified"]) == ("owner@example.com", True)
    assert [(item["inApp"], item["email"]) for item in answer["items"]] == [(True, True)] * 6
    assert (answer["largeSaleCents"], answer["largeSaleCurrency"]) == (100_000, "USD")


@pytest.mark.parametrize(
    ("role", "emails"),
    [
        ("Viewer", set()),
        ("Manager", {"new_application", "first_sale", "large_sale", "webhook_failing"}),
        ("Admin", {"new_application", "first_sale", "large_sale", "webhook_failing", "connection_broken"}),
    ],
)
def test_role_decides_the_emails(brand, role, emails):
    items = brand.person(role).get(URL).json["items"]

    assert {item["kind"] for item in items if item["email"] is not None} == emails


def test_email_that_is_switched_off_is_not_sent(office, brand, drain):
    owner, manager = brand.person("Owner"), brand.person("Manager")
    assert _switch(owner, "webhook_failing", email=False) == {
        "kind": "webhook_failing",
        "inApp": True,
        "email": False,
    }
    manager.get(URL)
    _stage(brand)
    drain()

    assert _recipients(office) == ["manager@example.com"]
    assert owner.get("/api/v1/notifications").json["unreadCount"] == 1


def test_notification_that_is_switched_off_in_the_dashboard_is_hidden(office, brand, drain):
    owner = brand.person("Owner")
    _switch(owner, "webhook_failing", inApp=False)
    _stage(brand)
    drain()

    answer = owner.get("/api/v1/notifications").json
    assert (answer["items"], answer["unreadCount"]) == ([], 0)
    assert _recipients(office) == ["owner@example.com"]
    _switch(owner, "webhook_failing", inApp=True)
    assert owner.get("/api/v1/notifications").json["unreadCount"] == 1


def test_switches_that_are_not_named_stay(brand):
    owner = brand.person("Owner")
    _switch(owner, "first_sale", email=False)
    _switch(owner, "large_sale", inApp=False)

    items = {item["kind"]: (item["inApp"], item["email"]) for item in owner.get(URL).json["items"]}
    assert (items["first_sale"], items["large_sale"]) == ((True, False), (False, True))


def test_unknown_kind_is_refused(brand):
    assert brand.person("Owner").call("PUT", URL, {"items": [{"kind": "weather"}]}).status_code == 400


def test_unverified_address_gets_no_email(office, brand, drain):
    unverified = brand.person("Manager", email="mallory@example.com", is_email_verified=False)
    assert unverified.get(URL).json["isEmailVerified"] is False
    _stage(brand)
    drain()

    assert _recipients(office) == ["owner@example.com"]


def test_address_that_is_verified_later_gets_emails(office, brand, drain):
    brand.person("Manager", email="mo@example.com", is_email_verified=False).get(URL)
    brand.person("Manager", email="mo@example.com").get(URL)
    _stage(brand)
    drain()

    assert _recipients(office) == ["mo@example.com", "owner@example.com"]


def test_person_who_was_removed_before_the_email_gets_none(office, brand, drain):
    brand.person("Manager").get(URL)
    _stage(brand)
    run_for_all_tenants("delete from member where role = 'Manager'")
    drain()

    assert _recipients(office) == ["owner@example.com"]


@pytest.mark.parametrize(
    "change",
    [
        "update member set removed_at = now() where role = 'Manager'",
        "update member set role = 'Viewer' where role = 'Manager'",
        "delete from member where role = 'Manager'",
        "insert into notification_reader (organization_id, member_id, emails_off)"
        " select organization_id, id, '{webhook_failing}' from member where role = 'Manager'",
    ],
    ids=["removed", "demoted", "deleted", "switched off"],
)
def test_email_that_waits_is_dropped_once_its_recipient_may_not_get_it(office, brand, drain, change):
    brand.person("Manager").get(URL)
    _stage(brand)
    with office.take_offline():
        drain()
        run_for_all_tenants(change)
    make_jobs_due()
    drain()

    assert _recipients(office) == ["owner@example.com"]
    assert brand.rows(
        "select status, body_sealed is null from mail_message where recipient = 'manager@example.com'"
    ) == [("Failed", True)]


def test_viewer_gets_no_email(office, brand, drain):
    brand.person("Viewer").get(URL)
    _stage(brand)
    drain()

    assert _recipients(office) == ["owner@example.com"]


def test_person_who_is_two_members_gets_one_email_and_one_switch_counts(office, brand, drain):
    run_for_all_tenants(
        "insert into member (id, organization_id, email, is_email_verified, role, created_at)"
        " values (gen_random_uuid(), %s, 'Ada@example.com', true, 'Manager', now())",
        brand.id,
    )
    ada = brand.person("Manager", email="ada@example.com")
    ada.get(URL)
    _stage(brand)
    drain()
    assert _recipients(office) == ["ada@example.com", "owner@example.com"]
    _switch(ada, "webhook_failing", email=False)
    _stage(brand)
    drain()

    assert _recipients(office) == ["ada@example.com", "owner@example.com", "owner@example.com"]


def _receive(office, brand, drain):
    _stage(brand)
    drain()
    return office.sink.messages[-1]


def test_email_has_its_button_reason_and_one_click_link(office, brand, drain):
    received = _receive(office, brand, drain)

    link = re.fullmatch("<(.+)>", received.message["List-Unsubscribe"])[1]
    assert received.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert "/unsubscribe/" in link
    text = received.text
    assert text.startswith("It fails.\n\nOpen webhooks: http")
    assert 'because you are an Owner of Brand and "Failing webhooks" is on' in text
    assert f"Turn off these emails: {link}" in text
    assert "/dashboard/settings/notifications" in text
    html = received.message.get_body(("html",)).get_content()
    assert link in html


def _link(office, brand, drain):
    link = re.fullmatch("<(.+)>", _receive(office, brand, drain).message["List-Unsubscribe"])[1]
    return link.partition("/unsubscribe/")[1] + link.partition("/unsubscribe/")[2]


def test_opening_the_link_changes_nothing_and_shows_a_button(office, brand, drain):
    path = _link(office, brand, drain)
    answer = brand.app.test_client().get(path)

    assert answer.status_code == 200
    assert "Turn off these emails" in answer.text
    assert "Failing webhooks" in answer.text
    assert brand.rows("select count(*) from notification_reader") == [(0,)]


def test_one_click_from_a_mail_server_switches_the_kind_off(office, brand, drain):
    path = _link(office, brand, drain)
    client = brand.app.test_client()
    for _ in range(2):
        answer = client.post(path, data={"List-Unsubscribe": "One-Click"})
        assert answer.status_code == 200
        assert "You are unsubscribed" in answer.text

    assert brand.rows("select emails_off, bell_off from notification_reader") == [(["webhook_failing"], [])]
    count = len(office.sink.messages)
    _stage(brand)
    drain()
    assert len(office.sink.messages) == count


def test_link_of_a_removed_member_is_answered_the_same(office, brand, drain):
    path = _link(office, brand, drain)
    run_for_all_tenants("delete from api_key where organization_id = %s", brand.id)
    run_for_all_tenants("delete from member where organization_id = %s", brand.id)

    assert brand.app.test_client().post(path).status_code == 200
    assert brand.rows("select count(*) from notification_reader") == [(0,)]


@pytest.mark.parametrize("change", [lambda path: path[:-1] + ("A" if path[-1] != "A" else "B"), lambda path: path[:-4]])
def test_changed_link_is_refused(office, brand, drain, change):
    path = change(_link(office, brand, drain))

    assert brand.app.test_client().post(path).status_code == 404
    assert brand.rows("select count(*) from notification_reader") == [(0,)]


def test_link_of_an_unknown_kind_is_refused(brand):
    token = unsubscribe_links.encode(unsubscribe_links.EmailSubscription(brand.id, uuid4(), 99))

    assert brand.app.test_client().get(f"/unsubscribe/{token}").status_code == 404
