"""Every string in a request is limited to one line or listed here with the reason why not.

One line means: no control character and none of U+202A to U+202E and U+2066 to U+2069.
"""

import pytest

from domain.text import one_line
from schemas.base import CleanedLine, line

_REFUSED_CHARACTERS = ("\x00", "\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\u202a", "\u202e", "\u2066", "\u2069")
# By field name.
_MULTILINE = {
    **dict.fromkeys(("description", "notes", "note", "reason", "proposedResolution"), "prose of the brand's people"),
    **dict.fromkeys(("audience", "whyInterested"), "prose of applicants"),
    **dict.fromkeys(("personalNoteHtml", "notificationMessageHtml"), "HTML, which is cleaned"),
    **dict.fromkeys(("why", "failedBecause"), "an operator's reason in the audit log"),
    **dict.fromkeys(("intro", "text"), "prose of a page, an asset or a question"),
    **dict.fromkeys(("content", "file"), "a whole file"),
}
_OWN_RULES = {
    **dict.fromkeys(("headline", "title"), "joined to one line; LandingPageBody refuses the rest"),
    **dict.fromkeys(("slug", "customAlias", "subdomain", "key", "code", "timezone"), "a grammar with its own refusal"),
    **dict.fromkeys(
        ("customDomain", "trackingDomain", "allowedOrigins", "custom", "source"), "a grammar with its own refusal"
    ),
    **dict.fromkeys(("currency", "discountCurrency", "homeCurrency", "method", "event", "type"), "one of a list"),
    **dict.fromkeys(("includeStatuses", "status", "contentType", "jsonrpc", "queue", "events"), "one of a list"),
    **dict.fromkeys(("url", "urls", "targetUrl", "termsUrl", "referralDestinationUrl"), "an http(s) address"),
    **dict.fromkeys(("hostedCheckoutThankYouUrl", "customerAvatarUrl", "referrer"), "an http(s) address"),
    **dict.fromkeys(("email", "affiliateEmail", "customerEmail", "walletEmail"), "an address, checked as one"),
    **dict.fromkeys(("accentColor", "primaryBrandColor"), "a colour"),
    **dict.fromkeys(("affiliateSlug", "programId", "subId", "cursor", "pixelKey"), "what is looked up or normalized"),
    **dict.fromkeys(("externalEventId", "externalId", "customerId", "visitorId"), "an id, compared byte by byte"),
    **dict.fromkeys(("processorCustomerId", "processorSubscriptionId"), "an id, compared byte by byte"),
    **dict.fromkeys(("connectedAccountId", "recipientId", "token", "checkoutToken"), "an id, compared byte by byte"),
    **dict.fromkeys(("dataBase64",), "base64"),
    **dict.fromkeys(("ReplayBody.name", "DiscardBody.name"), "the name of a kind of job, which is looked up"),
    **dict.fromkeys(("ReplayBody.error", "DiscardBody.error"), "a part of an error's text, which is looked for"),
    **dict.fromkeys(("body",), "the message of MCP, a webhook of a gateway or a file, each read by its own rules"),
}
# Strings forwarded by programs are cleaned and never refused.
_CLEANED = {
    *("SaleBody.customerName", "LeadBody.name", "BrowserLeadBody.name", "PaidLeadBody.name"),
    *("ImportRow.fullName", "HistoricalRow.customerName"),
}


@pytest.fixture(scope="module")
def request_strings(app):
    document = app.test_client().get("/api/openapi.json").json
    schemas = document["components"]["schemas"]
    strings = {}

    def walk(description, path):
        if "$ref" in description:
            name = description["$ref"].rpartition("/")[2]
            if name not in seen:
                seen.add(name)
                walk(schemas[name], name)
            return
        for part in ("anyOf", "oneOf", "allOf"):
            for option in description.get(part, ()):
                walk(option, path)
        if "string" in description.get("type", ()) and not ({"enum", "format"} & set(description)):
            strings[path] = description
        for name, value in description.get("properties", {}).items():
            walk(value, f"{path}.{name}")
        if "items" in description:
            walk(description["items"], path)

    seen: set[str] = set()
    for methods in document["paths"].values():
        for operation in methods.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                walk(content.get("schema", {}), "body")
    return strings


def test_every_request_string_is_one_line_or_listed(request_strings):
    unlisted = {
        path
        for path, description in request_strings.items()
        if one_line.REFUSED_CHARACTERS not in description.get("pattern", "").replace("\\\\", "\\")
        and path not in _CLEANED | _OWN_RULES.keys()
        and path.rpartition(".")[2] not in _MULTILINE.keys() | _OWN_RULES.keys()
    }

    assert unlisted == set()


def test_every_listed_field_exists(request_strings):
    names = {path.rpartition(".")[2] for path in request_strings}

    assert {name for name in _CLEANED if name not in request_strings} == set()
    assert {name for name in _MULTILINE if name not in names} == set()


@pytest.mark.parametrize("character", _REFUSED_CHARACTERS)
def test_line_refuses_control_characters_and_cleaned_line_drops_them(character):
    with pytest.raises(Exception, match=r"one line|NUL"):
        line(longest=20).deserialize(f"Eve{character}")

    cleaned = CleanedLine(longest=20).deserialize(f"E{character}ve")
    assert cleaned in ("Eve", "E ve")
    assert one_line.is_valid(cleaned)


@pytest.mark.parametrize("text", ["", "Zoë Ångström 茶 🎉", "محمد", "a\u200bb", "two\u2028lines", "\u200fא"])
def test_other_text_is_unchanged(text):
    assert line(longest=40).deserialize(text) == text
    assert CleanedLine(longest=40).deserialize(text) == text
