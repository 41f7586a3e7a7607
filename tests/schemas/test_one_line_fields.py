"""Every string that a request may hold is one line, or is listed here with the reason why it need not be.

One line is: no control character, and none of U+202A to U+202E and U+2066 to U+2069.
"""

import pytest

from domain.text import one_line
from schemas.base import CleanedLine, line

_HOSTILE = ("\x00", "\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\u202a", "\u202e", "\u2066", "\u2069")
# By what the field is called in its component.
_SEVERAL_LINES = {
    **dict.fromkeys(("description", "notes", "note", "reason", "proposedResolution"), "prose of the brand's people"),
    **dict.fromkeys(("audience", "whyInterested"), "prose of applicants"),
    **dict.fromkeys(("personalNoteHtml", "notificationMessageHtml"), "HTML, which is cleaned"),
    **dict.fromkeys(("why", "failedBecause"), "an operator's reason in the audit log"),
    **dict.fromkeys(("intro", "text"), "prose of a page, an asset or a question"),
    **dict.fromkeys(("content", "file"), "a whole file"),
}
_OWN_FORM = {
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
# What programs send on is cleaned and never a reason to refuse.
_CLEANED = {
    *("SaleBody.customerName", "LeadBody.name", "BrowserLeadBody.name", "PaidLeadBody.name"),
    *("ImportRow.fullName", "HistoricalRow.customerName"),
}


@pytest.fixture(scope="module")
def sent(app):
    document = app.test_client().get("/api/openapi.json").json
    schemas = document["components"]["schemas"]
    found = {}

    def walk(described, place):
        if "$ref" in described:
            name = described["$ref"].rpartition("/")[2]
            if name not in seen:
                seen.add(name)
                walk(schemas[name], name)
            return
        for part in ("anyOf", "oneOf", "allOf"):
            for one in described.get(part, ()):
                walk(one, place)
        if "string" in described.get("type", ()) and not ({"enum", "format"} & set(described)):
            found[place] = described
        for name, one in described.get("properties", {}).items():
            walk(one, f"{place}.{name}")
        if "items" in described:
            walk(described["items"], place)

    seen: set[str] = set()
    for methods in document["paths"].values():
        for operation in methods.values():
            for content in operation.get("requestBody", {}).get("content", {}).values():
                walk(content.get("schema", {}), "body")
    return found


def test_every_string_of_a_request_is_one_line_or_listed_with_a_reason(sent):
    loose = {
        place
        for place, described in sent.items()
        if one_line.REFUSED_CHARACTERS not in described.get("pattern", "").replace("\\\\", "\\")
        and place not in _CLEANED | _OWN_FORM.keys()
        and place.rpartition(".")[2] not in _SEVERAL_LINES.keys() | _OWN_FORM.keys()
    }

    assert loose == set()


def test_every_listed_field_exists(sent):
    names = {place.rpartition(".")[2] for place in sent}

    assert {one for one in _CLEANED if one not in sent} == set()
    assert {name for name in _SEVERAL_LINES if name not in names} == set()


@pytest.mark.parametrize("sign", _HOSTILE)
def test_a_typed_line_refuses_each_sign_and_a_sent_line_loses_it(sign):
    with pytest.raises(Exception, match=r"one line|NUL"):
        line(longest=20).deserialize(f"Eve{sign}")

    cleaned = CleanedLine(longest=20).deserialize(f"E{sign}ve")
    assert cleaned in ("Eve", "E ve")
    assert one_line.is_valid(cleaned)


@pytest.mark.parametrize("text", ["", "Zoë Ångström 茶 🎉", "محمد", "a\u200bb", "two\u2028lines", "\u200fא"])
def test_other_text_is_left_as_it_is(text):
    assert line(longest=40).deserialize(text) == text
    assert CleanedLine(longest=40).deserialize(text) == text
