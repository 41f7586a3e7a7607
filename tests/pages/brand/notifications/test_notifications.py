"""The bell, the list of notifications, and a person's switches."""

import re
from uuid import uuid4

import pytest

from models import db
from models.notifications.feed import NewNotice
from pipelines.notifications import notices

_HERE = "/dashboard/notifications"
_SETTINGS = "/dashboard/settings/notifications"


def _stage(brand, title="Webhook failing for a day: a.test"):
    with db.unit_of_work(brand.id):
        notices.stage(
            NewNotice(brand.id, "webhook_failing", uuid4(), title=title, detail="It fails.", path="/dashboard/webhooks")
        )


@pytest.fixture
def owner(visitor, links):
    visitor.open(links("owner"))
    return visitor


def _bell(html):
    return re.sub(r"<[^>]+>|\s+", " ", re.search(r'<a [^>]*href="/dashboard/notifications".*?</a>', html, re.S)[0])


def _find_hidden(html, name):
    return re.search(rf'name="{name}" value="([^"]*)"', html)[1]


def test_bell_counts_the_unread_on_every_page(owner, brand, drain):
    assert _bell(owner.open("/dashboard/affiliates").text).split() == ["Notifications"]
    _stage(brand)
    drain()

    for page in ("/dashboard/affiliates", "/dashboard/webhooks", _HERE):
        assert _bell(owner.open(page).text).split() == ["Notifications", "1", "unread"]


def test_list_leads_to_each_thing_and_marks_all_as_read(owner, brand, drain):
    _stage(brand)
    drain()
    html = owner.open(_HERE).text
    assert "<h1>Notifications</h1>" in html
    assert '<a href="/dashboard/webhooks"><b>Webhook failing for a day: a.test</b></a>' in html

    form = {"upToNumber": _find_hidden(html, "upToNumber"), "_key": _find_hidden(html, "_key")}
    answer = owner.send(f"{_HERE}/read", form)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{_HERE}?done=read")
    html = owner.open(_HERE).text
    assert _bell(html).split() == ["Notifications"]
    assert "Mark all as read" not in html


def test_notification_after_the_page_was_loaded_stays_unread(owner, brand, drain):
    _stage(brand)
    drain()
    html = owner.open(_HERE).text
    _stage(brand, "Later")
    drain()
    owner.send(f"{_HERE}/read", {"upToNumber": _find_hidden(html, "upToNumber")})

    assert _bell(owner.open(_HERE).text).split() == ["Notifications", "1", "unread"]


@pytest.mark.parametrize("number", ["", "x", "-1", "9" * 20])
def test_form_without_a_valid_number_marks_all(owner, brand, drain, number):
    _stage(brand)
    drain()
    assert owner.send(f"{_HERE}/read", {"upToNumber": number}).status_code == 303

    assert _bell(owner.open(_HERE).text).split() == ["Notifications"]


def test_list_is_live_and_empty_when_unchanged(owner, brand, drain):
    html = owner.open(_HERE).text
    assert "all caught up" in html
    address = re.search(r'hx-get="(/dashboard/notifications/list[^"]*)"', html)[1].replace("&amp;", "&")
    assert owner.open(address).status_code == 204
    _stage(brand)
    drain()
    part = owner.open(address)

    assert part.status_code == 200
    assert "Webhook failing for a day" in part.text
    assert "<html" not in part.text


def test_older_notifications_are_on_the_next_page(owner, brand, drain):
    for number in range(51):
        _stage(brand, f"Number {number:02}")
    drain()
    html = owner.open(_HERE).text
    older = re.search(r'href="([^"]+)" rel="next"', html)[1].replace("&amp;", "&")

    assert len(re.findall(r"<b>Number \d\d</b>", html)) == 50
    assert len(re.findall(r"<b>Number \d\d</b>", owner.open(older).text)) == 1


def test_switches_are_saved_and_shown(owner, brand):
    html = owner.open(_SETTINGS).text
    assert "<h1>Notification settings</h1>" in html
    kinds = re.findall(r'name="kinds" value="([^"]+)"', html)
    assert len(kinds) == 6
    checked = dict.fromkeys(re.findall(r'<input type="checkbox"[^>]*name="([^"]+)"[^>]* checked', html), "on")
    assert len(checked) == 12
    del checked["email-first_sale"], checked["inApp-large_sale"]
    answer = owner.client.post(
        _SETTINGS,
        data={**checked, "kinds": kinds, "emails": re.findall(r'name="emails" value="([^"]+)"', html)},
        headers={"Sec-Fetch-Site": "same-origin"},
    )

    assert answer.status_code == 303
    assert brand.rows("select emails_off, bell_off from notification_reader") == [(["first_sale"], ["large_sale"])]
    html = owner.open(f"{_SETTINGS}?done=saved").text
    assert "Saved." in html
    assert len(re.findall(r'<input type="checkbox"[^>]* checked', html)) == 10


def test_owner_sets_the_amount_of_a_large_sale(owner, brand):
    assert 'value="1000.00"' in owner.open(_SETTINGS).text
    owner.send(f"{_SETTINGS}/large-sales", {"largeSaleCents": "250"})
    assert brand.rows("select large_sale_cents, large_sale_currency from organization") == [(25_000, "USD")]
    refused = owner.send(f"{_SETTINGS}/large-sales", {"largeSaleCents": "lots"})
    assert refused.status_code == 400
    assert 'value="lots"' in refused.text
    owner.send(f"{_SETTINGS}/large-sales", {"largeSaleCents": ""})

    assert brand.rows("select large_sale_cents, large_sale_currency from organization") == [(None, None)]


def test_amount_is_typed_in_the_home_currency(owner, brand):
    owner.send(f"{_SETTINGS}/large-sales", {"largeSaleCents": "250"})
    owner.send("/dashboard/settings/payouts/currency", {"homeCurrency": "JPY"})
    html = owner.open(_SETTINGS).text
    assert "Amount in JPY" in html
    assert "It is 250.00 USD now." in html
    owner.send(f"{_SETTINGS}/large-sales", {"currency": "USD", "largeSaleCents": "30000"})

    assert brand.rows("select large_sale_cents, large_sale_currency from organization") == [(30_000, "JPY")]


def test_viewer_sees_notifications_and_no_form(visitor, links, brand, drain):
    visitor.open(links("owner", "--role", "Viewer", "--email", "vera@x.test"))
    _stage(brand)
    drain()
    html = visitor.open(_HERE).text
    assert "Webhook failing for a day" in html
    assert "Mark all as read" not in html
    assert _bell(html).split() == ["Notifications"]
    html = visitor.open(_SETTINGS).text

    assert 'action="/dashboard/settings/notifications' not in html
    assert "A Viewer gets no emails." in html
    assert "1,000.00 USD" in html


def test_affiliate_and_stranger_have_no_notifications(app, visitor, links, brand):
    assert visitor.open(_HERE).headers["Location"].startswith("/sign-in?next=")
    visitor.open(links("affiliate", "--email", "rita@example.com"))

    assert visitor.open(_HERE).status_code == 403
    assert "/dashboard/notifications" not in visitor.open("/portal").text
