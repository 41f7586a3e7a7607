"""Sign-in links by mail: who gets one, which browser they sign in, and that nobody learns who is known."""

import re
import uuid

import pytest

from adapters.identity import tokens
from models import db
from pipelines import mail
from tests.support.api.lists import count_round_trips
from tests.support.job_queues import drain
from tests.support.outside.visitor import Visitor


@pytest.fixture
def email(brand):
    """The address of an affiliate."""
    brand.program()
    found = f"rita-{uuid.uuid4().hex}@example.com"
    brand.affiliate("rita", email=found)
    return found


@pytest.fixture
def owner(brand):
    """The address of one of the brand's people, who is nobody's affiliate in any test."""
    found = f"olga-{uuid.uuid4().hex}@example.com"
    assert brand.person("Owner", email=found).get("/api/v1/programs").status_code == 200
    return found


def _letters(email):
    """Return the texts of the sign-in letters to an address."""
    with db.any_org_work():
        ids = db.db.run("select id from mail_message where recipient = %s and kind = 'sign_in.link'", (email,))
        return [mail.any_org_open(found).text for (found,) in ids]


def _ask(visitor, email, **more):
    return visitor.send("/sign-in", {"email": email, **more})


def _request_link(visitor, email, **more):
    """Ask for a link and return its address out of the letter."""
    drain("mail")
    before = _letters(email)
    _ask(visitor, email, **more)
    drain("mail")
    (new,) = set(_letters(email)) - set(before)
    return re.search(r"http\S+", new)[0]


def _without_keys(text):
    return re.sub(r'name="_key" value="[^"]*"', "", text)


def test_form_has_one_field_and_a_button(visitor):
    html = visitor.open("/sign-in?next=/portal/payouts").text

    assert '<label for="email">Email</label>' in html
    assert '<button class="button primary">Send me a link</button>' in html
    assert '<input type="hidden" name="next" value="/portal/payouts">' in html


def test_affiliate_is_signed_in_by_the_link_in_the_browser_that_asked(visitor, email):
    url = _request_link(visitor, email)
    answer = visitor.open(url)

    assert (answer.status_code, answer.headers["Location"]) == (303, "/portal")
    assert visitor.open("/portal").status_code == 200
    assert visitor.client.get_cookie("finderfee-asked") is None
    assert visitor.open(url).status_code == 410


def test_emailed_link_returns_to_the_requested_page(visitor, email):
    url = _request_link(visitor, email, next="/portal/payouts?a=b")

    assert visitor.open(url).headers["Location"] == "/portal/payouts?a=b"


def test_emailed_link_ignores_foreign_pages(visitor, email):
    assert "next" not in _request_link(visitor, email, next="//evil.test")


def test_other_browser_must_confirm_the_link(app, visitor, email):
    url = _request_link(visitor, email)
    other = Visitor(app)
    for _ in range(2):  # what scans letters opens every link in them
        looked = other.open(url)
        assert (looked.status_code, looked.headers.getlist("Set-Cookie")) == (200, [])
        assert '<button class="button primary">Sign in</button>' in looked.text
    path = "/" + url.split("/", 3)[3]
    assert visitor.client.head(path).headers.getlist("Set-Cookie") == []
    assert visitor.client.get(path, headers={"Purpose": "prefetch"}).status_code == 503

    answer = other.send(path)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/portal")
    assert other.open("/portal").status_code == 200
    assert (other.send(path).status_code, visitor.open(url).status_code) == (410, 410)


def test_confirmation_needs_own_origin(app, visitor, email):
    path = "/" + _request_link(visitor, email).split("/", 3)[3]

    assert Visitor(app).send(path, Sec_Fetch_Site="cross-site").status_code == 403
    assert visitor.open(path).status_code == 303


def test_later_link_of_another_browser_does_not_sign_in_this_one(app, visitor, email):
    other = Visitor(app)
    _ask(visitor, email)
    url = _request_link(other, email)

    assert visitor.open(url).status_code == 200
    assert other.open(url).status_code == 303


def test_emailed_link_expires_after_15_minutes(visitor, email):
    url = _request_link(visitor, email)
    with db.any_org_work():
        (good_for,) = db.db.row(
            "select extract(epoch from expires_at - now()) from sign_in_link where email = %s", (email,)
        )
        db.db.run("update sign_in_link set expires_at = now() where email = %s", (email,))

    assert 890 <= good_for <= 900
    assert visitor.open(url).status_code == 410


def test_known_and_unknown_addresses_get_the_same_answer(app, email, owner):
    answers, pages = [], []
    for asked in (email, f"nobody-{uuid.uuid4().hex}@example.com", owner):
        visitor = Visitor(app)
        answer = _ask(visitor, asked)
        cookie = re.sub(r"=[^;]+;", "=;", answer.headers["Set-Cookie"], count=1)
        answers.append((answer.status_code, answer.data, answer.headers["Location"], cookie.partition("Expires")[0]))
        pages.append(_without_keys(visitor.open("/sign-in/asked").text))

    assert len(set(answers)) == 1
    assert len(set(pages)) == 1
    assert "flask mail outbox" in pages[0]


def test_request_does_the_same_work_for_every_address(app, email):
    def trips(address):
        return count_round_trips(lambda: _ask(Visitor(app), address).headers["Location"])

    assert trips(email) == trips(f"nobody-{uuid.uuid4().hex}@example.com") <= 2


def test_no_other_address_gets_an_email(visitor, email, owner):
    for asked in (f"nobody-{uuid.uuid4().hex}@example.com", owner):
        _ask(visitor, asked)
        drain("mail")
        assert _letters(asked) == []
    with db.any_org_work():
        db.db.run("update affiliate set deleted_at = now() where email = %s", (email,))
    _ask(visitor, email)
    drain("mail")
    assert _letters(email) == []


def test_address_gets_three_emails_an_hour_silently(visitor, email):
    answers = set()
    for _ in range(5):
        answers.add(_ask(visitor, email.upper()).status_code)
        drain("mail")
    assert answers == {303}
    assert len(_letters(email)) == 3

    with db.any_org_work():
        db.db.run("update sign_in_letter set expires_at = now() - interval '1 second'")
    _ask(visitor, email)
    drain("mail")
    assert len(_letters(email)) == 4


def test_repeated_job_sends_one_email(visitor, email):
    _ask(visitor, email)
    drain("mail", deliveries=2)

    assert len(_letters(email)) == 1


@pytest.mark.parametrize("wrong", ["", "rita", "a@b", "a@b.c\x00", "x" * 400 + "@example.com", "a b@example.com"])
def test_invalid_address_shows_an_error(visitor, wrong):
    answer = _ask(visitor, wrong, next="/portal/links")

    assert answer.status_code in (303, 422)
    if answer.status_code == 422:
        assert 'role="alert"' in answer.text
        assert "<title>Error: " in answer.text
        assert 'aria-invalid="true"' in answer.text
        assert 'value="/portal/links"' in answer.text


def test_address_and_token_are_not_readable_in_the_database(visitor, email):
    _ask(visitor, email)
    with db.any_org_work():
        asked = db.db.run("select args::text || fair_key from job where name = 'sign_in.letter'")
    assert asked
    assert not any(email.partition("@")[0] in row for (row,) in asked)

    token = _request_link(visitor, email).rpartition("/")[2]
    with db.any_org_work():
        kept = db.db.run("select l::text from sign_in_link l union all select m::text from mail_message m")
    assert not any(token in row for (row,) in kept)


def test_configured_provider_disables_emailed_links(visitor, email, monkeypatch):
    def refuse(kind):
        raise tokens.NotLocal(f"ask the {kind}'s provider")

    monkeypatch.setattr(tokens, "check_local", refuse)
    assert "Send me a link" not in visitor.open("/sign-in").text
    assert _ask(visitor, email).status_code == 303
    drain("mail")
    assert _letters(email) == []


def test_email_names_sender_and_says_it_can_be_ignored(visitor, brand, email):
    _request_link(visitor, email)
    (letter,) = _letters(email)

    assert "your affiliate account at Brand" in letter
    assert "for 15 minutes" in letter
    assert "ignore this email" in letter


def test_requests_are_rate_limited_per_caller(app, visitor, monkeypatch):
    monkeypatch.setattr(app.extensions["limiter"], "allows", lambda bucket, caller: bucket != "anonymous")

    assert _ask(visitor, "rita@example.com").status_code == 429


def test_expired_link_is_refused_in_the_requesting_browser_too(visitor, email):
    _ask(visitor, email)

    assert visitor.open("/sign-in/link/none").status_code == 410
    assert visitor.client.get_cookie("finderfee-asked") is not None
