"""Sign-ins at an identity provider by real browsers: two tabs, prefetches, long parameters, failures."""

from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from adapters import http_calls
from adapters.identity import oidc
from tests.support.outside.visitor import Visitor
from tests.support.settings_overrides import override_settings

_SIGN_IN = "/sign-in/with/dashboard"


def _start_sign_in(visitor, path=_SIGN_IN):
    return visitor.open(path).headers["Location"]


def _pending_sign_ins(visitor):
    return [cookie.key for cookie in visitor.client._cookies.values() if "leaving" in cookie.key]


def test_two_tabs_do_not_disturb_each_other(visitor, provider):
    first_tab, second_tab = _start_sign_in(visitor, f"{_SIGN_IN}?next=/dashboard/payouts"), _start_sign_in(visitor)

    assert visitor.open(provider.log_in(first_tab)).headers["Location"] == "/dashboard/payouts"
    assert visitor.open(provider.log_in(second_tab)).headers["Location"] == "/dashboard"
    assert _pending_sign_ins(visitor) == []


def test_number_of_pending_sign_ins_is_limited(visitor, provider):
    for _ in range(12):
        last = _start_sign_in(visitor)
    assert len(_pending_sign_ins(visitor)) <= 4

    assert visitor.open(provider.log_in(last)).headers["Location"] == "/dashboard"


def test_refused_answer_ends_the_sign_in(visitor, provider):
    good_answer = provider.log_in(_start_sign_in(visitor))
    bad_answer = good_answer.replace("code=", "code=x")
    assert visitor.open(bad_answer).status_code == 403

    assert _pending_sign_ins(visitor) == []
    assert visitor.open(good_answer).status_code == 403
    assert visitor.cookie is None


def test_too_long_next_page_is_dropped_and_the_sign_in_works(visitor, provider):
    for length, page in ((900, "/dashboard/"), (3000, "/dashboard")):
        path = f"{_SIGN_IN}?{urlencode({'next': '/dashboard/' + 'a' * length})}"
        assert max(len(line) for line in visitor.open(path).headers.getlist("Set-Cookie")) < 4096
        location = provider.sign_in(visitor, path).headers["Location"]
        assert location.startswith(page)
        assert len(location) in (len("/dashboard"), len("/dashboard/") + length)


@pytest.mark.parametrize(
    "changes", [{"code": "c" * 5000}, {"code": "\x00"}, {"error": "\x00" * 200}, {"iss": "ü" * 300}]
)
def test_long_and_odd_parameters_are_refused(visitor, provider, changes):
    return_url = provider.log_in(_start_sign_in(visitor))
    parameters = {name: values[0] for name, values in parse_qs(urlsplit(return_url).query).items()} | changes

    assert visitor.open(f"/sign-in/callback?{urlencode(parameters)}").status_code == 403
    assert visitor.cookie is None


def test_prefetch_does_not_sign_in(visitor, provider):
    for headers in ({"Sec-Purpose": "prefetch;prerender"}, {"Purpose": "prefetch"}):
        assert visitor.client.get(_SIGN_IN, headers=headers).status_code == 503
    return_url = provider.log_in(_start_sign_in(visitor))

    prefetched = visitor.client.head(f"{urlsplit(return_url).path}?{urlsplit(return_url).query}")
    assert (prefetched.status_code, prefetched.headers.getlist("Set-Cookie")) == (200, [])
    assert visitor.open(return_url).headers["Location"] == "/dashboard"


def test_every_sign_in_sets_a_new_session_cookie(visitor, provider):
    """A cookie that another person planted in the browser never becomes the cookie of a session."""
    visitor.client.set_cookie("finderfee", "chosen by somebody else")
    (cookie,) = [
        line for line in provider.sign_in(visitor).headers.getlist("Set-Cookie") if line.startswith("finderfee=")
    ]

    assert visitor.cookie != "chosen by somebody else"
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= {part.strip() for part in cookie.split(";")}


def test_https_cookies_use_the_host_prefix(visitor, provider, monkeypatch):
    override_settings(monkeypatch, identity={}, web={"public_base_url": "https://pages.example", "key_cache_s": 0})
    (cookie,) = visitor.open(_SIGN_IN).headers.getlist("Set-Cookie")

    assert cookie.startswith("__Host-finderfee-leaving-")
    assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "domain" not in cookie.lower()


def test_provider_error_returns_503_without_signing_in(visitor, provider):
    return_url = provider.log_in(_start_sign_in(visitor))
    answer = visitor.open(return_url.replace("code=", "error=temporarily_unavailable&was="))

    assert answer.status_code == 503
    assert "is not available" in answer.text


def test_failing_provider_is_not_requested_by_every_visitor(visitor, provider):
    provider.is_away = True
    for _ in range(5):
        assert visitor.open(_SIGN_IN).status_code == 503

    assert provider.discoveries == 1


def test_concurrent_waits_for_a_hanging_provider_are_limited(app, visitor, provider, monkeypatch):
    monkeypatch.setattr("adapters.identity.oidc._SLOT_WAIT_S", 0.05)
    return_urls = []
    for _ in range(5):
        browser = Visitor(app)
        return_urls.append((browser, provider.log_in(_start_sign_in(browser))))
    call, released = http_calls.call, Event()

    def wait_and_call(method, *arguments, **options):
        assert method == "GET" or released.wait(120)
        return call(method, *arguments, **options)

    monkeypatch.setattr("adapters.identity.oidc.http_calls.call", wait_and_call)
    with ThreadPoolExecutor(len(return_urls)) as pool:
        answers = [pool.submit(browser.open, return_url) for browser, return_url in return_urls]
        refused = [next(done).result().status_code for done in [as_completed(answers, timeout=120)] for _ in range(2)]
        released.set()

    assert refused == [503, 503]
    assert sorted(answer.result().status_code for answer in answers) == [303, 303, 303, 503, 503]


def test_unresponsive_provider_is_not_retried_at_once(visitor, provider, monkeypatch):
    calls = []

    def raise_no_answer(*arguments, **options):
        calls.append(arguments)
        raise http_calls.NoAnswer("no response in time")

    return_url = provider.log_in(_start_sign_in(visitor))
    with monkeypatch.context() as patched:
        patched.setattr("adapters.identity.oidc.http_calls.call", raise_no_answer)
        assert visitor.open(return_url).status_code == 503
    assert visitor.open(provider.log_in(_start_sign_in(visitor))).status_code == 503
    assert len(calls) == 1
    oidc.clear_caches()

    assert visitor.open(provider.log_in(_start_sign_in(visitor))).status_code == 303


def test_cached_metadata_is_used_while_the_provider_is_unreachable(visitor, provider, monkeypatch):
    _start_sign_in(visitor)
    provider.is_away = True
    monkeypatch.setattr("adapters.identity.oidc._CACHE_S", -1)

    assert visitor.open(_SIGN_IN).headers["Location"].startswith(f"{provider.issuer}/authorize")


def test_failed_sign_in_shows_the_reason(visitor, provider):
    provider.claim_changes = {"org_id": ...}
    assert "has no role here" in provider.sign_in(visitor).text
    provider.claim_changes = {}
    assert "in another browser, or more than 10 minutes ago" in visitor.open("/sign-in/callback?state=x&code=y").text


def test_failed_sign_in_starts_again_for_the_same_page(visitor, provider):
    provider.claim_changes = {"role": "Emperor"}
    page = provider.sign_in(visitor, f"{_SIGN_IN}?next=/dashboard/payouts").text

    assert 'href="/sign-in?next=%2Fdashboard%2Fpayouts"' in page


def test_missing_client_id_shows_not_connected(visitor, provider, monkeypatch):
    assert "is not set up yet" not in visitor.open("/sign-in").text
    override_settings(monkeypatch, identity={"dashboard_client_id": None, "operator_claim": None})

    assert "is not set up yet" in visitor.open("/sign-in").text


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


def test_sign_in_to_one_area_does_not_open_another_area(visitor, provider, monkeypatch):
    """With one provider for both areas, a sign-in to the portal is an affiliate's, whatever roles the person has."""
    both = provider.build_settings() | provider.build_settings("affiliate", client_id="public-portal", secret=None)
    override_settings(monkeypatch, identity=both | {"operator_claim": ("groups", "run-it")})
    provider.person |= {"groups": ["run-it"]}

    assert provider.sign_in(visitor, "/sign-in/with/affiliate").headers["Location"] == "/portal"
    assert [visitor.open(path).status_code for path in ("/dashboard", "/console")] == [403, 403]
    assert provider.sign_in(visitor).headers["Location"] == "/dashboard"
    assert [visitor.open(path).status_code for path in ("/portal", "/console")] == [403, 403]
    provider.claim_changes = {"aud": "public-portal"}  # a token for the portal's client
    assert provider.sign_in(visitor).status_code == 403
