"""The first screen of the dashboard. Source: the pages' interface, "Overview"."""

import re

from tests.support.outside.visitor import Visitor
from tests.support.rows.brands import Brand
from tests.support.rows.fraud_rows import record_blocked_click
from tests.support.rows.program_rows import insert_click, insert_conversion, time_ago


def _pending_work(html):
    work_list = re.search(r'<ul class="waiting">(.*?)</ul>', html, re.DOTALL)
    links = re.findall(r'<a href="([^"]+)"><b class="num">(\d+)</b> ([^<]+)</a>', work_list[1]) if work_list else []
    return {words: (path, int(count)) for path, count, words in links}


def test_new_brand_is_led_to_its_first_program(brand, people):
    html = people().open("/dashboard").text

    assert '<a class="button primary" href="/dashboard/programs/new">Create your first program</a>' in html
    assert '<h2 id="waiting">Waiting for you</h2>' in html
    assert _pending_work(html) == {}
    assert "Nothing." in html


def test_pending_work_links_to_its_pages(brand, people):
    program = brand.program(name="Spring")
    ada = brand.affiliate("ada")
    brand.affiliate("new", status="Pending", approved_at=None)
    brand.affiliate("ben", status="Paused")
    for cents in (100, 200):
        brand.sale(affiliateSlug="ben", amountCents=cents)
    record_blocked_click(brand, ada)
    endpoint = brand.endpoint("https://127.0.0.1:1/hook")
    brand.rows("update webhook_endpoint set failing_since = now() where id = %s returning 1", endpoint["id"])

    assert _pending_work(people("Viewer").open("/dashboard").text) == {
        "program whose tag nobody has seen yet": (f"/dashboard/programs/{program}/install", 1),
        "application to decide": ("/dashboard/affiliates/applications", 1),
        "click or lead that the fraud rules stopped": ("/dashboard/review", 1),
        "sales whose affiliate could not earn": ("/dashboard/review?kind=uncredited", 2),
        "webhook endpoint that fails": ("/dashboard/webhooks", 1),
    }


def test_every_link_of_the_overview_works(brand, people):
    ada = brand.affiliate("ada", program_id=brand.program())
    brand.affiliate("new", status="Pending", approved_at=None)
    record_blocked_click(brand, ada)
    visitor = people()

    for path, _ in _pending_work(visitor.open("/dashboard").text).values():
        assert visitor.open(path).status_code == 200, path


def test_last_thirty_days_are_shown_as_charts_with_numbers(brand, people):
    ada = brand.affiliate("ada", program_id=brand.program())
    assert "Nothing came in these 30 days" in people().open("/dashboard").text
    for _ in range(3):
        insert_click(brand, ada)
    insert_conversion(brand, ada, occurred_at=time_ago(days=2))
    insert_conversion(brand, ada, occurred_at=time_ago(days=40))
    html = people().open("/dashboard").text

    labels = re.findall(r'<svg class="chart"[^>]* aria-label="(\w+): ', html)
    assert labels == ["Clicks", "Sales", "Revenue", "Commission"]
    assert html.count('<table aria-label="Sales" role="table">') == 1
    table = re.search(r'<table aria-label="Sales" role="table">(.*?)</table>', html, re.DOTALL)[1]
    figures = dict(re.findall(r'<th scope="row" role="rowheader">([\d-]+)</th><td class="num"[^>]*>(\d+)</td>', table))
    assert len(figures) == 30
    assert figures[time_ago(days=2).date().isoformat()] == "1"
    assert sum(map(int, figures.values())) == 1


def test_money_is_net_in_home_currency_and_unconverted_amounts_are_listed(brand, people):
    ada = brand.affiliate("ada", program_id=brand.program())
    screens = ("/dashboard", f"/dashboard/programs/{brand.programs[0]}")
    insert_conversion(
        brand, ada, occurred_at=time_ago(days=3), amount_cents=120_000, refunded_cents=20_000, reversed_cents=250
    )
    insert_conversion(brand, ada, occurred_at=time_ago(days=3), amount_cents=1, commission_cents=0, currency="XPF")
    insert_conversion(
        brand, brand.affiliate("ben", program_id=brand.program()), occurred_at=time_ago(days=3), amount_cents=7_000
    )
    expected = (("1,070.00 USD", "17.50 USD"), ("1,000.00 USD", "7.50 USD"))

    viewer = people("Viewer")
    for page, amounts in zip(screens, expected, strict=True):
        html = viewer.open(page).text
        for label, amount in zip(("Revenue", "Commission"), amounts, strict=True):
            table = re.search(rf'<table aria-label="{label}" role="table">(.*?)</table>', html, re.DOTALL)[1]
            figures = dict(re.findall(r'rowheader">([\d-]+)</th><td class="num"[^>]*>([^<]+)</td>', table))
            assert {figure for figure in figures.values() if figure != "0.00 USD"} == {amount}, (page, label)
            assert figures[time_ago(days=3).date().isoformat()] == amount, (page, label)
        assert html.count("Besides, without a rate: 1 XPF</p>") == 1, page


def test_charts_are_shown_on_every_plan(app, flask):
    free = Brand.create(app, plan="Free")
    insert_conversion(free, free.affiliate("ada", program_id=free.program()))
    visitor = Visitor(app)
    visitor.open(flask.json("sign-in", "owner", "--org", free.id, "--role", "Viewer")["url"])

    for page in ("/dashboard", f"/dashboard/programs/{free.programs[0]}"):
        answer = visitor.open(page)
        assert answer.status_code == 200, page
        assert re.findall(r'<svg class="chart"[^>]* aria-label="(\w+): ', answer.text) == [
            "Sales", "Revenue", "Commission",
        ], page  # fmt: skip


def test_best_affiliate_is_shown_after_the_first_sale(brand, people):
    ada = brand.affiliate("ada", program_id=brand.program())
    path = f"/dashboard/programs/{brand.programs[0]}"
    owner = people()
    for page in ("/dashboard", path):
        assert "Who earned the most" not in owner.open(page).text, page
    insert_conversion(brand, ada, occurred_at=time_ago(days=1))

    for page in ("/dashboard", path):
        html = owner.open(page).text
        places = re.search(r'<table aria-label="Who earned the most" role="table">(.*?)</table>', html, re.DOTALL)[1]
        assert re.findall(r'href="/dashboard/affiliates/([^"]+)"', places) == [str(ada)], page
        assert '<table aria-label="Sales" role="table">' in html, page
    other = f"/dashboard/programs/{brand.program()}"
    assert "Who earned the most" not in owner.open(other).text


def _list_step_links(html):
    steps = re.search(r'<ol class="todo">.*?</ol>', html, re.S)[0]
    return re.findall(r'href="([^"]+)"', steps)


def test_each_open_step_has_one_link_that_opens(people):
    owner = people()
    links = _list_step_links(owner.open("/dashboard").text)

    assert links[0] == "/dashboard/programs/new"
    assert len(links) == len(set(links)) + 1  # without a program the tag's step leads to creating one too
    assert [owner.open(link).status_code for link in links] == [200] * len(links)


def test_steps_disappear_once_all_are_done(people, brand, drain):
    owner = people()
    program_id = brand.program()
    brand.affiliate("ben")
    brand.endpoint("https://localhost/hook")
    brand.app.test_client().get(f"/api/v1/r/c.gif?programId={program_id}")
    assert "6 of 7 done" in owner.open("/dashboard").text
    brand.sale()
    drain("sales")

    assert "Get started" not in owner.open("/dashboard").text
    assert "Get started" not in owner.open("/dashboard/onboarding").text


def test_part_shows_the_first_sale_as_it_comes(people, brand, drain):
    owner = people()
    brand.program()
    ben = brand.affiliate("ben")
    address = re.search(r'hx-get="(/dashboard/onboarding[^"]*)"', owner.open("/dashboard").text)[1]
    address = address.replace("&amp;", "&")
    assert owner.open(address).status_code == 204
    insert_click(brand, ben)
    assert "We have received your first click." in owner.open(address).text
    brand.sale()
    drain("sales")

    assert "We have received your first sale." in owner.open(address).text


def test_viewer_sees_the_steps_without_links(people):
    html = people("Viewer").open("/dashboard").text

    assert "Get started" in html
    assert _list_step_links(html) == []
