"""The guides of /docs: quick start, authentication, webhooks and others. All numbers in them come from the code.

They are CommonMark (`templates/guide`): the manifest has their text, the pages their HTML.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from flask import render_template
from markdown_it import MarkdownIt
from markupsafe import Markup

import settings
from api.access import guards, limits
from api.description import events as described_events
from api.description.openapi import Route
from api.edge import idempotency, paging
from domain.money import currencies, money
from domain.webhooks import delivery, events, signing

#: The chapters by their names in addresses: heading and template.
CHAPTERS: Mapping[str, tuple[str, str]] = {
    "quick-start": ("Quick start", "guide/1-quick-start.md"),
    "authentication": ("Authentication", "guide/2-authentication.md"),
    "test-mode": ("Test mode", "guide/3-test-mode.md"),
    "signed-sales": ("Signed sales", "guide/4-signed-sales.md"),
    "idempotency": ("Idempotency", "guide/5-idempotency.md"),
    "paging": ("Paging", "guide/6-paging.md"),
    "receiving-webhooks": ("Webhooks", "guide/7-receiving-webhooks.md"),
    "rate-limits": ("Rate limits", "guide/8-rate-limits.md"),
    "agents": ("MCP for agents", "guide/9-agents.md"),
}

#: The values of the test vectors. They are public: never sign anything else with these secrets.
VECTOR_TIME_S = 1_789_000_000
INBOUND_SECRET = "an-example-of-a-signing-secret"  # noqa: S105  # public, see above
INBOUND_BODY = b'{"externalEventId":"order_10482","affiliateSlug":"robin-vale","amountCents":4900,"currency":"USD"}'
OUTBOUND_SECRET = "whsec_an-example-of-an-endpoint-secret"  # noqa: S105  # public, see above
OUTBOUND_BODY = b'{"id":"evt_0190f3a26c1b7c0e9a573f0c5f1f7a11","type":"test","data":{"message":"Hello"}}'

_PER_PERSON = "a person, with their API keys"
_COUNTS = {
    "standard": f"{_PER_PERSON}: everything without another bucket",
    "import": f"{_PER_PERSON}: imports",
    "invite": f"{_PER_PERSON}: invites",
    "strict_write": f"{_PER_PERSON}: conversions by hand; an affiliate: payout accounts",
    "page_check": f"{_PER_PERSON}: checks of a brand's pages",
    "domain_check": f"{_PER_PERSON}: DNS checks of domains",
    "tls_ask": "an address: checks whether a host may get a certificate",
    "embed": "an embed token: the affiliate's view on a brand's site",
    "apply": "an address: the application form",
    "anonymous": "an address: storefront, invitations, pages, this description",
    "anonymous_tracking": "an address: clicks, leads of pages, attribution defaults, together",
    "unknown": "an address: any requests with unknown keys or from unknown origins",
    "s2s": "an address: signed sales, refunds and leads, and reports of payout rails",
}
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


@dataclass(frozen=True, slots=True)
class Vector:
    """A secret, a time, a body, and the header that signs them."""

    secret: str
    t: int
    body: str
    header: str


def render_chapters(routes: Iterable[Route]) -> dict[str, str]:
    """Return the chapters as CommonMark, by their names in addresses."""
    facts = _template_values(list(routes))
    return {name: render_template(template, **facts) for name, (_, template) in CHAPTERS.items()}


def render_html(text: str) -> Markup:
    """Return CommonMark as HTML; HTML in it is escaped."""
    return Markup(_MARKDOWN.render(text))  # noqa: S704  # markdown-it escapes everything


def render_inline(text: str) -> Markup:
    """Return a sentence of CommonMark as HTML, without a paragraph around it."""
    return Markup(_MARKDOWN.renderInline(text))  # noqa: S704  # markdown-it escapes everything


def inbound_vector() -> Vector:
    """Return the example of a signed sale."""
    signature = signing.sign(secret=INBOUND_SECRET.encode(), timestamp_s=VECTOR_TIME_S, body=INBOUND_BODY)
    return Vector(INBOUND_SECRET, VECTOR_TIME_S, INBOUND_BODY.decode(), f"t={VECTOR_TIME_S},sig={signature}")


def outbound_vector() -> Vector:
    """Return the example of a signed event."""
    header = signing.outbound_header(secret=OUTBOUND_SECRET.encode(), timestamp_s=VECTOR_TIME_S, body=OUTBOUND_BODY)
    return Vector(OUTBOUND_SECRET, VECTOR_TIME_S, OUTBOUND_BODY.decode(), header)


def _template_values(routes: list[Route]) -> dict[str, Any]:
    config = settings.current()
    return {
        "base_url": config.web.url,
        "inbound": inbound_vector(),
        "outbound": outbound_vector(),
        "tolerance_s": signing.TOLERANCE_S,
        "sample": orjson.dumps(
            described_events.sample_event("conversion.created"), option=orjson.OPT_INDENT_2
        ).decode(),
        "headers": described_events.HEADERS,
        "timeout_s": config.webhooks.timeout_s,
        "attempts": len(config.webhooks.attempts_at_s),
        "attempts_at": _join([_duration(seconds) for seconds in config.webhooks.attempts_at_s]),
        "retry_after_min_s": delivery.RETRY_AFTER_MIN_S,
        "retry_after_max_s": delivery.RETRY_AFTER_MAX_S,
        "testable": events.TESTABLE,
        "buckets": [
            {"name": name, "per_min": limit, "counts": _COUNTS.get(name, "")}
            for name, limit in config.web.limits_per_min.items()
        ],
        "sizes": _sizes(routes),
        "most_cents": money.MAX_AMOUNT_CENTS,
        "currencies": len(currencies.EXPONENTS),
        "site_times": limits.SITE_LIMIT_FACTOR,
        "default_take": paging.DEFAULT_TAKE,
        "most_take": paging.MAX_TAKE,
        "key_minutes": idempotency.KEY_WINDOW_S // 60,
    }


def _sizes(routes: list[Route]) -> list[dict[str, str]]:
    usual = guards.Guard(audience="public").max_body_bytes
    paths_by_size: dict[int, list[str]] = {}
    for route in routes:
        size = route.operation.guard.max_body_bytes
        if size != usual and route.operation.takes is not None:
            paths_by_size.setdefault(size, []).append(f"`{route.path}`")
    rows = [{"where": "all others", "most": _bytes(usual)}]
    return [
        {"where": ", ".join(dict.fromkeys(paths)), "most": _bytes(size)}
        for size, paths in sorted(paths_by_size.items())
    ] + rows


def _bytes(size: int) -> str:
    unit, name = (1 << 20, "MiB") if size >= 1 << 20 else (1 << 10, "KiB")
    return f"{size // unit} {name}" if size % unit == 0 else f"{size / unit:.1f} {name}"


def _duration(seconds: int) -> str:
    if seconds == 0:
        return "at once"
    return f"{seconds // 60} min" if seconds % 60 == 0 else f"{seconds} s"


def _join(words: list[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
