"""What an affiliate was paid: payouts with their lines, rates and days, and what was held back and why."""

from uuid import uuid4

from tests.support.job_queues import drain
from tests.support.rows.brands import Partner
from tests.support.rows.deal_scene import DealScene

URL = "/api/me/payouts"


def _only(person):
    (found,) = person.get(URL)["items"]
    return person.get(f"{URL}/{found['id']}")


def test_a_payout_says_what_it_pays_at_which_rate_of_which_day(rita):
    rita.first.rate("EUR", "0.8")
    rita.first.sell("rita", 4_900, "EUR")
    rita.first.sell("rita")
    rita.first.run()
    rita.first.pay()

    found = _only(rita)
    assert (found["status"], found["amountCents"], found["currency"]) == ("Paid", 3_225, "USD")
    assert (found["programName"], found["organizationName"], found["dealTitle"]) == ("Campaign", "Brand", None)
    assert found["paidAt"] and found["reference"]
    lines = {line["nativeCurrency"]: line for line in found["lineItems"]}
    ((day,),) = rita.first.brand.rows("select fx_rate_date::text from payout_line where native_currency = 'EUR'")
    euros = lines["EUR"]
    assert (euros["nativeAmountCents"], euros["fxRate"], euros["fxRateDate"]) == (980, 0.8, day)
    assert (euros["amountCents"], euros["note"]) == (1_225, None)
    assert sum(line["amountCents"] for line in found["lineItems"]) == found["amountCents"]


def test_where_it_goes_is_not_in_it(rita):
    rita.first.sell("rita")
    rita.first.run()

    found = _only(rita)
    assert "acct_rita" not in str(found)
    assert found["status"] == "Pending"


def test_what_is_held_back_says_why(rita):
    rita.first.sell("rita", externalEventId="back")
    rita.first.run()
    rita.first.pay()
    rita.first.brand.refund("back", 5_000)
    drain("sales")
    rita.first.sell("rita", 20_000)
    rita.first.run()

    newest = rita.get(URL)["items"][0]
    lines = rita.get(f"{URL}/{newest['id']}")["lineItems"]
    assert sorted((line["amountCents"], line["note"]) for line in lines) == [
        (-1_000, "Held back: it was paid to you before and refunded afterwards."),
        (4_000, None),
    ]
    assert newest["amountCents"] == 3_000


def test_a_failed_payout_says_why(app, rita):
    rita.first.execute("update organization set sandbox_rail = 'fail' where id = %s", rita.first.brand.id)
    rita.first.sell("rita")
    rita.first.run()
    rita.first.pay()

    found = _only(rita)
    assert found["status"] == "Failed"
    assert found["failureReason"] and found["failedAt"]


def test_a_deals_milestone_is_a_line_of_its_own(app):
    dealing = DealScene.create(app)
    deal_id = dealing.create_funded(50_000)
    dealing.submit(deal_id)
    dealing.approve(deal_id)
    drain("payouts")

    (listed,) = dealing.creator.get(URL).json["items"]
    found = dealing.creator.get(f"{URL}/{listed['id']}").json
    assert (found["dealTitle"], found["status"]) == ("Autumn video", "Paid")
    (line,) = found["lineItems"]
    assert (line["conversionId"], line["nativeAmountCents"], line["amountCents"]) == (None, 50_000, 50_000)


def test_payouts_of_all_their_brands_and_nobody_elses(rita, stranger):
    for payroll in (rita.first, rita.second):
        payroll.sell("rita")
        payroll.sell("ben")
        payroll.run()

    found = rita.get(URL)["items"]
    assert {one["affiliateId"] for one in found} == {str(p.affiliates["rita"]) for p in (rita.first, rita.second)}
    assert stranger.get(URL).json["items"] == []
    page = rita.get(f"{URL}?take=1")
    rest = rita.get(f"{URL}?take=1&cursor={page['nextCursor']}")
    assert [page["items"][0]["id"], rest["items"][0]["id"]] == [one["id"] for one in found]


def test_anothers_payout_is_not_there(rita, stranger):
    rita.first.sell("rita")
    rita.first.sell("ben")
    rita.first.run()
    ((bens,),) = rita.first.brand.rows("select id from payout where affiliate_id = %s", rita.first.affiliates["ben"])
    ours = rita.get(URL)["items"][0]["id"]

    assert stranger.get(f"{URL}/{ours}").status_code == 404
    for path in (f"{URL}/{bens}", f"{URL}/{uuid4()}", f"{URL}/no-id"):
        assert rita.partner.get(path).status_code == 404


def test_an_unverified_email_sees_nothing(app, rita):
    nobody = Partner(app, rita.email, is_email_verified=False)

    assert [nobody.get(path).status_code for path in (URL, f"{URL}/{uuid4()}")] == [403, 403]
