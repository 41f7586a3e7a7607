"""Valid origins for framing the embedded page, and their normalized form. Source: core spec, section 1 (embed)."""

import pytest

from domain import origins
from domain.refusals import Refused

_VALID = {
    "https://app.acme.example": "https://app.acme.example",
    "https://acme.example": "https://acme.example",
    "https://app.acme.example:443": "https://app.acme.example",
    "https://app.acme.example:8443": "https://app.acme.example:8443",
    "https://app.acme.example:80": "https://app.acme.example:80",
    "https://xn--mnchen-3ya.example": "https://xn--mnchen-3ya.example",
    "http://localhost": "http://localhost",
    "http://localhost:80": "http://localhost",
    "http://localhost:3000": "http://localhost:3000",
    "https://localhost:3000": "https://localhost:3000",
    "http://127.0.0.1:65535": "http://127.0.0.1:65535",
}
_INVALID = [
    "",
    "null",
    "*",
    "https://*",
    "https://*.acme.example",
    "app.acme.example",
    "//app.acme.example",
    "http://app.acme.example",
    "ftp://app.acme.example",
    "HTTPS://app.acme.example",
    "https://App.acme.example",
    "https://münchen.example",
    "https://app.acme.example/",
    "https://app.acme.example/path",
    "https://app.acme.example?x=1",
    "https://app.acme.example#x",
    "https://user@app.acme.example",
    "https://user:pass@app.acme.example",
    "https://app.acme.example.",
    "https://.acme.example",
    "https://app..example",
    "https://-app.acme.example",
    "https://app_1.acme.example",
    "https://intranet",
    "https://192.168.0.1",
    "https://127.0.0.2",
    "http://127.1",
    "https://0x7f.0x1",
    "https://[::1]",
    "https://app.acme.example:",
    "https://app.acme.example:0",
    "https://app.acme.example:0443",
    "https://app.acme.example:65536",
    "https://app.acme.example:443x",
    "http://localhost.evil.example",
    "http://localhost:3000/",
    " https://app.acme.example",
    "https://app.acme.example ",
    "https://app.acme.example\n",
    "https://app.acme.example\x00",
    "https://app.acme.example; script-src *",
    "https://app.acme.example https://evil.example",
    "https://app.acme.example,https://evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    f"https://{'a' * 64}.example",
    f"https://{'a.' * 130}example",
]


def test_only_origins_as_browsers_send_them_are_valid():
    assert {text: origins.normalize(text) for text in _VALID} == _VALID
    assert [text for text in _INVALID if origins.normalize(text) is not None] == []


def test_duplicate_origins_are_dropped_in_order():
    validated = origins.validate(["https://b.example.com:443", "https://a.example.com", "https://b.example.com"])

    assert validated == ("https://b.example.com", "https://a.example.com")


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        ([], "invalid_origin"),
        (["https://a.example.com", "https://A.example.com"], "invalid_origin"),
        ([f"https://a{n}.example.com" for n in range(11)], "too_many_origins"),
    ],
)
def test_invalid_origin_is_refused_by_name(texts, code):
    with pytest.raises(Refused) as refusal:
        origins.validate(texts)

    assert (refusal.value.status, refusal.value.code, refusal.value.field) == (400, code, "allowedOrigins")
    assert not texts or len(texts) > 10 or "https://A.example.com" in refusal.value.message
