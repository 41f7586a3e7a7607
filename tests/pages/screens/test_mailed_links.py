"""Sign-in links by email: who gets one, which browser they sign in, and that answers do not reveal who is known."""

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
    """The email address of an affiliate."""
    brand.program()
    address = f"rita-{uuid.uuid4().hex}@example.com"
    brand.affiliate("rita", email=address)
    return address


@pytest.fixture
def owner(brand):
    """The email address of a member of the brand who is not an affiliate of any brand."""
    address = f"olga-{uuid.uuid4().hex}@example.com"
    assert brand.person("Owner", email=address).get("/api/v1/programs").status_code == 200
    return address


def _sign_in_emails(email):
    """Return the texts of the sign-in emails to an address."""
    with db.any_org_work():
        ids = db.db.run("select id from mail_message where recipient = %s and kind = 'sign_in.link'", (email,))
        return [mail.any_org_open(message_id).text for (message_id,) in ids]


def _submit_email(visitor, email, *, address="127.0.0.1", **fields):
    visitor.client.environ_base["REMOTE_ADDR"] = address
    return visitor.send("/sign-in", {"email": email, **fields})


def _request_link(visitor, email, **fields):
    """Request a link and return it from the email."""
    drain("mail")
    before = _sign_in_emails(email)
    _submit_email(visitor, email, **fields)
    drain("mail")
    (new,) = set(_sign_in_emails(email)) - set(before)
    return re.search(r"http\S+", new)[0]


def _without_keys(text):
    return re.sub(r'name="_key" value="[^"]*"', "", text)


def test_form_has_one_field_and_a_button(visitor):
    html = visitor.open("/sign-in?next=/portal/payouts").text

    assert '<label for="email">Email</label>' in html
    assert '<button class="button primary">Send me a link</button>' in html
    assert '<input type="hidden" name="next" value="/portal/payouts">' in html


def test_link_signs_the_affiliate_in_at_once_in_the_requesting_browser(visitor, email):
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
    for _ in range(2):  # mail scanners open every link in an email
        answer_of_get = other.open(url)
        assert (answer_of_get.status_code, answer_of_get.headers.getlist("Set-Cookie")) == (200, [])
        assert '<button class="button primary">Sign in</button>' in answer_of_get.text
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


def test_link_requested_by_another_browser_needs_confirmation(app, visitor, email):
    other = Visitor(app)
    _submit_email(visitor, email)
    url = _request_link(other, email)

    assert visitor.open(url).status_code == 200
    assert other.open(url).status_code == 303


def test_emailed_link_expires_after_15_minutes(visitor, email):
    url = _request_link(visitor, email)
    with db.any_org_work():
        (lifetime_s,) = db.db.row(
            "select extract(epoch from expires_at - now()) from sign_in_link where email = %s", (email,)
        )
        db.db.run("update sign_in_link set expires_at = now() where email = %s", (email,))

    assert 890 <= lifetime_s <= 900
    assert visitor.open(url).status_code == 410


def test_known_and_unknown_addresses_get_the_same_answer(app, email, owner):
    answers, pages = [], []
    for address in (email, f"nobody-{uuid.uuid4().hex}@example.com", owner):
        visitor = Visitor(app)
        answer = _submit_email(visitor, address)
        cookie = re.sub(r"=[^;]+;", "=;", answer.headers["Set-Cookie"], count=1)
        answers.append((answer.status_code, answer.data, answer.headers["Location"], cookie.partition("Expires")[0]))
        pages.append(_without_keys(visitor.open("/sign-in/asked").text))

    assert len(set(answers)) == 1
    assert len(set(pages)) == 1
    assert "flask mail outbox" in pages[0]


def test_request_does_the_same_work_for_every_address(app, email):
    def count_trips(address):
        return count_round_trips(lambda: _submit_email(Visitor(app), address).headers["Location"])

    assert count_trips(email) == count_trips(f"nobody-{uuid.uuid4().hex}@example.com") <= 2


def test_no_other_address_gets_an_email(visitor, email):
    address = f"nobody-{uuid.uuid4().hex}@example.com"
    _submit_email(visitor, address)
    drain("mail")
    assert _sign_in_emails(address) == []
    with db.any_org_work():
        db.db.run("update affiliate set deleted_at = now() where email = %s", (email,))
    _submit_email(visitor, email)
    drain("mail")
    assert _sign_in_emails(email) == []


def test_address_gets_three_emails_an_hour_silently(visitor, email):
    answers = set()
    for _ in range(5):
        answers.add(_submit_email(visitor, email.upper()).status_code)
        drain("mail")
    assert answers == {303}
    assert len(_sign_in_emails(email)) == 3

    with db.any_org_work():
        db.db.run("update sign_in_letter set expires_at = now() - interval '1 second'")
    _submit_email(visitor, email)
    drain("mail")
    assert len(_sign_in_emails(email)) == 4


def test_requests_of_a_stranger_keep_no_one_from_signing_in(app, visitor, email):
    stranger = Visitor(app)
    for _ in range(4):
        _submit_email(stranger, email, address="203.0.113.7")
        drain("mail")
    _pass_time("11 minutes")
    _submit_email(stranger, email, address="203.0.113.7")
    drain("mail")
    assert len(_sign_in_emails(email)) == 3
    _submit_email(visitor, email)
    drain("mail")

    assert len(_sign_in_emails(email)) == 4


def test_address_gets_three_emails_in_ten_minutes_from_all_networks(app, email):
    for number in range(9):
        _submit_email(Visitor(app), email, address=f"203.0.113.{number}")
        drain("mail")

    assert len(_sign_in_emails(email)) == 3


def test_signed_in_person_gets_further_links_every_ten_minutes(visitor, owner):
    """Actions on money need a login of the last ten minutes."""
    visitor.open(_request_link(visitor, owner))
    for _ in range(4):
        _pass_time("11 minutes")
        assert visitor.open(_request_link(visitor, owner)).status_code == 303
    for _ in range(5):
        _submit_email(visitor, owner)
        drain("mail")

    assert len(_sign_in_emails(owner)) == 1 + 4 + 2


def _pass_time(duration):
    """Move the ends of the counts of emails back, as if this time had passed."""
    with db.any_org_work():
        db.db.run("update sign_in_letter set expires_at = expires_at - %s::interval returning 1", (duration,))


@pytest.mark.parametrize(("length", "is_kept"), [(1_000, True), (1_001, False)])
def test_requested_page_has_a_maximum_length(visitor, email, length, is_kept):
    page = "/portal?a=".ljust(length, "z")

    assert ("next=" in _request_link(visitor, email, next=page)) is is_kept


def test_repeated_job_sends_one_email(visitor, email):
    _submit_email(visitor, email)
    drain("mail", deliveries=2)

    assert len(_sign_in_emails(email)) == 1


@pytest.mark.parametrize("address", ["", "rita", "a@b", "a@b.c\x00", "x" * 400 + "@example.com", "a b@example.com"])
def test_invalid_address_shows_an_error(visitor, address):
    answer = _submit_email(visitor, address, next="/portal/links")

    assert answer.status_code in (303, 422)
    if answer.status_code == 422:
        assert 'role="alert"' in answer.text
        assert "<title>Error: " in answer.text
        assert 'aria-invalid="true"' in answer.text
        assert 'value="/portal/links"' in answer.text


def test_address_and_token_are_not_readable_in_the_database(visitor, email):
    _submit_email(visitor, email)
    with db.any_org_work():
        jobs = db.db.run("select args::text || fair_key from job where name = 'sign_in.letter'")
    assert jobs
    assert not any(email.partition("@")[0] in row for (row,) in jobs)

    token = _request_link(visitor, email).rpartition("/")[2]
    with db.any_org_work():
        rows = db.db.run("select l::text from sign_in_link l union all select m::text from mail_message m")
    assert not any(token in row for (row,) in rows)


def test_configured_provider_disables_emailed_links(visitor, email, monkeypatch):
    def refuse(kind):
        raise tokens.NotLocal(f"ask the {kind}'s provider")

    monkeypatch.setattr(tokens, "check_local", refuse)
    assert "Send me a link" not in visitor.open("/sign-in").text
    assert _submit_email(visitor, email).status_code == 303
    drain("mail")
    assert _sign_in_emails(email) == []


def test_email_names_the_brand_and_explains_that_it_can_be_ignored(visitor, brand, email):
    _request_link(visitor, email)
    (text,) = _sign_in_emails(email)

    assert "your affiliate account at Brand" in text
    assert "for 15 minutes" in text
    assert "ignore this email" in text


def test_requests_are_rate_limited_per_caller(app, visitor, monkeypatch):
    monkeypatch.setattr(app.extensions["limiter"], "allows", lambda bucket, caller: bucket != "anonymous")

    assert _submit_email(visitor, "rita@example.com").status_code == 429


def test_unknown_link_returns_410_and_keeps_the_request_cookie(visitor, email):
    _submit_email(visitor, email)

    assert visitor.open("/sign-in/link/none").status_code == 410
    assert visitor.client.get_cookie("finderfee-asked") is not None
