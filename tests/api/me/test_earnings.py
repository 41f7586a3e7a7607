"""Earnings of an affiliate: each conversion with payment state and reasons, without data of the buyer."""

import csv
import io
import json
from datetime import datetime

import pytest

from models import db
from tests.support.api.decisions import adjust_commission
from tests.support.api.import_requests import build_past_sale, import_sales
from tests.support.job_queues import drain
from tests.support.rows.brands import Partner

URL = "/api/me/conversions"


def _get_only(person, query=""):
    (conversion,) = person.get(f"{URL}{query}")["items"]
    return conversion


def test_conversion_shows_share_state_day_and_reasons(rita):
    rita.hold(30)
    rita.first.sell("rita", 4_900, subId="newsletter")

    conversion = _get_only(rita)
    ((hold_until,),) = rita.first.brand.rows("select hold_until from conversion")
    assert (conversion["amountCents"], conversion["commissionCents"], conversion["currency"]) == (4_900, 980, "USD")
    assert (conversion["status"], conversion["state"], conversion["subId"]) == ("Pending", "Held", "newsletter")
    assert abs((datetime.fromisoformat(conversion["payableAt"]) - hold_until).total_seconds()) < 0.001
    assert conversion["why"] == [
        "The buyer came through your link.",
        "20 %: the rate of the program.",
        "It is on hold until the refund period is over.",
    ]
    assert (conversion["programName"], conversion["organizationName"]) == ("Campaign", "Brand")


def test_earnings_reveal_neither_buyer_nor_order(rita):
    rita.first.sell(
        "rita", externalEventId="secret-order", customerId="cus_secret", customerEmail="secret@buyer.example"
    )

    assert "secret" not in json.dumps(_get_only(rita))
    assert "secret" not in rita.partner.get("/api/me/conversions.csv").text


def test_state_follows_the_payout(rita):
    rita.first.sell("rita", externalEventId="way")
    assert _get_only(rita)["state"] == "Payable"

    rita.first.run()
    assert _get_only(rita)["state"] == "OnItsWay"

    rita.first.pay()
    paid = _get_only(rita)
    assert (paid["state"], paid["paidCents"], paid["payableAt"]) == ("Paid", 2_000, None)

    rita.first.brand.refund("way")
    drain("sales")
    refunded = _get_only(rita)
    assert (refunded["state"], refunded["commissionCents"], refunded["refundedAmountCents"]) == ("Refunded", 0, 10_000)
    assert "The buyer was refunded in full." in refunded["why"]


def test_disputed_conversion_has_no_payable_day(rita):
    conversion_id = rita.first.sell("rita")
    rita.first.execute("update conversion set disputed_at = now() where id = %s", conversion_id)

    conversion = _get_only(rita)
    assert (conversion["state"], conversion["payableAt"]) == ("Disputed", None)


@pytest.mark.parametrize(("verb", "state"), [("deny", "Denied"), ("invalidate", "Invalidated")])
def test_decision_of_the_brand_is_the_state(rita, verb, state):
    conversion_id = rita.first.sell("rita")
    rita.decide(conversion_id, verb)

    assert (_get_only(rita)["state"], _get_only(rita)["payableAt"]) == (state, None)


def test_list_covers_all_their_brands_newest_first(rita, stranger):
    ids = [payroll.sell("rita") for payroll in (rita.first, rita.second, rita.first)]
    rita.first.sell("ben")
    rita.second.sell("ben")

    assert [item["id"] for item in rita.get(URL)["items"]] == ids[::-1]
    assert stranger.get(URL).json["items"] == []


def test_pages_have_no_gap_across_brands(rita):
    ids = [payroll.sell("rita") for payroll in (rita.first, rita.second) * 3]
    listed, cursor = [], ""
    for _ in range(3):
        page = rita.get(f"{URL}?take=2{cursor}")
        listed += [item["id"] for item in page["items"]]
        cursor = f"&cursor={page['nextCursor']}"

    assert listed == ids[::-1]
    assert not page["hasMore"]


def test_cursor_of_another_person_is_refused(rita, stranger):
    for _ in range(2):
        rita.first.sell("rita")
    cursor = rita.get(f"{URL}?take=1")["nextCursor"]

    assert stranger.get(f"{URL}?cursor={cursor}").status_code == 400


def test_list_filters_by_status_program_and_time(rita):
    first, second = rita.first.sell("rita"), rita.second.sell("rita")
    rita.decide(first, "deny")

    assert _get_only(rita, "?status=Denied")["id"] == first
    assert _get_only(rita, f"?programId={rita.second.brand.programs[-1]}")["id"] == second
    assert rita.get(f"{URL}?until=2020-01-01T00:00:00Z")["items"] == []
    assert len(rita.get(f"{URL}?since=2020-01-01T00:00:00Z")["items"]) == 2


@pytest.mark.parametrize("query", ["status=Gold", "programId=7", "since=never", "take=0", "take=-1", "cursor=x%00"])
def test_invalid_filter_returns_400(rita, query):
    assert rita.partner.get(f"{URL}?{query}").status_code == 400


def test_test_sales_are_not_listed(rita):
    assert rita.first.brand.other_key(is_test=True).sale(affiliateSlug="rita").status_code == 200
    drain("sales")

    assert rita.get(URL)["items"] == []


def test_override_reveals_neither_sale_nor_recruit(rita):
    brand = rita.first.brand
    with db.unit_of_work(brand.id):
        db.db.run("update program set sub_affiliate_enabled = true, sub_affiliate_percent = 10")
        db.db.run(
            "update affiliate set recruited_by_affiliate_id = %s where id = %s",
            (rita.first.affiliates["rita"], rita.first.affiliates["ben"]),
        )
    rita.first.sell("ben")
    drain()

    conversion = _get_only(rita)
    assert (conversion["commissionCents"], conversion["amountCents"]) == (200, 0)
    assert conversion["why"][:2] == [
        "You recruited the affiliate who referred the sale.",
        "10 %: your share of your recruit's commission.",
    ]
    assert str(rita.first.affiliates["ben"]) not in json.dumps(conversion)


def test_csv_equals_the_list(rita):
    rita.hold(30)
    rita.first.sell("rita", 4_900, subId="spring")
    rita.second.sell("rita")

    answer = rita.partner.get("/api/me/conversions.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert answer.headers["Content-Disposition"] == 'attachment; filename="earnings.csv"'
    assert [(row["commission_cents"], row["state"], row["sub_id"]) for row in rows] == [
        ("2000", "Held", ""),
        ("980", "Held", "spring"),
    ]
    assert [row["id"] for row in rows] == [item["id"] for item in rita.get(URL)["items"]]
    assert len(list(csv.DictReader(io.StringIO(rita.partner.get("/api/me/conversions.csv?status=Paid").text)))) == 0


def test_unverified_email_returns_403(app, rita):
    unverified = Partner(app, rita.email, is_email_verified=False)

    assert [unverified.get(path).status_code for path in (URL, "/api/me/conversions.csv")] == [403, 403]


def test_adjusted_commission_is_explained_without_its_rate_and_without_the_note(rita):
    rita.hold(30)
    sale = rita.first.sell("rita", 4_900)
    assert adjust_commission(rita.first.brand, sale, 500, "fraud", note="Between us").status_code == 200

    earning = _get_only(rita)

    assert earning["commissionCents"] == 500
    assert earning["why"][1] == "The brand set your commission by hand."
    assert "Between us" not in json.dumps(earning)
    assert "fraud" not in json.dumps(earning)


def test_locked_history_explains_that_it_is_not_paid_here(rita):
    brand = rita.first.brand
    ((slug,),) = brand.rows("select slug from tracking_link where is_default limit 1")
    rows = [build_past_sale(affiliateSlug=slug, paid=paid, externalId=str(paid)) for paid in (True, False)]
    assert import_sales(brand, *rows).status_code == 200

    by_status = {item["status"]: item for item in rita.get(URL)["items"] if item["locked"]}

    assert by_status["Pending"]["state"] == "NotPayable"
    assert any("imported it as history" in sentence for sentence in by_status["Pending"]["why"])
    assert by_status["Paid"]["state"] == "Paid"
    assert any("outside this service" in sentence for sentence in by_status["Paid"]["why"])
