"""Visits of a brand's links, and the clicks that they put on the stream."""

import os
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from prometheus_client import REGISTRY

import settings
from adapters import broker, servers
from adapters.clicks import serialization, stream
from api.access.limits import Limiter
from domain.clicks.raw_click import RawClick
from models import db

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
UNREACHABLE_REDIS_URL = "unix:///nowhere/valkey.sock?db=0"
CLICK = "/api/v1/track/click"
SHOP = "https://shop.test/a?x=1&y=%20#top"
#: What chats, mail programs and templates put before and after a slug, written `{}` here.
SLUG_IN_TEXT = (
    "{}/",
    "{}.",
    "{})",
    "{},",
    "{}).",
    "{}\u200b",
    "\u200b{}",
    "\ufeff{} ",
    "{}&utm_source=x",
    "{}&amp;utm_source=x",
    "{}&#038;utm_source=x",
    "{}?utm_source=x",
    "{}#top",
    "{}%2F",
    "{}%E2%80%8B",
    "{}\u2026",
    "{}_",
)

with_every_text_around = pytest.mark.parametrize("written", SLUG_IN_TEXT, ids=ascii)


def new_slug() -> str:
    """Return a slug that no other test has: slugs are looked up in the whole service."""
    return f"s-{uuid4().hex[:12]}"


def visit(app: Any, path: str, *, method: str = "GET", ip: str = "203.0.113.7", **options: Any) -> Any:
    """Send a request as a browser does; `headers` add to its own."""
    headers = {"User-Agent": BROWSER, "Accept-Language": "de-CH, en;q=0.8"} | options.pop("headers", {})
    return app.test_client().open(
        path, method=method, headers=headers, environ_overrides={"REMOTE_ADDR": ip}, **options
    )


def post_click(
    app: Any, slug: str, *, headers: dict[str, str] | None = None, ip: str = "203.0.113.7", **fields: Any
) -> Any:
    """Report a click as the script in a page does."""
    return visit(app, CLICK, method="POST", json={"slug": slug} | fields, headers=headers or {}, ip=ip)


def follow(app: Any, path: str, **options: Any) -> Any:
    """Follow a short link as a browser does."""
    return visit(app, f"/r/{path}", **options)


def list_stream_clicks() -> list[RawClick]:
    """Return the clicks on the stream."""
    client = broker.client(servers.urls().redis_url)
    return [serialization.from_bytes(fields[stream.FIELD]) for _, fields in client.xrange(stream.KEY)]


def create_limiter(**per_minute: int) -> Limiter:
    """Return a new rate limiter with these limits."""
    limits = settings.current().web.limits_per_min | per_minute  # type: ignore[operator]  # it is a dict
    return Limiter(servers.urls().redis_url, limits)


def lose_stream(app: Any, monkeypatch: Any) -> None:
    """Make the server of the click stream unreachable for an application."""
    monkeypatch.setitem(app.extensions, "click_stream", stream.ClickStream(UNREACHABLE_REDIS_URL))
    monkeypatch.setitem(app.extensions, "limiter", create_limiter())


@contextmanager
def point_at_missing_database(folder: Any) -> Any:
    """Point this process at a database server that does not exist, while the block runs."""
    db.db.drop_connection()
    db.connect_to(f"postgresql://finderfee@/finderfee?host={folder}")
    try:
        yield
    finally:
        db.connect_to(os.environ["DATABASE_URL"])


def read_counter(name: str) -> float:
    """Return the value of a counter of this process."""
    return REGISTRY.get_sample_value(name) or 0.0
