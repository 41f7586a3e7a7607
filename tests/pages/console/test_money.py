"""Payouts, exchange rates and the ledger on the console."""

import io
from datetime import UTC, datetime

import pytest

from domain import jobs
from models import db
from tests.support.outside.console import list_audit_entries
from tests.support.rows.payroll import Payroll
from tests.support.rows.rates import list_rates


@pytest.fixture
def payroll(app):
    return Payroll.create_owing(app)


@pytest.fixture
def run_under_review(payroll):
    """The id of a run that waits for a review."""
    return payroll.create_run_under_review()


@pytest.fixture
def stuck(payroll):
    """The id of a payout of unknown outcome."""
    return payroll.create_stuck_payout()


def test_run_is_reviewed_on_its_own_page(operator, payroll, run_under_review):
    address = f"/console/payouts/runs/{run_under_review}"
    list_html = operator.open("/console/payouts").text
    form_html = operator.open(address).text
    refused = operator.send(address, {"decision": "approve", "why": "", "_key": "a"})
    answer = operator.send(address, {"decision": "approve", "why": "looked at it", "_key": "b"})
    payroll.pay()

    assert f'href="{address}"' in list_html
    assert "20.00 USD" in list_html
    assert 'value="approve"' in form_html
    assert (refused.status_code, 'value="approve" checked' in refused.text) == (422, True)
    assert answer.status_code == 303
    assert payroll.payouts("status") == [("Paid",)]
    assert "This run does not need a review" in operator.open(address).text
    assert list_audit_entries("payout.reviewed", run_under_review)[0][3]["why"] == "looked at it"


def test_decided_run_shows_its_decision(operator, payroll, run_under_review):
    address = f"/console/payouts/runs/{run_under_review}"
    operator.send(address, {"decision": "reject", "why": "no", "_key": "a"})
    again = operator.send(address, {"decision": "approve", "why": "yes", "_key": "b"})

    assert again.status_code == 422
    assert "not waiting for a review" in again.text
    assert payroll.payouts("status") == [("Failed",)]


@pytest.mark.parametrize(("end", "status"), [("paidAs", "Paid"), ("failedBecause", "Failed")])
def test_payout_of_unknown_outcome_is_settled_by_hand(operator, payroll, stuck, end, status):
    address = f"/console/payouts/{stuck}/settle"
    list_html, form_html = operator.open("/console/payouts").text, operator.open(address).text
    without_outcome = operator.send(address, {"said": "tr_1", "_key": "a"})
    answer = operator.send(address, {"end": end, "said": "tr_1", "_key": "b"})

    assert f'href="{address}"' in list_html
    assert f"payout:{stuck}:1" in form_html
    assert (without_outcome.status_code, "Choose a result." in without_outcome.text) == (422, True)
    assert 'value="tr_1"' in without_outcome.text
    assert answer.status_code == 303
    assert payroll.payouts("status") == [(status,)]


def test_unknown_id_is_a_404_page(operator):
    for path in ("/console/payouts/runs/01890000-0000-7000-8000-000000000000", "/console/payouts/none/settle"):
        assert operator.open(path).status_code == 404


def _send_file(operator, content, key="a"):
    form = {"file": (io.BytesIO(content), "rates.csv"), "_key": key}
    return operator.client.post(
        "/console/rates", data=form, content_type="multipart/form-data", headers={"Sec-Fetch-Site": "same-origin"}
    )


def test_file_of_rates_is_loaded_and_counted(operator, page_text):
    answer = _send_file(operator, b"\xef\xbb\xbfcurrency,perUsd,date\nLAK,21000,2024-05-01\n")

    assert answer.status_code == 200
    assert "1 new, 0 replaced, 0 unchanged; latest: 2024-05-01." in page_text(answer)
    assert [str(day) for _, day, _ in list_rates("LAK")].count("2024-05-01") == 1


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"currency,perUsd,date\nMMK,many,2024-05-01\n"])
def test_unusable_file_shows_the_reason_and_stores_nothing(operator, content):
    answer = _send_file(operator, content)

    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert list_rates("MMK") == []


def test_missing_rate_feed_shows_the_next_step(operator):
    answer = operator.send("/console/rates/refresh", {"_key": "a"})

    assert answer.status_code == 422
    assert "FX_FEED_URL" in answer.text


def test_stale_currency_shows_the_waiting_amount(operator, brand, page_text):
    from tests.support.rows.program_rows import insert_conversion

    brand.program()
    insert_conversion(brand, brand.affiliate("ben"), currency="XCD", commission_cents=1_234)

    assert "XCD – – Stale 12.34 XCD" in page_text(operator.open("/console/rates"))


def test_ledger_is_checked_on_request(operator, brand, drain, page_text):
    assert operator.send("/console/ledger/check", {"organizationId": str(brand.id), "_key": "a"}).status_code == 303
    drain("upkeep")
    assert operator.send("/console/ledger/check", {"_key": "b"}).status_code == 303
    with db.any_org_work():
        ((job_count,),) = db.db.run("select count(*) from job where name = %s", (jobs.LEDGER_CHECK.name,))

    assert job_count == 1
    assert f"{datetime.now(UTC):%Y}" in page_text(operator.open("/console/ledger"))
