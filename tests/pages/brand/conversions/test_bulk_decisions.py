"""Decisions about selected conversions on their list: each as if it was made on the conversion's own page."""

import re
from uuid import uuid4

import pytest

import settings
from adapters import servers
from api.access.limits import Limiter
from tests.support.api.concurrency import run_concurrently
from tests.support.outside.visitor import Visitor
from tests.support.rows.program_rows import insert_conversion

_HERE = "/dashboard/conversions"
_ACTIONS = {"approve": "Approve", "validate": "Validate", "invalidate": "Invalidate", "deny": "Deny"}


@pytest.fixture
def sale_ids(brand):
    """Return the ids of a conversion in every status, by status; the brand has one campaign and the affiliate ben."""
    brand.program(name="Spring")
    ben = brand.affiliate("ben")
    statuses = ("Pending", "Approved", "Paid", "Refunded", "Denied", "Invalidated")
    return {status: str(insert_conversion(brand, ben, status=status)) for status in statuses}


def _press(visitor, html, action, ids, **fields):
    """Send the bulk form of a page with these ids, as a browser does."""
    form = re.search(
        r'<form class="pad bulk" method="post" action="([^"]+)".*?name="_key" value="([^"]+)"', html, re.DOTALL
    )
    return visitor.send(form[1].replace("&amp;", "&"), {"_key": form[2], "action": action, "ids": ids, **fields})


def _statuses(brand):
    return {str(row_id): status for row_id, status in brand.rows("select id, status from conversion")}


def _buttons(html):
    form = html.partition('id="bulk"')[2].partition("</form>")[0]
    return re.findall(r'name="action" value="(\w+)"', form)


def test_rows_that_may_change_are_selected_and_the_others_not(brand, sale_ids, people):
    visitor = people("Manager")
    html = visitor.open(_HERE).text

    assert set(re.findall(r'name="ids" value="([^"]+)"', html)) == {
        sale_ids[status] for status in ("Pending", "Approved", "Invalidated")
    }
    assert _buttons(html) == ["approve", "validate", "invalidate", "deny"]
    assert _buttons(visitor.open(f"{_HERE}?status=Approved").text) == ["invalidate", "deny"]
    assert _buttons(visitor.open(f"{_HERE}?status=Invalidated").text) == ["validate"]
    assert 'id="bulk"' not in visitor.open(f"{_HERE}?status=Paid").text


@pytest.mark.parametrize(
    ("action", "after"),
    [
        ("approve", {"Pending": "Approved"}),
        ("validate", {"Invalidated": "Pending"}),
        ("invalidate", {"Pending": "Invalidated", "Approved": "Invalidated"}),
        ("deny", {"Pending": "Denied", "Approved": "Denied"}),
    ],
)
def test_each_selected_conversion_is_decided_or_skipped(brand, sale_ids, people, action, after):
    visitor = people("Manager")
    answer = _press(
        visitor, visitor.open(f"{_HERE}?sort=oldest").text, action, list(sale_ids.values()), reason=" Fraud "
    )

    assert answer.status_code == 303
    assert answer.location.startswith(f"{_HERE}?sort=oldest&done=bulk&action={action}")
    assert _statuses(brand) == {sale_ids[status]: after.get(status, status) for status in sale_ids}
    page = visitor.open(answer.location).text
    number = f"{len(after)} conversion{'s' if len(after) > 1 else ''}."
    assert f"{number} {len(sale_ids) - len(after)} could not change from their status." in page
    past_tense = {"approve": "approved", "validate": "validated", "invalidate": "invalidated", "deny": "denied"}[action]
    assert brand.rows(
        "select entity_id::text, after ->> 'reason' from audit_entry where action = %s order by 1",
        f"conversion.{past_tense}",
    ) == sorted((sale_ids[status], "Fraud") for status in after)
    events = brand.rows("select count(*) from event where type = %s", f"conversion.{past_tense}")
    assert events == [(len(after),)]


def test_form_that_is_sent_twice_acts_once(brand, sale_ids, people):
    visitor = people("Manager")
    html = visitor.open(_HERE).text
    ids = [sale_ids["Pending"], sale_ids["Approved"]]
    answers = [_press(visitor, html, "deny", ids) for _ in range(2)]

    assert [answer.location for answer in answers] == [f"{_HERE}?done=bulk&action=deny&affected=2&skipped="] * 2
    assert brand.rows("select count(*) from audit_entry where action = 'conversion.denied'") == [(2,)]


def test_two_people_at_once_decide_each_conversion_once(app, brand, sale_ids, flask):
    ids = [str(insert_conversion(brand, brand.rows("select id from affiliate")[0][0])) for _ in range(8)]
    visitors = []
    for name in ("ada", "ben"):
        visitor = Visitor(app)
        link = flask.json("sign-in", "owner", "--org", brand.id, "--role", "Manager", "--email", f"{name}@acme.example")
        visitor.open(link["url"])
        visitors.append((visitor, visitor.open(_HERE).text))

    answers = run_concurrently(
        lambda: _press(*visitors[0], "approve", ids), lambda: _press(*visitors[1], "approve", ids[::-1])
    )

    assert [answer.status_code for answer in answers] == [303, 303]
    affected = [int(re.search(r"affected=(\d+)", answer.location)[1]) for answer in answers]
    assert sum(affected) == 8
    assert brand.rows("select count(*) from audit_entry where action = 'conversion.approved'") == [(8,)]
    assert brand.rows("select count(*) from event where type = 'conversion.approved'") == [(8,)]


def test_sale_and_its_override_may_be_denied_together(brand, sale_ids, people):
    sale = sale_ids["Pending"]
    override = str(insert_conversion(brand, brand.affiliate("ann"), parent_id=sale, type="OneTime", amount_cents=0))
    visitor = people("Manager")
    answer = _press(visitor, visitor.open(_HERE).text, "deny", [sale, override])

    assert answer.location.endswith("affected=1&skipped=status%3A1")
    assert (_statuses(brand)[sale], _statuses(brand)[override]) == ("Denied", "Denied")


@pytest.mark.parametrize(
    ("ids", "counts"),
    [
        (["x", "", "../..", "nul\x00", "{}", "9" * 500], "affected=0&skipped=not_found%3A6"),
        (["PENDING", "PENDING"], "affected=1&skipped="),
        (["UNKNOWN", "PENDING"], "affected=1&skipped=not_found%3A1"),
    ],
)
def test_malformed_unknown_and_repeated_ids_are_counted(brand, sale_ids, people, ids, counts):
    places = {"PENDING": sale_ids["Pending"], "UNKNOWN": str(uuid4())}
    visitor = people("Manager")
    answer = _press(visitor, visitor.open(_HERE).text, "approve", [places.get(text, text) for text in ids])

    assert answer.location == f"{_HERE}?done=bulk&action=approve&{counts}"
    assert visitor.open(answer.location).status_code == 200


@pytest.mark.parametrize("number", [0, 101])
def test_no_or_too_many_ids_change_nothing(brand, sale_ids, people, number):
    visitor = people("Manager")
    ids = [sale_ids["Pending"], *(str(uuid4()) for _ in range(number))][:number]
    answer = _press(visitor, visitor.open(_HERE).text, "approve", ids)

    assert (answer.status_code, "Select 1 to 100 conversions." in answer.text) == (422, True)
    assert _statuses(brand)[sale_ids["Pending"]] == "Pending"


@pytest.mark.parametrize(("action", "reason"), [("pay", ""), ("", ""), ("deny", "x" * 1_001), ("deny", "nul\x00")])
def test_invalid_action_or_reason_changes_nothing_and_keeps_the_selection(brand, sale_ids, people, action, reason):
    visitor = people("Manager")
    before = _statuses(brand)
    answer = _press(visitor, visitor.open(_HERE).text, action, [sale_ids["Pending"]], reason=reason)

    assert answer.status_code in (400, 422)
    assert 'role="alert"' in answer.text
    assert f'value="{sale_ids["Pending"]}" form="bulk" checked' in answer.text
    assert _statuses(brand) == before


def test_other_brands_conversions_are_skipped(brand, sale_ids, people, rival):
    rival.program()
    theirs = str(insert_conversion(rival, rival.affiliate("eva")))
    visitor = people("Owner")
    for action in _ACTIONS:
        answer = _press(visitor, visitor.open(_HERE).text, action, [theirs])
        assert answer.location.endswith("affected=0&skipped=not_found%3A1"), action
    assert rival.rows("select status from conversion") == [("Pending",)]


def test_viewer_and_affiliate_may_not_decide(brand, sale_ids, people, links, app):
    visitor = people("Viewer")
    html = visitor.open(_HERE).text
    assert 'name="ids"' not in html
    assert 'id="bulk"' not in html
    affiliate = Visitor(app)
    affiliate.open(links("affiliate", "--email", "ben@example.com"))
    form = {"_key": "k", "action": "approve", "ids": [sale_ids["Pending"]]}
    for browser in (visitor, affiliate, Visitor(app)):
        assert browser.send(f"{_HERE}/bulk", form).status_code in (303, 403)
    assert _statuses(brand)[sale_ids["Pending"]] == "Pending"
    assert brand.rows("select count(*) from audit_entry where action like 'conversion%%'") == [(0,)]


def test_rows_after_the_rate_limit_are_reported(app, brand, sale_ids, people, monkeypatch):
    visitor = people("Manager")
    html = visitor.open(_HERE).text
    ids = [str(insert_conversion(brand, brand.rows("select id from affiliate")[0][0])) for _ in range(5)]
    limits = dict.fromkeys(settings.current().web.limits_per_min, 1_000) | {"standard": 3}
    monkeypatch.setitem(app.extensions, "limiter", Limiter(servers.urls().redis_url, limits))
    answer = _press(visitor, html, "approve", ids)

    affected = brand.rows("select count(*) from conversion where status = 'Approved'")[0][0] - 1
    assert 0 < affected < 5
    assert answer.location.endswith(f"affected={affected}&skipped=later%3A{5 - affected}")
