"""The portal's home: links, this month next to the last one, payouts. Source: the pages' interface, "Portal"."""

import html
import re
from datetime import timedelta

from models import db
from models.programs import daily_totals
from tests.support.api.lists import count_round_trips
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_click, insert_conversion, time_ago
from tests.support.running.hours import start_of_test

_HOME = "/portal"


def _read_text(page):
    """Return the visible text of a page, without the hidden parts of names."""
    text = re.sub(r"<(script|svg).*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", text)))


def _read_month(page):
    """Return each figure of this month with that of the last month."""
    figures = re.findall(r'<dt class="small dim">([^<]+)</dt><dd>(.*?)<br><span class="plain dim">(.*?)</span>', page)
    return {label: (value, before) for label, value, before in figures}


def test_links_come_first_and_can_be_shared(rita):
    page = rita.open_page(_HOME)

    assert page.index('id="links"') < page.index('id="month"') < page.index('id="balances"')
    url = re.search(r'<input id="link-1" value="([^"]+)" readonly>', page)[1]
    assert url.endswith("/rita")
    assert ">Your link</label>" in page
    mail = html.unescape(re.search(r'href="(mailto:[^"]+)"', page)[1])
    assert mail.startswith("mailto:?subject=Brand&body=http")
    (code,) = set(re.findall(r'href="(/portal/links/[^"]+/qr\.svg)"', page))
    assert rita.visitor.open(code).headers["Content-Type"] == "image/svg+xml"


def test_this_month_is_compared_with_the_same_days_of_the_last_one(rita):
    now = start_of_test()
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    last_month = (month - timedelta(days=1)).replace(day=1)
    before_last = last_month - timedelta(seconds=1)
    for occurred_at, cents in ((month, 500), (last_month, 300), (last_month, 200), (before_last, 100)):
        insert_conversion(rita.payroll.brand, rita.affiliate_id, occurred_at=occurred_at, commission_cents=cents)
        insert_click(rita.payroll.brand, rita.affiliate_id, occurred_at=occurred_at)

    expected = {
        "Clicks": ("1", "2 last month"),
        "Sales": ("1", "2 last month"),
        "Commission": ("5.00 USD", "5.00 USD last month"),
    }
    assert _read_month(rita.open_page(_HOME)) == expected
    with db.any_org_work():
        daily_totals.any_org_fold(limit=10_000)
    assert _read_month(rita.open_page(_HOME)) == expected


def test_later_days_of_the_last_month_are_left_out(rita):
    now = start_of_test()
    last_day = now.replace(day=1) - timedelta(days=1)
    insert_conversion(rita.payroll.brand, rita.affiliate_id, occurred_at=last_day)

    sales = _read_month(rita.open_page(_HOME))["Sales"]
    is_same_day = last_day.day <= now.day
    assert sales == ("0", f"{int(is_same_day)} last month")


def test_sale_appears_after_a_reload(rita):
    before = rita.open_page(_HOME)
    rita.payroll.sell("rita", 4_900)
    after = rita.open_page(_HOME)

    assert (_read_month(before)["Sales"][0], _read_month(after)["Sales"][0]) == ("0", "1")
    assert "9.80 USD" in after


def test_last_payout_is_shown_with_its_state(rita):
    assert "No payouts yet." in rita.open_page(_HOME)
    rita.payroll.execute("update organization set payout_grace_days = 0 where id = %s", rita.payroll.brand.id)
    rita.payroll.sell("rita", 4_900)
    rita.payroll.run()
    rita.payroll.pay()
    ((payout_id,),) = rita.payroll.payouts("id")

    page = rita.open_page(_HOME)
    assert f'href="/portal/payouts/{payout_id}"' in page
    assert re.search(r"9\.80 USD Paid Brand ·", _read_text(page))


def test_next_payout_names_the_day_of_a_schedule_or_says_that_there_is_none(rita):
    assert "No fixed date: Brand pays without a schedule." in _read_text(rita.open_page(_HOME))
    owner = rita.payroll.brand.person("Owner")
    chosen = {"automaticPayoutCadence": "Weekly"}
    assert owner.call("PATCH", "/api/organizations/me", chosen).status_code == 200
    ((since,),) = rita.payroll.brand.rows("select automatic_payout_since from organization")

    page = rita.open_page(_HOME)
    assert "Planned for" in page
    assert f'<time datetime="{since + timedelta(days=7)}">' in page
    assert "weekly" in page


def _read_next_payout(rita):
    page = rita.open_page(_HOME)
    return _read_text(page.partition('id="next-payout"')[2].partition("</section>")[0])


def _set_hold(rita, days):
    rita.payroll.execute("update organization set payout_grace_days = %s where id = %s", days, rita.payroll.brand.id)


def test_next_payout_says_what_is_payable_by_then(rita):
    owner = rita.payroll.brand.person("Owner")
    assert owner.call("PATCH", "/api/organizations/me", {"automaticPayoutCadence": "Weekly"}).status_code == 200
    assert "Nothing is payable by then." in _read_next_payout(rita)

    _set_hold(rita, 30)  # becomes payable after the next payout day
    rita.payroll.sell("rita", 100_000)
    assert "Nothing is payable by then." in _read_next_payout(rita)
    _set_hold(rita, 2)  # before it
    rita.payroll.sell("rita", 4_900)
    _set_hold(rita, 0)
    rita.payroll.sell("rita", 10_000)
    text = _read_next_payout(rita)
    assert "Payable by then: 29.80 USD" in text
    assert "inimum payout" not in text


def test_next_payout_says_that_the_minimum_is_not_reached(rita):
    owner = rita.payroll.brand.person("Owner")
    assert owner.call("PATCH", "/api/organizations/me", {"automaticPayoutCadence": "Monthly"}).status_code == 200
    rita.payroll.execute("update program set min_payout_cents = 5000, min_payout_currency = 'USD'")
    _set_hold(rita, 0)
    rita.payroll.sell("rita", 24_995)
    assert "Payable by then: 49.99 USD This is below the minimum payout (50.00 USD)." in _read_next_payout(rita)

    rita.payroll.sell("rita", 5)
    text = _read_next_payout(rita)
    assert "Payable by then: 50.00 USD Minimum payout: 50.00 USD." in text
    assert "below" not in text


def test_held_commission_names_when_it_becomes_payable(rita):
    rita.payroll.sell("rita", 4_900)
    ((hold_until,),) = rita.payroll.brand.rows("select hold_until from conversion")

    page = rita.open_page(_HOME)
    coming = re.search(r'<ul class="stack" aria-label="Becomes payable">(.*?)</ul>', page, re.DOTALL)[1]
    assert "9.80 USD" in coming
    assert f'<time datetime="{hold_until:%Y-%m-%dT%H:%M:%S}Z">' in coming


def test_new_affiliate_sees_what_to_do_first(rita):
    text = _read_text(rita.open_page(_HOME))

    assert "Share your link to get your first clicks." in text
    assert "Add your payout account" in text


def test_home_shows_nothing_of_other_affiliates_and_no_notes(app, rita):
    rita.payroll.execute("update affiliate set notes = 'A difficult person', tags = '{{watch}}'")
    rita.payroll.affiliate("ben")
    rita.payroll.sell("ben", 123_456_00)
    other = Brand.create(app)
    other.program(name="Elsewhere")
    other.affiliate("eva")

    for path in (_HOME, "/portal/links", "/portal/earnings", "/portal/payouts", "/portal/programs"):
        page = rita.open_page(path)
        for secret in ("difficult", "watch", "24,691.20", "/ben", "Elsewhere"):
            assert secret not in page, (path, secret)


def test_home_costs_the_same_with_many_conversions(rita):
    rita.open_page(_HOME)
    before = count_round_trips(lambda: rita.open_page(_HOME))
    for number in range(20):
        insert_conversion(rita.payroll.brand, rita.affiliate_id, occurred_at=time_ago(days=number))

    assert count_round_trips(lambda: rita.open_page(_HOME)) == before
