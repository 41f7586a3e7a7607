"""Does a page's policy let our script in? Source: Content Security Policy Level 3."""

import pytest

from domain.clicks import page_policies

PAGE = "https://acme.example/shop"
SCRIPT = "https://go.finderfee.example/api/v1/r/loader.js"
HOST = "https://go.finderfee.example"


def _judge(*policies, page=PAGE, script=SCRIPT, nonce=None):
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
def test_what_lets_it_in(policy):
    assert _judge(policy) == page_policies.PolicyResult(True)


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
def test_what_keeps_it_out_is_told_with_what_would_be_right(policy, lines):
    judged = _judge(policy)

    assert judged == page_policies.PolicyResult(False, lines)


def test_each_policy_has_to_let_it_in():
    judged = _judge(f"script-src {HOST}, script-src 'self'", "connect-src 'none'")

    assert judged.lines == (f"script-src 'self' {HOST}", f"connect-src {HOST}")


def test_the_pages_own_origin_is_itself():
    own = "https://acme.example:8443/r/loader.js"

    assert _judge("script-src 'self'", page="https://acme.example:8443/", script=own).is_allowed
    assert not _judge("script-src 'self'", page="https://acme.example/", script=own).is_allowed


def test_without_a_scheme_that_of_the_page_holds():
    plain = "http://127.0.0.1:8000/r/loader.js"

    assert not _judge("script-src 127.0.0.1:8000", script=plain).is_allowed
    assert _judge("script-src 127.0.0.1:8000", page="http://localhost/", script=plain).is_allowed


def test_a_nonce_on_the_tag_lets_the_script_in_and_nothing_else_does_where_addresses_do_not_count():
    dynamic = f"script-src 'nonce-r4nd' 'strict-dynamic' https: {HOST}"

    assert _judge(dynamic, nonce="r4nd").is_allowed
    assert _judge(dynamic, nonce="other") == page_policies.PolicyResult(False)
    assert _judge(dynamic) == page_policies.PolicyResult(False)
    assert not _judge("connect-src 'nonce-r4nd'", nonce="r4nd").is_allowed
