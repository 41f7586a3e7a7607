"""The hosted lead form. Source: core spec, "Program" (leadBountyCents: the hosted lead form)."""

import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from uuid import uuid4

import pytest

from adapters.fraud import human_check
from tests.support.rows import paid_leads
from tests.support.rows.paid_leads import BROWSER, create_campaign, list_fraud_events, list_lead_conversions

_SERVICE = {
    "URL": "http://127.0.0.1:9/verify",
    "SECRET": "s",
    "SCRIPT_URL": "https://human.example.com/v0/api.js",
    "SITE_KEY": 'key"<',
}


@pytest.fixture(autouse=True)
def _local_tokens(app):
    with paid_leads.configure_human_check(URL="local"):
        yield


@pytest.fixture
def slug(brand):
    return create_campaign(brand, name="<b>Spring</b> & co")


def _open(brand, path):
    return brand.app.test_client().get(path, headers={"User-Agent": BROWSER})


def _post(brand, path, **fields):
    form = {"email": paid_leads.unique_person_email(), "name": "", "website": ""} | fields
    if "token" not in form:
        form["token"] = paid_leads.create_human_token()
    return brand.app.test_client().post(path, data=form, headers={"User-Agent": BROWSER})


class _Elements(HTMLParser):
    """The start tags of a page with their attributes."""

    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def list_attributes(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def test_form_shows_escaped_names_of_brand_and_campaign(brand, slug):
    brand.rows("update organization set name = '<i>Brand</i>' where id = %s returning 1", brand.id)

    answer = _open(brand, f"/lead/{slug}")

    assert (answer.status_code, answer.content_type) == (200, "text/html; charset=utf-8")
    assert "&lt;b&gt;Spring&lt;/b&gt; &amp; co" in answer.text
    assert "&lt;i&gt;Brand&lt;/i&gt;" in answer.text
    assert not re.search("<[bi]>", answer.text)


def test_every_field_has_a_label_and_the_page_a_language(brand, slug):
    page = _Elements(_open(brand, f"/lead/{slug}").text)

    field_ids = {
        attributes["id"] for attributes in page.list_attributes("input") if attributes.get("type") in ("email", "text")
    }
    assert field_ids == {"email", "name"}
    assert field_ids <= {label.get("for") for label in page.list_attributes("label")}
    assert page.list_attributes("html") == [{"lang": "en"}]
    assert page.list_attributes("form")[0]["method"] == "post"


def test_form_loads_no_foreign_files_and_no_script(brand, slug):
    answer = _open(brand, f"/lead/{slug}")

    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "<script" not in answer.text
    assert {name: answer.headers[name] for name in ("Cache-Control", "Referrer-Policy", "X-Robots-Tag")} == {
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Robots-Tag": "noindex",
    }
    assert "Set-Cookie" not in answer.headers


def test_sent_form_creates_a_paid_lead(brand, slug):
    answer = _post(brand, f"/lead/{slug}", name="Ada")

    assert answer.status_code == 200
    assert "Thank you" in answer.text
    assert list_lead_conversions(brand) == [("Pending", 500, "USD", "payable", "lead_form")]


@pytest.mark.parametrize("column", ["id", "slug"])
def test_campaign_is_named_by_its_id_or_slug(brand, slug, column):
    ((name,),) = brand.rows(f"select {column}::text from program where organization_id = %s", brand.id)

    assert _open(brand, f"/lead/{name}/{slug}").status_code == 200
    assert _post(brand, f"/lead/{name}/{slug}").status_code == 200
    assert len(list_lead_conversions(brand)) == 1


@pytest.mark.parametrize("path", ["/lead/nobody-has-this", "/lead/x/nobody-has-this", "/lead/%00", "/lead/ü"])
def test_page_of_a_missing_form_names_no_brand(brand, slug, path):
    for answer in (_open(brand, path), _post(brand, path)):
        assert (answer.status_code, answer.mimetype) == (404, "text/html")
        assert "Brand" not in answer.text


def test_closed_form_looks_like_a_missing_one(brand, rival, slug):
    paths = [f"/lead/{rival.program()}/{slug}", f"/lead/{uuid4()}/{slug}"]
    unknown = _open(brand, "/lead/nobody-has-this")
    brand.set(leadPreview="off")

    assert {_open(brand, path).data for path in [*paths, f"/lead/{slug}"]} == {unknown.data}
    assert _post(brand, f"/lead/{slug}").status_code == 404


def test_invalid_email_is_shown_again_with_an_error(brand, slug):
    answer = _post(brand, f"/lead/{slug}", email='"><script>', name="Ada & Bo")
    page = _Elements(answer.text)

    assert answer.status_code == 400
    (email,) = [attributes for attributes in page.list_attributes("input") if attributes.get("id") == "email"]
    (name,) = [attributes for attributes in page.list_attributes("input") if attributes.get("id") == "name"]
    assert (email["value"], email["aria-invalid"], "autofocus" in email) == ('"><script>', "true", True)
    assert name["value"] == "Ada & Bo"
    assert {"id": email["aria-describedby"], "class": "wrong"} in page.list_attributes("p")
    assert {"role": "alert"} in page.list_attributes("div")
    assert [attributes["href"] for attributes in page.list_attributes("a")] == ["#email"]
    assert "<title>Error: " in answer.text
    assert list_lead_conversions(brand) == []


@pytest.mark.parametrize(
    "fields",
    [{"email": ""}, {"email": "a" * 500}, {"email": "a\x00@example.com"}, {"name": "x" * 201}],
)
def test_invalid_values_show_the_form_again(brand, slug, fields):
    answer = _post(brand, f"/lead/{slug}", **fields)

    assert (answer.status_code, list_lead_conversions(brand)) == (400, [])
    assert f'href="#{next(iter(fields))}"' in answer.text


def test_empty_form_is_shown_again(brand, slug):
    answer = brand.app.test_client().post(f"/lead/{slug}", json={"email": "ada@example.com"})

    assert (answer.status_code, list_lead_conversions(brand)) == (400, [])


def test_form_sent_too_fast_is_shown_again(brand, slug, monkeypatch):
    monkeypatch.setattr(human_check, "MIN_FILLING_S", 60)
    page = _Elements(_open(brand, f"/lead/{slug}").text)
    (token,) = [
        attributes["value"] for attributes in page.list_attributes("input") if attributes.get("name") == "token"
    ]

    answer = _post(brand, f"/lead/{slug}", token=token)

    assert (answer.status_code, list_lead_conversions(brand)) == (400, [])
    assert "confirm that you are human" in answer.text


def test_expired_form_gets_a_new_token(brand, slug):
    old = human_check.find_local_issuer().issue(now=datetime.now(UTC) - timedelta(hours=1))

    answer = _post(brand, f"/lead/{slug}", token=old, email="ada@inbox.example.org")

    page = _Elements(answer.text)
    (token,) = [
        attributes["value"] for attributes in page.list_attributes("input") if attributes.get("name") == "token"
    ]
    assert answer.status_code == 400
    assert token not in ("", old)
    assert 'value="ada@inbox.example.org"' in answer.text


def test_filled_hidden_field_is_thanked_and_ignored(brand, slug):
    answer = _post(brand, f"/lead/{slug}", website="https://spam.example.com")

    assert (answer.status_code, list_lead_conversions(brand)) == (200, [])
    assert "Thank you" in answer.text


def test_thank_you_page_hides_the_outcome(brand, slug):
    paid = _post(brand, f"/lead/{slug}", email="ada@inbox.example.org")
    duplicate = _post(brand, f"/lead/{slug}", email="ada@inbox.example.org")
    own_email = _post(brand, f"/lead/{slug}", email=f"{slug}@example.com")
    held_lead = _post(brand, f"/lead/{slug}", email="ada@mailinator.com")

    assert {(answer.status_code, answer.data) for answer in (paid, duplicate, own_email, held_lead)} == {
        (200, paid.data)
    }
    assert [status for status, *_ in list_lead_conversions(brand)] == ["Pending", "Invalidated"]
    assert len(list_fraud_events(brand)) == 2


def test_spent_budget_shows_a_message(brand):
    slug = create_campaign(brand, budget_cents=0)

    answer = _post(brand, f"/lead/{slug}")

    assert (answer.status_code, answer.mimetype) == (409, "text/html")
    assert "takes no more leads" in answer.text


def test_verification_widget_is_the_only_allowed_host(brand, slug):
    with paid_leads.configure_human_check(**_SERVICE):
        answer = _open(brand, f"/lead/{slug}")

    page = _Elements(answer.text)
    assert [attributes["src"] for attributes in page.list_attributes("script")] == [
        "https://human.example.com/v0/api.js"
    ]
    assert [attributes["data-sitekey"] for attributes in page.list_attributes("div")] == ['key"<']
    assert "script-src https://human.example.com;" in answer.headers["Content-Security-Policy"]
    assert page.list_attributes("noscript") == [{}]


@pytest.mark.parametrize(
    ("script", "origins"),
    [
        ("https://challenges.cloudflare.com/turnstile/v0/api.js", "https://challenges.cloudflare.com"),
        ("https://js.hcaptcha.com/1/api.js", "https://js.hcaptcha.com https://hcaptcha.com https://*.hcaptcha.com"),
        (
            "https://www.google.com/recaptcha/api.js",
            "https://www.google.com https://www.gstatic.com https://recaptcha.google.com",
        ),
    ],
)
def test_policy_allows_the_hosts_of_a_known_widget(brand, slug, script, origins):
    with paid_leads.configure_human_check(**_SERVICE | {"SCRIPT_URL": script}):
        policy = _open(brand, f"/lead/{slug}").headers["Content-Security-Policy"]

    assert policy.endswith(f"; script-src {origins}; frame-src {origins}; connect-src {origins}")


@pytest.mark.parametrize("name", ["cf-turnstile-response", "h-captcha-response", "g-recaptcha-response"])
def test_field_of_the_widget_is_the_token(brand, slug, name):
    answer = _post(brand, f"/lead/{slug}", token="", **{name: paid_leads.create_human_token()})

    assert (answer.status_code, len(list_lead_conversions(brand))) == (200, 1)


def test_unreachable_verification_shows_that_nothing_was_recorded(brand, slug):
    with paid_leads.configure_human_check(**_SERVICE):
        answer = _post(brand, f"/lead/{slug}", token="x")

    assert (answer.status_code, answer.mimetype, list_lead_conversions(brand)) == (503, "text/html", [])


@pytest.mark.parametrize("service", [{"URL": ""}, {"URL": "http://127.0.0.1:9/verify", "SECRET": "s"}])
def test_missing_verification_hides_the_form(brand, slug, service):
    with paid_leads.configure_human_check(**service):
        answers = [_open(brand, f"/lead/{slug}"), _post(brand, f"/lead/{slug}", token="x")]

    assert [(answer.status_code, answer.mimetype) for answer in answers] == [(503, "text/html")] * 2
    assert list_lead_conversions(brand) == []
