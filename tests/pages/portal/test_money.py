"""Balances, earnings and payouts of an affiliate on the portal. Source: the pages' interface, "Portal"."""

import csv
import io
import re

from models import db
from tests.support.job_queues import drain


def _first_row(html, name):
    """Return the texts of the cells in the first row of a table."""
    table = re.search(rf'<table aria-label="{name}" role="table">(.*?)</table>', html, re.DOTALL)[1]
    body = re.search(r"<tbody[^>]*>\s*<tr[^>]*>(.*?)</tr>", table, re.DOTALL)[1]
    return [
        re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", cell)).strip()
        for cell in re.findall(r"<t[hd].*?</t[hd]>", body, re.DOTALL)
    ]


def test_money_is_on_hold_until_its_day_and_then_payable(rita):
    rita.payroll.sell("rita", 4_900)
    ((hold_until,),) = rita.payroll.brand.rows("select hold_until from conversion")

    html = rita.open_page("/portal")
    assert _first_row(html, "Balances") == ["USD", "9.80 USD", "0.00 USD", "0.00 USD", "0.00 USD"]
    assert f'<time datetime="{hold_until:%Y-%m-%dT%H:%M:%S}Z">' in html
    earned = rita.open_page("/portal/earnings")
    assert _first_row(earned, "Earnings")[1:3] == ["9.80 USD", "On hold"]
    assert f'<time datetime="{hold_until:%Y-%m-%dT%H:%M:%S}Z">' in earned

    rita.payroll.execute("update conversion set hold_until = now() - interval '1 second'")
    assert _first_row(rita.open_page("/portal"), "Balances") == ["USD", "0.00 USD", "9.80 USD", "0.00 USD", "0.00 USD"]
    assert _first_row(rita.open_page("/portal/earnings"), "Earnings")[2] == "Payable"


def test_earnings_show_the_reason(rita):
    rita.payroll.sell("rita")

    html = rita.open_page("/portal/earnings")
    assert "The buyer came through your link." in html
    assert "20 %: the rate of the program." in html


def test_earnings_filter_distinguishes_empty_results(rita):
    assert "No earnings yet" in rita.open_page("/portal/earnings")
    assert "No earnings match this filter." in rita.open_page("/portal/earnings?status=Paid")
    rita.payroll.sell("rita")

    assert "No earnings match this filter." in rita.open_page("/portal/earnings?status=Paid")
    assert "On hold" in rita.open_page("/portal/earnings?status=Pending")
    assert 'role="alert"' in rita.open_page("/portal/earnings?status=Gold", status=400)


def test_older_earnings_link_keeps_the_filter(rita):
    for _ in range(51):
        rita.payroll.sell("rita")

    first = rita.open_page("/portal/earnings?status=Pending")
    older = re.search(r'href="([^"]+)" rel="next"', first)[1].replace("&amp;", "&")
    assert older.startswith("/portal/earnings?status=Pending&cursor=")
    assert first.count("Why?") == 50
    assert rita.open_page(older).count("Why?") == 1


def test_earnings_are_exported_as_a_file(rita):
    rita.payroll.sell("rita", 4_900)

    answer = rita.visitor.open("/portal/earnings?as=csv")
    (row,) = csv.DictReader(io.StringIO(answer.text))
    assert (row["commission_cents"], row["state"]) == ("980", "Held")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    assert rita.visitor.open("/portal/earnings?as=csv&status=Gold").status_code == 400


def test_payout_is_shown_with_its_lines_rates_and_days(rita):
    rita.payroll.execute("update organization set payout_grace_days = 0 where id = %s", rita.payroll.brand.id)
    rita.payroll.rate("EUR", "0.8")
    assert "No payouts yet" in rita.open_page("/portal/payouts")
    rita.payroll.sell("rita", 4_900, "EUR", externalEventId="back")
    rita.payroll.run()
    rita.payroll.pay()

    list_html = rita.open_page("/portal/payouts")
    assert _first_row(list_html, "Payouts")[2] == "12.25 USD"
    address = re.search(r'href="(/portal/payouts/[^"]+)"', list_html)[1]
    line = _first_row(rita.open_page(address), "Lines")
    assert (line[2], line[3], line[5]) == ("9.80 EUR", "0.8 EUR", "12.25 USD")

    rita.payroll.brand.refund("back", 2_450)
    drain("sales")
    rita.payroll.sell("rita", 10_000, "EUR")
    rita.payroll.run()
    newest = re.search(r'href="(/portal/payouts/[^"]+)"', rita.open_page("/portal/payouts"))[1]
    html = rita.open_page(newest)
    assert "6.12 USD was deducted" in html
    assert "Held back: it was paid to you before and refunded afterwards." in html


def test_failed_payout_shows_the_reason(rita):
    rita.payroll.execute(
        "update organization set payout_grace_days = 0, sandbox_rail = 'fail' where id = %s", rita.payroll.brand.id
    )
    rita.payroll.sell("rita")
    rita.payroll.run()
    rita.payroll.pay()

    list_html = rita.open_page("/portal/payouts")
    assert "Failed" in list_html
    assert "Payout failed:" in rita.open_page(re.search(r'href="(/portal/payouts/[^"]+)"', list_html)[1])


def test_another_affiliates_payout_returns_404(rita):
    rita.payroll.execute("update organization set payout_grace_days = 0 where id = %s", rita.payroll.brand.id)
    rita.payroll.affiliate("ben")
    rita.payroll.sell("ben")
    rita.payroll.run()
    ((others_payout,),) = rita.payroll.brand.rows("select id from payout")

    assert "<h1>Page not found</h1>" in rita.open_page(f"/portal/payouts/{others_payout}", status=404)


def test_payout_account_is_added_changed_and_removed(rita):
    page = "/portal/payout-account"
    assert "No payout account yet." in rita.open_page(page)

    answer = rita.send(page, method="Wallet", walletEmail="Rita@Wallet.Example.com")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{page}?saved=1")
    assert "rita@wallet.example.com" in rita.open_page(page)
    rita.send(page, method="ProcessorConnect", walletEmail="rita@wallet.example.com", connectedAccountId="acct_1Nv0")
    assert "acct_1Nv0" in rita.open_page(page)
    rita.send(page, method="", connectedAccountId="acct_1Nv0")
    assert "No payout account yet." in rita.open_page(page)


def test_invalid_account_shows_an_error_with_the_typed_values(rita):
    answer = rita.send("/portal/payout-account", method="Wallet", walletEmail="rita at home")

    assert answer.status_code == 422
    assert "<title>Error: Payout account" in answer.text
    assert 'value="rita at home"' in answer.text
    assert 'aria-describedby="walletEmail-hint walletEmail-error"' in answer.text
    assert '<option value="Wallet" selected>' in answer.text
    missing = rita.send("/portal/payout-account", method="GlobalPayouts", recipientId="")
    assert (missing.status_code, "recipientId-error" in missing.text) == (422, True)
    assert rita.send("/portal/payout-account", method="Gold").status_code == 422


def test_payout_account_change_needs_a_fresh_login(rita, flask):
    page, typed = "/portal/payout-account", {"method": "ProcessorConnect", "connectedAccountId": "acct_rita77"}
    with db.any_org_work():
        db.db.run("update web_session set signed_in_at = now() - interval '61 minutes' where email = %s", (rita.email,))
    redirect = rita.send(page, **typed, _key="a")
    unchanged = rita.open_page(page)
    rita.send(page, **typed, _key="b")
    sign_in_answer = rita.visitor.open(flask.json("sign-in", "affiliate", "--email", rita.email)["url"])

    assert (redirect.status_code, redirect.headers["Location"]) == (303, "/sign-in?next=%2Fportal%2Fpayout-account")
    assert "Saved." not in unchanged
    assert sign_in_answer.headers["Location"] == page
    html = rita.open_page(page)
    assert 'value="acct_rita77"' in html
    assert '<option value="ProcessorConnect" selected>' in html
    assert rita.send(page, **typed, _key="c").headers["Location"] == f"{page}?saved=1"
    assert "<br>acct_rita77<br>" in rita.open_page(page)
