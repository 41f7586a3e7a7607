"""Time zones of pages: the zone of shown times, of day filters and of forms. Source: the pages, "Time"."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import quote
from uuid import uuid4

import pytest

from models import db
from models.organization import audit
from pages.times import zone
from tests.support.outside.visitor import Visitor
from tests.support.rows.brands import Brand, Partner
from tests.support.rows.program_rows import insert_conversion

_CONVERSIONS = "/dashboard/conversions"
_SECOND = timedelta(seconds=1)


@pytest.fixture
def berlin(brand):
    """A brand in Berlin with one campaign and one affiliate."""
    brand.program(name="Spring")
    _set_zone(brand, "Europe/Berlin")
    return brand


@pytest.fixture
def owner(app, flask):
    """Return a function that signs an Owner of a brand in."""

    def sign_in(brand):
        visitor = Visitor(app)
        visitor.open(flask.json("sign-in", "owner", "--org", brand.id)["url"])
        return visitor

    return sign_in


@pytest.fixture
def affiliate(app, flask):
    """Return a function that signs an affiliate in, in a browser with or without a time zone."""

    def sign_in(email, browser_zone=None):
        visitor = Visitor(app)
        if browser_zone is not None:
            visitor.client.set_cookie(zone.COOKIE, quote(browser_zone, safe=""))
        visitor.open(flask.json("sign-in", "affiliate", "--email", email)["url"])
        return visitor

    return sign_in


def _set_zone(brand, timezone):
    answer = brand.person("Owner").call("PATCH", "/api/organizations/me", {"timezone": timezone})
    assert answer.status_code == 200, answer.json


def _sell(brand, *times, slug="ada"):
    """Record conversions that occurred and were recorded at these times; return their ids."""
    affiliate_id = brand.affiliate(slug)
    ids = [insert_conversion(brand, affiliate_id, occurred_at=at) for at in times]
    for id, at in zip(ids, times, strict=True):
        brand.rows("update conversion set created_at = %s where id = %s returning 1", at, id)
    return [str(id) for id in ids]


def _text(page):
    return unescape(page.text)


def test_dashboard_shows_times_in_the_zone_of_the_organization(berlin, owner):
    (sale,) = _sell(berlin, datetime(2026, 11, 27, 23, 3, tzinfo=UTC))
    visitor = owner(berlin)

    page = _text(visitor.open(f"{_CONVERSIONS}/{sale}"))
    assert '<time datetime="2026-11-27T23:03:00Z">28 Nov 2026, 00:03 Europe/Berlin</time>' in page
    assert (
        '<span title="28 Nov 2026, 00:03 Europe/Berlin"><time datetime="2026-11-28">28 Nov 2026</time></span>'
        in _text(visitor.open(_CONVERSIONS))
    )


def test_change_of_the_zone_counts_at_the_next_page(berlin, owner):
    (sale,) = _sell(berlin, datetime(2026, 11, 27, 23, 3, tzinfo=UTC))
    visitor = owner(berlin)
    assert "28 Nov 2026, 00:03 Europe/Berlin" in visitor.open(f"{_CONVERSIONS}/{sale}").text

    _set_zone(berlin, "Asia/Tokyo")

    assert "28 Nov 2026, 08:03 Asia/Tokyo" in visitor.open(f"{_CONVERSIONS}/{sale}").text


def test_each_brand_has_its_own_zone(berlin, rival, owner):
    rival.program()
    (sale,) = _sell(rival, datetime(2026, 11, 27, 23, 3, tzinfo=UTC), slug="eva")
    _set_zone(rival, "America/New_York")

    assert "27 Nov 2026, 18:03 America/New_York" in owner(rival).open(f"{_CONVERSIONS}/{sale}").text


def test_browsers_zone_does_not_move_the_dashboard(berlin, owner):
    (sale,) = _sell(berlin, datetime(2026, 11, 27, 23, 3, tzinfo=UTC))
    visitor = owner(berlin)
    visitor.client.set_cookie(zone.COOKIE, "Asia%2FTokyo")

    assert "28 Nov 2026, 00:03 Europe/Berlin" in visitor.open(f"{_CONVERSIONS}/{sale}").text


@pytest.mark.parametrize(
    "edges",
    [
        # days of Berlin with 24, 23 and 25 hours, each with its first instant and that of the next day
        ("2026-07-01", "2026-07-02", "2026-06-30T22:00:00Z", "2026-07-01T22:00:00Z"),
        ("2026-03-29", "2026-03-30", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
        ("2026-10-25", "2026-10-26", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
    ],
)
def test_day_filter_uses_days_of_the_organizations_zone(berlin, owner, edges):
    day, next_day, start, end = edges
    first, after = datetime.fromisoformat(start), datetime.fromisoformat(end)
    _, *within, _ = _sell(berlin, first - _SECOND, first, after - _SECOND, after)
    visitor = owner(berlin)

    page = visitor.open(f"{_CONVERSIONS}?since={day}&until={next_day}").text

    assert set(re.findall(rf'href="{_CONVERSIONS}/([0-9a-f-]{{36}})"', page)) == set(within)
    assert f'name="since" type="date" value="{day}"' in page
    assert "Days in Europe/Berlin" in page
    (file,) = re.findall(rf'href="({_CONVERSIONS}/export.csv[^"]*)"', page)
    lines = visitor.open(unescape(file)).text.splitlines()[1:]
    assert {line.partition(",")[0] for line in lines} == set(within)


def test_audit_log_day_filter_uses_days_of_the_organizations_zone(berlin, owner):
    with db.unit_of_work(berlin.id):
        audit.stage(
            organization_id=berlin.id,
            action="program.updated",
            entity_id="p1",
            actor_type="system",
            actor_label="test",
            after={"archivedAt": "2026-10-24T22:30:00.000Z"},
            at=datetime(2026, 10, 24, 22, 30, tzinfo=UTC),
        )
    visitor = owner(berlin)

    html = visitor.open("/dashboard/audit-log?since=2026-10-25&until=2026-10-26").text
    assert "action=program.updated" in html
    # the time of the entry, and the time in its changed values
    assert html.count("25 Oct 2026, 00:30 Europe/Berlin") == 2
    assert "action=program.updated" not in visitor.open("/dashboard/audit-log?since=2026-10-24&until=2026-10-25").text


def test_invalid_day_shows_the_usual_error(berlin, owner):
    answer = owner(berlin).open(f"{_CONVERSIONS}?since=2026-02-30")

    assert answer.status_code == 400
    assert 'aria-invalid="true"' in answer.text


def test_sale_by_hand_is_typed_in_local_time(berlin, owner):
    berlin.affiliate("ada")
    visitor = owner(berlin)
    page = visitor.open(f"{_CONVERSIONS}/new").text
    assert "When it occurred, in Europe/Berlin" in page

    form = {
        "_key": "k1",
        "programId": str(berlin.programs[-1]),
        "affiliate": "ada@example.com",
        "kind": "sale",
        "amount": "10.00",
        "currency": "USD",
        "occurredAt": "2026-07-01T00:30",
    }
    answer = visitor.send(f"{_CONVERSIONS}/new", form)

    assert answer.status_code == 303, answer.text
    assert berlin.rows("select occurred_at from conversion") == [(datetime(2026, 6, 30, 22, 30, tzinfo=UTC),)]
    assert "1 Jul 2026, 00:30 Europe/Berlin" in visitor.open(answer.headers["Location"]).text


def test_affiliate_sees_the_zone_of_the_browser(berlin, affiliate):
    email = f"ada-{uuid4().hex}@example.com"
    affiliate_id = berlin.affiliate("ada", email=email, email_normalized=email)
    insert_conversion(berlin, affiliate_id, occurred_at=datetime(2026, 11, 27, 23, 3, tzinfo=UTC))

    page = affiliate(email, "Asia/Tokyo").open("/portal/earnings").text

    assert 'title="28 Nov 2026, 08:03 Asia/Tokyo"' in page
    assert "Berlin" not in page


@pytest.mark.parametrize("browser_zone", [None, "", "Nowhere/Else", "../../etc/passwd", "<b>", "Europe", "\x00"])
def test_affiliate_without_a_browser_zone_sees_the_brands_zone(berlin, affiliate, browser_zone):
    email = f"ada-{uuid4().hex}@example.com"
    affiliate_id = berlin.affiliate("ada", email=email, email_normalized=email)
    insert_conversion(berlin, affiliate_id, occurred_at=datetime(2026, 11, 27, 23, 3, tzinfo=UTC))

    page = affiliate(email, browser_zone).open("/portal/earnings").text

    assert 'title="28 Nov 2026, 00:03 Europe/Berlin"' in page


@pytest.mark.parametrize(
    ("second_zone", "expected"),
    [("Europe/Berlin", "28 Nov 2026, 00:03 Europe/Berlin"), ("Asia/Tokyo", "27 Nov 2026, 23:03 UTC")],
)
def test_affiliate_of_brands_in_several_zones_sees_utc(app, berlin, affiliate, second_zone, expected):
    email = f"ada-{uuid4().hex}@example.com"
    affiliate_id = berlin.affiliate("ada", email=email, email_normalized=email)
    insert_conversion(berlin, affiliate_id, occurred_at=datetime(2026, 11, 27, 23, 3, tzinfo=UTC))
    other = Brand.create(app)
    other.program()
    other.affiliate("ada2", email=email, email_normalized=email)
    _set_zone(other, second_zone)

    assert f'title="{expected}"' in affiliate(email).open("/portal/earnings").text


def test_console_shows_utc(app, flask):
    visitor = Visitor(app)
    visitor.client.set_cookie(zone.COOKIE, "Asia%2FTokyo")
    visitor.open(flask.json("sign-in", "operator")["url"])

    page = visitor.open("/console").text

    assert re.search(r"signed in until <time [^>]*>[^<]* UTC</time>", page)
    assert "Tokyo" not in page


def test_own_account_names_the_zone_of_each_brand(app, berlin):
    email = f"ada-{uuid4().hex}@example.com"
    berlin.affiliate("ada", email=email, email_normalized=email)

    assert [brand["timezone"] for brand in Partner(app, email).get("/api/me").json["brands"]] == ["Europe/Berlin"]
