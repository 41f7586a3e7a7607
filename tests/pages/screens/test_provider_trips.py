"""The way to an identity provider and back as browsers take it: in two tabs, ahead of a person, with long words."""

from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from adapters import http_calls
from adapters.identity import oidc
from tests.support.outside.visitor import Visitor
from tests.support.settings_overrides import override_settings

_WITH = "/sign-in/with/dashboard"


def _start_sign_in(visitor, path=_WITH):
    return visitor.open(path).headers["Location"]


def _leaving(visitor):
    return [cookie.key for cookie in visitor.client._cookies.values() if "leaving" in cookie.key]


def test_two_tabs_do_not_disturb_each_other(visitor, provider):
    first, second = _start_sign_in(visitor, f"{_WITH}?next=/dashboard/payouts"), _start_sign_in(visitor)

    assert visitor.open(provider.log_in(first)).headers["Location"] == "/dashboard/payouts"
    assert visitor.open(provider.log_in(second)).headers["Location"] == "/dashboard"
    assert _leaving(visitor) == []


def test_number_of_pending_sign_ins_is_limited(visitor, provider):
    for _ in range(12):
        last = _start_sign_in(visitor)
    assert len(_leaving(visitor)) <= 4

    assert visitor.open(provider.log_in(last)).headers["Location"] == "/dashboard"


def test_any_answer_ends_the_sign_in(visitor, provider):
    back = provider.log_in(_start_sign_in(visitor))
    bad = back.replace("code=", "code=x")
    assert visitor.open(bad).status_code == 403

    assert _leaving(visitor) == []
    assert visitor.open(back).status_code == 403
    assert visitor.cookie is None


def test_too_long_next_page_is_dropped_and_the_sign_in_works(visitor, provider):
    for length, page in ((900, "/dashboard/"), (3000, "/dashboard")):
        path = f"{_WITH}?{urlencode({'next': '/dashboard/' + 'a' * length})}"
        assert max(len(line) for line in visitor.open(path).headers.getlist("Set-Cookie")) < 4096
        location = provider.sign_in(visitor, path).headers["Location"]
        assert location.startswith(page)
        assert len(location) in (len("/dashboard"), len("/dashboard/") + length)


@pytest.mark.parametrize(
    "changes", [{"code": "c" * 5000}, {"code": "\x00"}, {"error": "\x00" * 200}, {"iss": "ü" * 300}]
)
def test_long_and_odd_parameters_are_refused(visitor, provider, changes):
    back = provider.log_in(_start_sign_in(visitor))
    told = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()} | changes

    assert visitor.open(f"/sign-in/callback?{urlencode(told)}").status_code == 403
    assert visitor.cookie is None


def test_prefetch_does_not_sign_in(visitor, provider):
    for headers in ({"Sec-Purpose": "prefetch;prerender"}, {"Purpose": "prefetch"}):
        assert visitor.client.get(_WITH, headers=headers).status_code == 503
    back = provider.log_in(_start_sign_in(visitor))

    ahead = visitor.client.head(f"{urlsplit(back).path}?{urlsplit(back).query}")
    assert (ahead.status_code, ahead.headers.getlist("Set-Cookie")) == (200, [])
    assert visitor.open(back).headers["Location"] == "/dashboard"


def test_every_sign_in_gives_a_cookie_of_its_own(visitor, provider):
    """What somebody put into a browser beforehand is never what a sign-in is known by."""
    visitor.client.set_cookie("finderfee", "chosen by somebody else")
    (given,) = [
        line for line in provider.sign_in(visitor).headers.getlist("Set-Cookie") if line.startswith("finderfee=")
    ]

    assert visitor.cookie != "chosen by somebody else"
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= {part.strip() for part in given.split(";")}


def test_https_cookies_use_the_host_prefix(visitor, provider, monkeypatch):
    override_settings(monkeypatch, identity={}, web={"public_base_url": "https://pages.example", "key_cache_s": 0})
    (left,) = visitor.open(_WITH).headers.getlist("Set-Cookie")

    assert left.startswith("__Host-finderfee-leaving-")
    assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= {part.strip() for part in left.split(";")}
    assert "domain" not in left.lower()


def test_error_of_the_provider_does_not_sign_in_and_is_no_refusal(visitor, provider):
    back = provider.log_in(_start_sign_in(visitor))
    answer = visitor.open(back.replace("code=", "error=temporarily_unavailable&was="))

    assert answer.status_code == 503
    assert "cannot be asked at the moment" in answer.text


def test_failing_provider_is_not_requested_by_every_visitor(visitor, provider):
    provider.is_away = True
    for _ in range(5):
        assert visitor.open(_WITH).status_code == 503

    assert provider.discoveries == 1


def test_concurrent_waits_for_a_hanging_provider_are_limited(app, visitor, provider, monkeypatch):
    monkeypatch.setattr("adapters.identity.oidc._SLOT_WAIT_S", 0.05)
    backs = []
    for _ in range(5):
        browser = Visitor(app)
        backs.append((browser, provider.log_in(_start_sign_in(browser))))
    asked, go_on = http_calls.call, Event()

    def hanging(method, *sent, **more):
        assert method == "GET" or go_on.wait(120)
        return asked(method, *sent, **more)

    monkeypatch.setattr("adapters.identity.oidc.http_calls.call", hanging)
    with ThreadPoolExecutor(len(backs)) as pool:
        answers = [pool.submit(browser.open, back) for browser, back in backs]
        refused = [next(done).result().status_code for done in [as_completed(answers, timeout=120)] for _ in range(2)]
        go_on.set()

    assert refused == [503, 503]
    assert sorted(one.result().status_code for one in answers) == [303, 303, 303, 503, 503]


def test_unresponsive_provider_is_not_retried_at_once(visitor, provider, monkeypatch):
    calls = []

    def silent(*sent, **more):
        calls.append(sent)
        raise http_calls.NoAnswer("no response in time")

    back = provider.log_in(_start_sign_in(visitor))
    with monkeypatch.context() as patched:
        patched.setattr("adapters.identity.oidc.http_calls.call", silent)
        assert visitor.open(back).status_code == 503
    assert visitor.open(provider.log_in(_start_sign_in(visitor))).status_code == 503
    assert len(calls) == 1
    oidc.clear_caches()

    assert visitor.open(provider.log_in(_start_sign_in(visitor))).status_code == 303


def test_cached_provider_metadata_is_used_while_it_is_unreachable(visitor, provider, monkeypatch):
    _start_sign_in(visitor)
    provider.is_away = True
    monkeypatch.setattr("adapters.identity.oidc._CACHE_S", -1)

    assert visitor.open(_WITH).headers["Location"].startswith(f"{provider.issuer}/authorize")


def test_failed_sign_in_shows_the_reason(visitor, provider):
    provider.claim_changes = {"org_id": ...}
    assert "says nothing that opens anything here" in provider.sign_in(visitor).text
    provider.claim_changes = {}
    assert "in another browser, or more than 10 minutes ago" in visitor.open("/sign-in/callback?state=x&code=y").text


def test_failed_sign_in_starts_again_for_the_same_page(visitor, provider):
    provider.claim_changes = {"role": "Emperor"}
    page = provider.sign_in(visitor, f"{_WITH}?next=/dashboard/payouts").text

    assert 'href="/sign-in?next=%2Fdashboard%2Fpayouts"' in page


def test_missing_client_id_shows_not_connected(visitor, provider, monkeypatch):
    assert "not its client yet" not in visitor.open("/sign-in").text
    override_settings(monkeypatch, identity={"dashboard_client_id": None, "operator_claim": None})

    assert "not its client yet" in visitor.open("/sign-in").text


def test_unverified_email_shows_no_other_affiliates_data(visitor, provider, monkeypatch, brand):
    override_settings(
        monkeypatch, identity=provider.build_settings("affiliate", client_id="public-portal", secret=None)
    )
    email = f"eva-{brand.id.hex}@example.com"
    brand.program()
    brand.affiliate("eva", email=email, email_normalized=email)
    provider.person = {"sub": f"eva-{brand.id.hex}", "email": email, "email_verified": "true"}
    provider.sign_in(visitor, "/sign-in/with/affiliate")

    answer = visitor.open("/portal")
    assert (answer.status_code, "<h1>Verify your email</h1>" in answer.text) == (403, True)


def test_sign_in_of_one_area_does_not_open_another(visitor, provider, monkeypatch):
    """One provider for both: who leaves for the portal is an affiliate, whatever roles they have at a brand."""
    both = provider.build_settings() | provider.build_settings("affiliate", client_id="public-portal", secret=None)
    override_settings(monkeypatch, identity=both | {"operator_claim": ("groups", "run-it")})
    provider.person |= {"groups": ["run-it"]}

    assert provider.sign_in(visitor, "/sign-in/with/affiliate").headers["Location"] == "/portal"
    assert [visitor.open(path).status_code for path in ("/dashboard", "/console")] == [403, 403]
    assert provider.sign_in(visitor).headers["Location"] == "/dashboard"
    assert [visitor.open(path).status_code for path in ("/portal", "/console")] == [403, 403]
    provider.claim_changes = {"aud": "public-portal"}  # the other client's
    assert provider.sign_in(visitor).status_code == 403
