"""Payouts of an affiliate: lines, rates and days, and amounts held back with the reason."""

from uuid import uuid4

from tests.support.job_queues import drain
from tests.support.rows.brands import Partner
from tests.support.rows.deal_scene import DealScene

URL = "/api/me/payouts"


def _get_only(person):
    (payout,) = person.get(URL)["items"]
    return person.get(f"{URL}/{payout['id']}")


def test_payout_lines_show_rate_and_day(rita):
    rita.first.rate("EUR", "0.8")
    rita.first.sell("rita", 4_900, "EUR")
    rita.first.sell("rita")
    rita.first.run()
    rita.first.pay()

    payout = _get_only(rita)
    assert (payout["status"], payout["amountCents"], payout["currency"]) == ("Paid", 3_225, "USD")
    assert (payout["programName"], payout["organizationName"], payout["dealTitle"]) == ("Campaign", "Brand", None)
    assert payout["paidAt"] and payout["reference"]
    lines = {line["nativeCurrency"]: line for line in payout["lineItems"]}
    ((day,),) = rita.first.brand.rows("select fx_rate_date::text from payout_line where native_currency = 'EUR'")
    euros = lines["EUR"]
    assert (euros["nativeAmountCents"], euros["fxRate"], euros["fxRateDate"]) == (980, 0.8, day)
    assert (euros["amountCents"], euros["note"]) == (1_225, None)
    assert sum(line["amountCents"] for line in payout["lineItems"]) == payout["amountCents"]


def test_payout_hides_its_destination(rita):
    rita.first.sell("rita")
    rita.first.run()

    payout = _get_only(rita)
    assert "acct_rita" not in str(payout)
    assert payout["status"] == "Pending"


def test_held_back_line_has_a_reason(rita):
    rita.first.sell("rita", externalEventId="back")
    rita.first.run()
    rita.first.pay()
    rita.first.brand.refund("back", 5_000)
    drain("sales")
    rita.first.sell("rita", 20_000)
    rita.first.run()

    newest_payout = rita.get(URL)["items"][0]
    lines = rita.get(f"{URL}/{newest_payout['id']}")["lineItems"]
    assert sorted((line["amountCents"], line["note"]) for line in lines) == [
        (-1_000, "Held back: it was paid to you before and refunded afterwards."),
        (4_000, None),
    ]
    assert newest_payout["amountCents"] == 3_000


def test_failed_payout_has_a_reason(app, rita):
    rita.first.execute("update organization set sandbox_rail = 'fail' where id = %s", rita.first.brand.id)
    rita.first.sell("rita")
    rita.first.run()
    rita.first.pay()

    payout = _get_only(rita)
    assert payout["status"] == "Failed"
    assert payout["failureReason"] and payout["failedAt"]


def test_deal_milestone_is_a_line(app):
    scene = DealScene.create(app)
    deal_id = scene.create_funded(50_000)
    scene.submit(deal_id)
    scene.approve(deal_id)
    drain("payouts")

    (listed,) = scene.creator.get(URL).json["items"]
    payout = scene.creator.get(f"{URL}/{listed['id']}").json
    assert (payout["dealTitle"], payout["status"]) == ("Autumn video", "Paid")
    (line,) = payout["lineItems"]
    assert (line["conversionId"], line["nativeAmountCents"], line["amountCents"]) == (None, 50_000, 50_000)


def test_payouts_of_all_their_brands_are_listed(rita, stranger):
    for payroll in (rita.first, rita.second):
        payroll.sell("rita")
        payroll.sell("ben")
        payroll.run()

    payouts = rita.get(URL)["items"]
    assert {payout["affiliateId"] for payout in payouts} == {
        str(p.affiliates["rita"]) for p in (rita.first, rita.second)
    }
    assert stranger.get(URL).json["items"] == []
    page = rita.get(f"{URL}?take=1")
    rest = rita.get(f"{URL}?take=1&cursor={page['nextCursor']}")
    assert [page["items"][0]["id"], rest["items"][0]["id"]] == [payout["id"] for payout in payouts]


def test_other_affiliates_payout_returns_404(rita, stranger):
    rita.first.sell("rita")
    rita.first.sell("ben")
    rita.first.run()
    ((bens_payout_id,),) = rita.first.brand.rows(
        "select id from payout where affiliate_id = %s", rita.first.affiliates["ben"]
    )
    own_id = rita.get(URL)["items"][0]["id"]

    assert stranger.get(f"{URL}/{own_id}").status_code == 404
    for path in (f"{URL}/{bens_payout_id}", f"{URL}/{uuid4()}", f"{URL}/no-id"):
        assert rita.partner.get(path).status_code == 404


def test_unverified_email_returns_403(app, rita):
    unverified = Partner(app, rita.email, is_email_verified=False)

    assert [unverified.get(path).status_code for path in (URL, f"{URL}/{uuid4()}")] == [403, 403]
