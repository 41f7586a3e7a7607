"""The dashboard's list of conversions as somebody who is signed in asks for it, in this process."""

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import settings
from bench.figure import mean_ms
from bench.ground.brand import Brand
from bench.ground.machine import BenchFailed
from bench.plan import Plan

#: Returns the mean time of a page in milliseconds.
Timed = Callable[[], float]

_READS = 10
_HERE = "/dashboard/conversions"
_PAGES: Mapping[str, str] = {
    "none": "",
    "status": "?status=Invalidated",
    "oldest": "?sort=oldest",
    "payable": "?status=Pending&sort=payable",
    "a person": "?q=partner-7",
}


def pages(plan: Plan, *, many: tuple[str, Brand], few: tuple[str, Brand]) -> dict[str, tuple[Timed, Timed]]:
    """Return what times each page in both databases, of somebody who is signed in to both."""
    from app import create_app  # with all that pages need, which no other figure has to wait for

    os.environ["LOG_LEVEL"] = "warning"  # a line per page would hide the run's own
    settings.current.cache_clear()
    app = create_app()
    products, anchors = (_signed_in(plan, app, url, seller) for url, seller in (many, few))
    return {
        name: (partial(_mean_ms, plan, *products, query), partial(_mean_ms, plan, *anchors, query))
        for name, query in _PAGES.items()
    }


def _signed_in(plan: Plan, app: Any, url: str, seller: Brand) -> tuple[str, Any]:
    plan.machine.point_at(url)
    done = app.test_cli_runner().invoke(args=["sign-in", "owner", "--org", str(seller.id), "--json"])
    if done.exit_code:
        raise BenchFailed(f"nobody could sign in: {done.output}")
    browser = app.test_client()
    browser.get(urlsplit(json.loads(done.stdout)["url"]).path)
    return url, browser


def _mean_ms(plan: Plan, url: str, browser: Any, query: str) -> float:
    plan.machine.point_at(url)
    _read(browser, query)
    return mean_ms(partial(_read, browser, query), _READS)


def _read(browser: Any, query: str) -> None:
    answer = browser.get(f"{_HERE}{query}")
    if answer.status_code != 200 or b'<table aria-label="Conversions"' not in answer.data:
        raise BenchFailed(f"{_HERE}{query} answered {answer.status_code}")
