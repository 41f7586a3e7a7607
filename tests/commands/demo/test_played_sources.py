"""The server of played sources: its log, its faults, accounts that change, and large samples."""

import gzip
import importlib
import tracemalloc
from email.utils import parsedate_to_datetime

import pytest
import requests

from commands.demo.played import faults
from commands.demo.played.account import PlayedRows
from commands.demo.played.sample import Sample
from commands.demo.played.server import playing
from commands.demo.played.source import PlayedResponse

_HEADERS = {"Authorization": "Bearer sample-tolt-key"}
_QUERY = {"program_id": "prg_sample0000000001", "order": "asc"}


@pytest.fixture
def server():
    played = importlib.import_module("commands.demo.played.tolt")
    with playing(played.build_source(played.build_account(Sample()))) as running:
        yield running


def _get(server, path="/v1/partners", **query):
    return requests.get(
        f"{server.url}{path}", params={**_QUERY, **query}, headers=_HEADERS, timeout=5, allow_redirects=False
    )


def test_requests_are_logged_with_increasing_times(server):
    _get(server, limit="5")
    _get(server, "/v1/links")

    first, second = server.log
    assert (first.method, first.path, first.value("limit")) == ("GET", "/v1/partners", "5")
    assert first.at < second.at
    assert server.requests("/links") == [second]


def test_only_get_is_answered(server):
    assert requests.post(f"{server.url}/v1/partners", json={}, headers=_HEADERS, timeout=5).status_code == 404


@pytest.mark.parametrize("status", [500, 503])
def test_a_fault_is_played_for_its_requests_only(server, status):
    server.faults.add(faults.respond(status, path="/links", skip=1, times=2))

    assert [_get(server, "/v1/links").status_code for _ in range(4)] == [200, status, status, 200]
    assert _get(server).status_code == 200


def test_faults_are_played_in_order(server):
    server.faults.add(faults.respond(500))
    server.faults.add(faults.respond(503))

    assert [_get(server).status_code for _ in range(3)] == [500, 503, 200]


def test_429_names_seconds_a_date_a_reset_or_nothing(server):
    server.faults.add(faults.too_many(retry_after_s=7))
    server.faults.add(faults.too_many(retry_after_s=7, is_date=True))
    server.faults.add(faults.too_many(reset=("X-RateLimit-Reset", "1767225600")))
    server.faults.add(faults.too_many())

    seconds, date, reset, neither = (_get(server) for _ in range(4))

    assert {response.status_code for response in (seconds, date, reset, neither)} == {429}
    assert seconds.headers["Retry-After"] == "7"
    assert parsedate_to_datetime(date.headers["Retry-After"]).tzinfo is not None
    assert reset.headers["X-RateLimit-Reset"] == "1767225600"
    assert "Retry-After" not in reset.headers
    assert "Retry-After" not in neither.headers


def test_a_closed_connection_has_no_answer(server):
    server.faults.add(faults.close())

    with pytest.raises(requests.ConnectionError):
        _get(server)
    assert _get(server).status_code == 200


def test_a_cut_answer_ends_before_its_length(server):
    server.faults.add(faults.cut())

    with pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        _get(server)


@pytest.mark.parametrize("status", [200, 401])
def test_html(server, status):
    server.faults.add(faults.html(status))

    response = _get(server)

    assert (response.status_code, response.headers["Content-Type"]) == (status, "text/html")
    with pytest.raises(requests.JSONDecodeError):
        response.json()


def test_truncated_json_has_its_whole_length(server):
    server.faults.add(faults.truncate())

    response = _get(server)

    assert len(response.content) == int(response.headers["Content-Length"])
    with pytest.raises(requests.JSONDecodeError):
        response.json()


def test_large_and_packed_answers(server):
    server.faults.add(faults.large(size=2 << 20))
    server.faults.add(faults.gzip_bomb(size=4 << 20))

    assert len(_get(server).content) > 2 << 20
    with requests.get(f"{server.url}/v1/partners", headers=_HEADERS, timeout=5, stream=True) as response:
        packed = response.raw.read(decode_content=False)
    assert len(packed) < 100_000
    assert len(gzip.decompress(packed)) > 4 << 20


def test_redirects_are_sent_as_they_are(server):
    server.faults.add(faults.redirect("http://10.0.0.1/"))

    response = _get(server)

    assert (response.status_code, response.headers["Location"]) == (302, "http://10.0.0.1/")


def test_totals_may_be_wrong(server):
    server.faults.add(faults.change(lambda response: PlayedResponse({**response.body, "total_count": 3})))

    assert _get(server).json()["total_count"] == 3
    assert _get(server).json()["total_count"] == 20


def test_the_account_changes_before_a_page(server):
    account = server.source.account
    server.faults.add(faults.change_account(account, lambda changed: changed["partners"].delete(0), skip=1))

    first, second = _get(server).json(), _get(server).json()

    assert (first["total_count"], second["total_count"]) == (20, 19)


def test_paging_goes_on_after_a_deleted_row():
    rows = PlayedRows({"id": str(number)} for number in range(5))
    rows.delete(2)

    assert rows.index_after("1") == 2
    assert rows.index_after("2") == 2
    assert rows.index_after("other") is None


def test_computed_rows_become_a_list_with_the_first_change():
    rows = PlayedRows(count=3, compute=lambda index: {"id": str(index)})
    rows.insert(1, {"id": "new"})
    rows.update(0, name="a")
    rows.replace(3, {"id": "last"})

    assert list(rows) == [{"id": "0", "name": "a"}, {"id": "new"}, {"id": "1"}, {"id": "last"}]
    assert rows[-1] == {"id": "last"}


@pytest.mark.parametrize("name", ["rewardful", "firstpromoter", "tolt"])
def test_commissions_of_a_large_sample_are_computed_page_by_page(name):
    played = importlib.import_module(f"commands.demo.played.{name}")
    tracemalloc.start()
    try:
        account = played.build_account(Sample(affiliates=100, customers=1000, commissions=100_000))
        source = played.build_source(account)
        commissions = source.account["commissions"]
        page = commissions.slice(99_900, 100_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(page) == 100
    assert len(commissions) == 100_000
    assert peak < 5 << 20


def test_a_sample_is_the_same_every_time():
    rows = [(sample.affiliate(3), sample.customer(5), sample.commission(7)) for sample in (Sample(), Sample())]

    assert rows[0] == rows[1]


def test_payouts_of_a_sample_are_its_paid_commissions():
    sample = Sample()
    paid = [row for row in map(sample.commission, range(200)) if row.word == "paid"]

    assert sum(payout.cents for payout in sample.payouts()) == sum(row.commission_cents for row in paid)
    assert {payout.currency for payout in sample.payouts()} == {"USD", "EUR"}
