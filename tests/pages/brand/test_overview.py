"""The first screen of the dashboard. Source: the pages' interface, "Overview"."""

import re

from tests.support.rows.fraud_rows import record_blocked_click
from tests.support.rows.program_rows import insert_click, insert_conversion, store_rate, time_ago


def _pending_work(html):
    work_list = re.search(r'<ul class="waiting">(.*?)</ul>', html, re.DOTALL)
    links = re.findall(r'<a href="([^"]+)"><b class="num">(\d+)</b> ([^<]+)</a>', work_list[1]) if work_list else []
    return {words: (path, int(count)) for path, count, words in links}


def test_new_brand_is_led_to_its_first_program(brand, people):
    html = people().open("/dashboard").text

    assert '<a class="button primary" href="/dashboard/programs/new">Create your first program</a>' in html
    assert '<h2 id="waiting">Waiting for you</h2>' in html
    assert _pending_work(html) == {}
    assert "You're all caught up." in html
    assert "Create a program to set commission rates." in html
    assert "Performance" not in html


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
        "program without tracking data": (f"/dashboard/programs/{program}/install", 1),
        "pending application": ("/dashboard/affiliates/applications", 1),
        "click or lead flagged as fraud": ("/dashboard/review", 1),
        "sales without a credited affiliate": ("/dashboard/review?kind=uncredited", 2),
        "failing webhook endpoint": ("/dashboard/webhooks", 1),
    }


def test_count_of_a_cut_list_says_that_there_are_more(brand, people):
    brand.program()
    for number in range(51):
        brand.affiliate(f"new-{number}", status="Pending", approved_at=None)

    assert '<b class="num">50+</b> pending applications' in people().open("/dashboard").text


def test_every_link_of_the_overview_works(brand, people):
    ada = brand.affiliate("ada", program_id=brand.program())
    brand.affiliate("new", status="Pending", approved_at=None)
    record_blocked_click(brand, ada)
    visitor = people()

    for path, _ in _pending_work(visitor.open("/dashboard").text).values():
        assert visitor.open(path).status_code == 200, path


def test_owed_amounts_are_converted_and_those_without_a_rate_listed(brand, people):
    ada = brand.affiliate("ada", program_id=brand.program())
    store_rate("SRD", "2", time_ago(days=1))
    insert_conversion(brand, ada, commission_cents=300, currency="SRD")
    insert_conversion(brand, ada, commission_cents=7, currency="XPF")
    html = people("Viewer").open("/dashboard").text

    assert "Converted to USD at each day's rate. Amounts without a rate are listed separately." in html
    tiles = dict(re.findall(r'<dt class="small dim">([^<]+)</dt><dd>([^<]+)</dd></div>', html))
    assert tiles == {
        "On hold": "1.50 USD", "Payable": "0.00 USD", "On its way": "0.00 USD", "Without a rate": "7 XPF",
        "Affiliates": "1",
    }  # fmt: skip


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


def test_steps_are_folded_once_only_the_webhook_is_left(people, brand, drain):
    owner = people()
    program_id = brand.program()
    brand.affiliate("ben")
    brand.app.test_client().get(f"/api/v1/r/c.gif?programId={program_id}")
    html = owner.open("/dashboard").text
    assert "5 of 7 done" in html
    assert '<details class="folded">' not in html
    brand.sale()
    drain("sales")

    html = owner.open("/dashboard").text
    assert re.search(r'<details class="folded"><summary><h2 id="get-started-title">Get started</h2>', html)
    assert "6 of 7 done" in html
    assert _list_step_links(html) == ["/dashboard/webhooks"]


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
