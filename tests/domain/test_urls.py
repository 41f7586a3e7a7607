"""Valid URLs, and the refusal of hostile ones in every URL field of the API."""

import re
from collections.abc import Iterator

import pytest
from marshmallow import Schema, ValidationError, fields

from adapters.gateways.base import CredentialsRefused, GatewayAccount
from adapters.gateways.storefront import woocommerce
from adapters.safe_http.addresses import UrlRefused, parse_url
from domain import origins, urls
from domain.refusals import Refused
from schemas.programs import program

_HOSTILE = [
    "https://x\\@evil.example",
    "https://x\\.evil.example/",
    "https:\\\\evil.example",
    "https:/\\evil.example",
    "https://evil.example\\path",
    "https://user@evil.example/",
    "https://user:secret@evil.example/",
    "https://@evil.example/",
    "https://x.example/\r\nLocation: https://evil.example",
    "https://x.example\t.evil.example/",
    "https://x.example\x00.evil.example/",
    "https://x.example\x85.evil.example/",
    "https://x.example\u200b.evil.example/",
    "https://x.example\u202e/",
    "https://x.example /",
    " https://x.example/",
    "https://x.example%2f.evil.example/",
    "https://x.example;evil.example/",
    "https://x.example:99999999/",
    "https://x.example:0/",
    "https:x.example",
    "https:///x.example",
    "https://",
    "//x.example/",
    "javascript:alert(1)",
    "data:text/html,x",
    "ftp://x.example/",
    "",
]


@pytest.mark.parametrize("text", _HOSTILE)
def test_text_with_an_ambiguous_host_is_not_a_url(text):
    assert not urls.is_http(text)


@pytest.mark.parametrize(
    "text",
    [
        "https://x.example",
        "http://x.example:8080/a?b=c#d",
        "HTTPS://X.example/",
        "https://x.example/@name?to=a@b.example",
        "https://müller.example/straße",
        "https://a_b.x.example/",
        "https://192.0.2.1/",
        "https://[2001:db8::1]:8443/",
        "https://localhost:8000/",
    ],
)
def test_ordinary_url_is_valid(text):
    assert urls.is_http(text)


def _is_refused_by_thank_you(text):
    try:
        return program._thank_you_url(text) is None
    except Refused:
        return True


def _is_refused_by_safe_http(text):
    try:
        parse_url(text, ports=None)
    except UrlRefused:
        return True
    return False


# Fields that are validated after the schema, with their check.
_CHECKED_LATER = {
    "targetUrl": _is_refused_by_safe_http,
    "url": _is_refused_by_safe_http,
    "allowedOrigins": lambda text: origins.normalize(text) is None,
    "hostedCheckoutThankYouUrl": _is_refused_by_thank_you,
}
# URLs reported by pages are stored and never requested; a malformed one must not lose the click.
_REPORTED_SCHEMAS = {"ClickBody"}


def test_every_url_field_of_the_api_refuses_hostile_urls(app):
    url_fields = {(type(schema).__name__, name): field for schema, name, field in _url_fields(app)}

    accepted = [
        (schema, name, text)
        for (schema, name), field in url_fields.items()
        if schema not in _REPORTED_SCHEMAS
        for text in _HOSTILE
        if not _is_refused(name, field, text)
    ]
    assert accepted == []
    assert {"termsUrl", "referralDestinationUrl", "customerAvatarUrl", "urls", *_CHECKED_LATER} <= {
        name for _, name in url_fields
    }


# Whitespace around the address is stripped and a missing scheme means https; `https:` alone has no host.
@pytest.mark.parametrize("text", [text for text in _HOSTILE if text and text == text.strip()])
def test_store_url_credential_refuses_hostile_urls(text):
    account = GatewayAccount(
        **(dict.fromkeys(GatewayAccount.__dataclass_fields__) | {"credentials": {"storeUrl": text}})
    )

    with pytest.raises(CredentialsRefused):
        woocommerce._store(account)


def _is_refused(name, field, text):
    if name in _CHECKED_LATER:
        return _CHECKED_LATER[name](text)
    try:
        # An empty string clears some fields.
        value = field.deserialize([text] if isinstance(field, fields.List) else text)
    except ValidationError:
        return True
    return value in (None, "")


def _url_fields(app) -> Iterator[tuple[Schema, str, fields.Field]]:
    for view in app.view_functions.values():
        operation = getattr(view, "operation", None)
        if operation is not None and operation.takes is not None:
            yield from _schema_url_fields(operation.takes)


def _schema_url_fields(schema: Schema) -> Iterator[tuple[Schema, str, fields.Field]]:
    for name, field in schema.load_fields.items():
        key = field.data_key or name
        if re.search(r"(^u|U)rls?$|Origins$", key):
            yield schema, key, field
        inner = field.inner if isinstance(field, fields.List) else field
        if isinstance(inner, fields.Nested):
            yield from _schema_url_fields(inner.schema)
