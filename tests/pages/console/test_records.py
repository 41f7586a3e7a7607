"""Mail, organizations, the schedule, connections and the catalogue of page parts on the console."""

import re

import pytest

from models import db
from pages import template_filters
from tests.support.outside.console import list_audit_entries
from tests.support.outside.post_office import PostOffice, stage_messages


@pytest.fixture
def office(app, monkeypatch):
    """A mail server; SMTP_URL is not set until a test sets it."""
    post_office = PostOffice(monkeypatch)
    post_office.server = post_office.settings.mail.smtp
    post_office.set(smtp=None)
    yield post_office
    post_office.close()


def test_stored_email_is_shown_masked_and_resent(operator, brand, office, drain, page_text):
    (message_id,) = stage_messages(brand, "Join <us>", text="Hello https://x.example/sign-in/link/abcDEF123 bye")
    drain()
    list_html = operator.open(f"/console/mail?status=Kept&organizationId={brand.id}").text
    message_page = operator.open(f"/console/mail/{message_id}")
    refused = operator.send(f"/console/mail/{message_id}/retry", {"_key": "a"})
    office.set(smtp=office.server)
    answer = operator.send(f"/console/mail/{message_id}/retry", {"_key": "b"})
    drain()

    assert "Join &lt;us&gt;" in list_html
    assert "Hello" not in list_html
    assert "/sign-in/link/… bye" in page_text(message_page)
    assert "abcDEF123" not in message_page.text
    assert list_audit_entries("mail.read", message_id)[0][:2] == ("operator", "operator@example.com")
    assert (refused.status_code, "SMTP_URL" in refused.text) == (422, True)
    assert (answer.status_code, office.subjects) == (303, ["Join <us>"])


def test_invalid_mail_filters_show_an_error(operator):
    answer = operator.open("/console/mail?status=Lost")

    assert answer.status_code == 400
    assert 'role="alert"' in answer.text


def test_organization_is_listed_and_its_setting_changed(operator, brand):
    address = f"/console/tenants/{brand.id}"
    list_html = operator.open(f"/console/tenants?q={brand.id}").text
    html = operator.open(f"{address}?setting=plan").text
    answer = operator.send(address, {"setting": "plan", "value": "Pro", "why": "they pay more", "_key": "a"})

    assert f'href="{address}"' in list_html
    assert '<option value="plan" selected>' in html
    assert 'name="value" type="text" value="Growth"' in html
    assert (answer.status_code, answer.headers["Location"]) == (303, address)
    assert brand.rows("select plan_tier from organization") == [("Pro",)]
    assert list_audit_entries("organization.changed", brand.id)[-1][3] == {"plan": "Pro", "why": "they pay more"}


@pytest.mark.parametrize(
    "form",
    [
        {"setting": "fraudScore", "value": "many", "why": "w"},
        {"setting": "colour", "value": "red", "why": "w"},
        {"setting": "", "value": "red", "why": "w"},
        {"setting": "fraudScore", "value": "7", "why": " "},
    ],
)
def test_refused_setting_keeps_the_typed_value(operator, brand, form):
    answer = operator.send(f"/console/tenants/{brand.id}", form | {"_key": "a"})

    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.text
    assert f'value="{form["value"]}"' in answer.text
    assert brand.rows("select fraud_score from organization") == [(0,)]


def test_schedule_marks_late_ticks(operator, app):
    with db.any_org_work():
        db.db.run(
            "insert into tick (name, scheduled_for) values ('upkeep.forget', now() - interval '2 days')"
            " on conflict do nothing"
        )
    html = operator.open("/console/schedule").text
    row = re.search(r'<tr role="row"><th scope="row" role="rowheader">upkeep.forget</th>.*?</tr>', html)[0]

    assert "<code>*/10 * * * *</code>" in row
    assert ">Late</span>" in row


def test_frame_shows_the_operators_email(visitor, links):
    visitor.open(links("operator", "--email", "nora-of-the-frame@ops.example"))

    assert "nora-of-the-frame@ops.example" in visitor.open("/console/style").text


def test_style_page_shows_every_status(operator):
    html = operator.open("/console/style").text

    assert [
        state for state in template_filters.COLOURS if f">{template_filters.state_words(state)}</span>" not in html
    ] == []


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ("/console", "Now"),
        ("/console/dead", "Dead letters"),
        ("/console/schedule", "Schedule"),
        ("/console/ledger", "Ledger"),
        ("/console/payouts", "Payouts"),
        ("/console/rates", "Rates"),
        ("/console/mail", "Mail"),
        ("/console/tenants", "Tenants"),
        ("/console/style", "Style"),
    ],
)
def test_each_screen_has_its_heading_and_navigation_entry(operator, path, heading):
    html = operator.open(path).text

    assert f"<h1>{heading}</h1>" in html
    assert f'<a href="{path}" aria-current="page">' in html
    assert ("data-live" in html) <= ("data-hold" in html)
