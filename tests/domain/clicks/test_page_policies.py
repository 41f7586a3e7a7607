"""Content Security Policies that allow the script, and those that do not. Source: Content Security Policy Level 3."""

import pytest

from domain.clicks import page_policies

PAGE = "https://acme.example/shop"
SCRIPT = "https://go.finderfee.example/api/v1/r/loader.js"
HOST = "https://go.finderfee.example"


def _check(*policies, page=PAGE, script=SCRIPT, nonce=None):
    return page_policies.check(policies, page=page, script=script, nonce=nonce)


@pytest.mark.parametrize(
    "policy",
    [
        "",
        ";;, ,",
        "img-src 'none'",
        "frame-ancestors 'none'; upgrade-insecure-requests",
        "default-src *",
        "default-src https:",
        "default-src http:",
        f"default-src 'self' {HOST}",
        "default-src 'none'; script-src go.finderfee.example; connect-src go.finderfee.example",
        "default-src *.finderfee.example",
        "DEFAULT-SRC HTTPS://GO.FINDERFEE.EXAMPLE",
        "default-src go.finderfee.example:443",
        "default-src go.finderfee.example:*",
        "default-src https://go.finderfee.example/api/",
        f"default-src {SCRIPT}",
        f"script-src 'none'; script-src-elem {HOST}",
        f"script-src {HOST}; script-src 'none'",
    ],
)
def test_policy_allows_the_script(policy):
    assert _check(policy) == page_policies.PolicyResult(True)


@pytest.mark.parametrize(
    ("policy", "lines"),
    [
        ("script-src 'self'", (f"script-src 'self' {HOST}",)),
        ("script-src 'none'", (f"script-src {HOST}",)),
        ("script-src", (f"script-src {HOST}",)),
        ("script-src 'unsafe-inline' 'unsafe-eval'", (f"script-src 'unsafe-inline' 'unsafe-eval' {HOST}",)),
        ("connect-src 'self'", (f"connect-src 'self' {HOST}",)),
        ("default-src 'self'", (f"script-src 'self' {HOST}", f"connect-src 'self' {HOST}")),
        ("script-src-elem a.test; script-src *", (f"script-src-elem a.test {HOST}",)),
        ("script-src *.go.finderfee.example", (f"script-src *.go.finderfee.example {HOST}",)),
        ("script-src finderfee.example", (f"script-src finderfee.example {HOST}",)),
        ("script-src go.finderfee.example:8443", (f"script-src go.finderfee.example:8443 {HOST}",)),
        ("script-src go.finderfee.example/js/", (f"script-src go.finderfee.example/js/ {HOST}",)),
        ("script-src go.finderfee.example/API/", (f"script-src go.finderfee.example/API/ {HOST}",)),
        ("script-src wss:", (f"script-src wss: {HOST}",)),
    ],
)
def test_blocking_policy_is_reported_with_the_corrected_directives(policy, lines):
    result = _check(policy)

    assert result == page_policies.PolicyResult(False, lines)


def test_every_policy_must_allow_the_script():
    result = _check(f"script-src {HOST}, script-src 'self'", "connect-src 'none'")

    assert result.lines == (f"script-src 'self' {HOST}", f"connect-src {HOST}")


def test_self_is_the_origin_of_the_page():
    script_url = "https://acme.example:8443/r/loader.js"

    assert _check("script-src 'self'", page="https://acme.example:8443/", script=script_url).is_allowed
    assert not _check("script-src 'self'", page="https://acme.example/", script=script_url).is_allowed


def test_source_without_a_scheme_uses_the_scheme_of_the_page():
    http_script = "http://127.0.0.1:8000/r/loader.js"

    assert not _check("script-src 127.0.0.1:8000", script=http_script).is_allowed
    assert _check("script-src 127.0.0.1:8000", page="http://localhost/", script=http_script).is_allowed


def test_strict_dynamic_allows_the_script_only_by_nonce():
    policy = f"script-src 'nonce-r4nd' 'strict-dynamic' https: {HOST}"

    assert _check(policy, nonce="r4nd").is_allowed
    assert _check(policy, nonce="other") == page_policies.PolicyResult(False)
    assert _check(policy) == page_policies.PolicyResult(False)
    assert not _check("connect-src 'nonce-r4nd'", nonce="r4nd").is_allowed
