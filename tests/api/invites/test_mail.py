"""The email with the link of an invite. Source: core spec, "Affiliate invites", invite rules."""

import calendar
from datetime import datetime

import pytest

from tests.support.api.invite_requests import URL, invite, list_emails, unique_email
from tests.support.outside.post_office import PostOffice


def _get_email(brand, **fields):
    answer = invite(brand, **fields)
    (email_view,) = list_emails(brand)
    return answer, email_view


def test_email_contains_names_terms_note_link_and_expiry(campaign):
    email = unique_email()

    answer, email_view = _get_email(
        campaign,
        email=email,
        fullName="Ada Lovelace",
        personalNoteHtml="<p>Dear {{ affiliate.firstName }}, {{brand.name}} pays {{program.commission}}.</p>",
    )

    url = answer.json["acceptUrl"]
    assert (email_view.message.kind, email_view.message.recipient) == ("affiliate.invite", email)
    assert email_view.message.subject == "Brand invites you to the affiliate program Spring"
    for part in ("Brand", "Spring", "20 %", "Dear Ada, Brand pays 20 %.", url):
        assert part in (email_view.text or "")
        assert part in (email_view.html or "")
    ends = datetime.fromisoformat(answer.json["invite"]["expiresAt"])
    assert f"until {ends.day} {calendar.month_name[ends.month]} {ends.year}, {ends:%H:%M} UTC" in (
        email_view.text or ""
    )
    assert f'<a href="{url}">' in (email_view.html or "")


@pytest.mark.parametrize(
    ("program", "own", "words"),
    [
        ({}, {}, "20 %"),
        ({}, {"customCommissionType": "Percentage", "customCommissionValue": 33.5}, "33.5 %"),
        ({}, {"customCommissionType": "Fixed", "customCommissionValue": 15}, "15 USD per sale"),
        (
            {"default_commission_model": "Cpc", "default_commission_type": "Fixed", "default_commission_value": "0.5"},
            {},
            "0.50 USD per click",
        ),
        (
            {"default_commission_model": "Cpl", "default_commission_type": "Fixed", "default_commission_value": "3"},
            {"customCommissionType": "Fixed", "customCommissionValue": 0},
            "0 USD per lead",
        ),
    ],
)
def test_email_quotes_the_commission_of_the_invite(brand, program, own, words):
    brand.program(**program)

    _, email_view = _get_email(brand, personalNoteHtml="[{{program.commission}}]", **own)

    assert f"[{words}]" in (email_view.text or "")


def test_amounts_are_in_the_home_currency(brand):
    brand.set(currency="EUR")
    brand.program(default_commission_type="Fixed", default_commission_value="12.5")

    _, email_view = _get_email(brand)

    assert "12.50 EUR per sale" in (email_view.text or "")


def test_neither_headers_nor_html_can_be_injected_through_names(campaign):
    evil = "<b>Acme</b>\r\nBcc: eve@example.com\x0b&\u2028"
    campaign.rows("update organization set name = %s where id = %s returning id", evil, campaign.id)
    campaign.rows("update program set name = %s returning id", evil)

    _, email_view = _get_email(
        campaign,
        fullName="<b>Acme</b>\u2028Bcc: eve@example.com",
        personalNoteHtml="<p>{{brand.name}}|{{affiliate.firstName}}</p>",
    )

    one_line = "<b>Acme</b> Bcc: eve@example.com &"
    escaped = "&lt;b&gt;Acme&lt;/b&gt; Bcc: eve@example.com &amp;"
    assert email_view.message.subject == f"{one_line} invites you to the affiliate program {one_line}"
    assert "<b>" not in (email_view.html or "")
    assert f"<p>{escaped}|&lt;b&gt;Acme&lt;/b&gt;</p>" in (email_view.html or "")
    assert f"{one_line}|<b>Acme</b>" in (email_view.text or "")


def test_scripts_are_removed_from_the_emailed_note(campaign):
    note = (
        '<p onclick="alert(1)">Hi</p><script>alert(1)</script><img src=x onerror=alert(1)>'
        '<a href="javascript:alert(1)">a</a><a href="http://x.test">b</a><a href="data:text/html,x">c</a>'
        '<a href="https://x.test">d</a><b><i>open'
    )

    _, email_view = _get_email(campaign, personalNoteHtml=note)

    sanitized = '<p>Hi</p><a>a</a><a>b</a><a>c</a><a href="https://x.test">d</a><b><i>open</i></b>'
    assert f"<div>{sanitized}</div>" in (email_view.html or "")
    assert "Hi\n\nabcd (https://x.test)open" in (email_view.text or "")


def test_email_without_a_note_has_no_blank_paragraph(campaign):
    answer, email_view = _get_email(campaign)

    words = (email_view.text or "") + (email_view.html or "")
    assert "None" not in words.replace(answer.json["acceptUrl"], "")  # its token may contain any four letters
    assert "\n\n\n" not in (email_view.text or "")


def test_refused_invite_sends_no_email(campaign):
    campaign.affiliate("known", email="known@example.com")

    assert invite(campaign, email="known@example.com").status_code == 409
    assert list_emails(campaign) == []


def test_delivered_email_contains_the_link(campaign, drain, monkeypatch):
    office = PostOffice(monkeypatch)
    answer = invite(campaign, personalNoteHtml="<p>Grüße ✓</p>")

    drain()
    office.close()

    (email,) = office.sink.messages
    text = email.message.get_body(("plain",)).get_content()
    html = email.message.get_body(("html",)).get_content()
    assert office.subjects == ["Brand invites you to the affiliate program Spring"]
    assert answer.json["acceptUrl"] in text
    assert answer.json["acceptUrl"] in html
    assert "Grüße ✓" in text


def test_resent_email_contains_only_the_new_link(campaign):
    created = invite(campaign)

    again = campaign.person("Manager").post(f"{URL}/{created.json['invite']['id']}/resend")

    _, second = list_emails(campaign)
    assert again.json["acceptUrl"] in (second.text or "")
    assert created.json["acceptUrl"] not in (second.text or "")
