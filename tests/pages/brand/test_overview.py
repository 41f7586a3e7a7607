"""The first screen of the dashboard. Source: the pages' interface, "Overview"."""

import re

from tests.support.rows.fraud_rows import flagged
from tests.support.rows.program_rows import ago, click, conversion


def _waiting(shown):
    listed = re.search(r'<ul class="waiting">(.*?)</ul>', shown, re.DOTALL)
    found = re.findall(r'<a href="([^"]+)"><b class="num">(\d+)</b> ([^<]+)</a>', listed[1]) if listed else []
    return {words: (path, int(count)) for path, count, words in found}


def test_a_new_brand_is_led_to_its_first_program(brand, people):
    shown = people().open("/dashboard").text

    assert '<a class="button primary" href="/dashboard/programs/new">Create your first program</a>' in shown
    assert '<h2 id="waiting">Waiting for you</h2>' in shown
    assert _waiting(shown) == {}
    assert "Nothing." in shown


def test_all_that_waits_leads_to_where_it_is(brand, people):
    program = brand.program(name="Spring")
    ada = brand.affiliate("ada")
    brand.affiliate("new", status="Pending", approved_at=None)
    brand.affiliate("ben", status="Paused")
    for cents in (100, 200):
        brand.sale(affiliateSlug="ben", amountCents=cents)
    flagged(brand, ada)
    endpoint = brand.endpoint("https://127.0.0.1:1/hook")
    brand.rows("update webhook_endpoint set failing_since = now() where id = %s returning 1", endpoint["id"])

    assert _waiting(people("Viewer").open("/dashboard").text) == {
        "program whose tag nobody has seen yet": (f"/dashboard/programs/{program}/install", 1),
        "application to decide": ("/dashboard/affiliates/applications", 1),
        "click or lead that the fraud rules stopped": ("/dashboard/review", 1),
        "sales whose affiliate could not earn": ("/dashboard/review?kind=uncredited", 2),
        "webhook endpoint that fails": ("/dashboard/webhooks", 1),
    }


def test_every_way_leads_somewhere(brand, people):
    ada = brand.affiliate("ada", program_id=brand.program())
    brand.affiliate("new", status="Pending", approved_at=None)
    flagged(brand, ada)
    visitor = people()

    for path, _ in _waiting(visitor.open("/dashboard").text).values():
        assert visitor.open(path).status_code == 200, path


def test_thirty_days_are_pictures_with_their_figures(brand, people):
    ada = brand.affiliate("ada", program_id=brand.program())
    assert "Nothing came in these 30 days" in people().open("/dashboard").text
    for _ in range(3):
        click(brand, ada)
    conversion(brand, ada, occurred_at=ago(days=2))
    conversion(brand, ada, occurred_at=ago(days=40))
    shown = people().open("/dashboard").text

    labels = re.findall(r'<svg class="chart"[^>]* aria-label="(\w+): ', shown)
    assert labels == ["Clicks", "Sales"]
    assert shown.count('<table aria-label="Sales">') == 1
    table = re.search(r'<table aria-label="Sales">(.*?)</table>', shown, re.DOTALL)[1]
    figures = dict(re.findall(r'<th scope="row">([\d-]+)</th><td class="num">(\d+)</td>', table))
    assert len(figures) == 30
    assert figures[ago(days=2).date().isoformat()] == "1"
    assert sum(map(int, figures.values())) == 1
