"""Rules for every source, whatever its API: walk its lists, keep odd rows, refuse answers of another form."""

import json

import pytest

from adapters.switches import registry
from adapters.switches.base import SourceResponse, SourceRow, UnreadablePage, UnreadableRow
from commands.demo.played import faults
from commands.demo.played.source import PlayedResponse
from domain.switches import records
from domain.switches.sources import Collection
from tests.support.switches.walking import PLAYED, WITHOUT_ROWS, Walk

_CLASSES = {
    Collection.Campaigns: records.SourceCampaign,
    Collection.Affiliates: records.SourceAffiliate,
    Collection.Links: records.SourceLink,
    Collection.Codes: records.SourceCode,
    Collection.Customers: records.SourceCustomer,
    Collection.Commissions: records.SourceCommission,
    Collection.Payouts: records.SourcePayout,
}


@pytest.mark.parametrize("name", PLAYED)
def test_info_names_the_source_and_its_fields(name):
    info = registry.get(name).info

    assert info.name == name
    assert info.address.startswith("https://")
    assert not info.address.endswith("/")
    assert len({field.name for field in info.fields}) == len(info.fields)
    assert info.requests_per_s > 0


def test_own_pace_of_each_source():
    paces = {name: registry.get(name).info.requests_per_s for name in PLAYED}

    assert paces == {
        "rewardful": 1.4,
        "firstpromoter": 6,
        "tolt": 10,
        "partnerstack": 4,
        "tapfiliate": 2,
        "lemonsqueezy": 4,
        "dub": 1,
    }


def test_the_played_account_accepts_the_fields_of_the_source(walk):
    assert {field.name for field in walk.source.info.fields} == set(walk.account.credentials)


def test_wrong_credentials_are_refused_with_401(walk):
    wrong = {name: f"{value}x" for name, value in walk.account.credentials.items()}

    response = walk.fetch(walk.source.account_request(wrong), wrong)

    assert response.status_code in (401, 403)


def test_credentials_are_in_no_address(walk):
    secrets = [walk.account.credentials[field.name] for field in walk.source.info.fields if field.secret]

    walk.walk()

    assert secrets
    for request in walk.server.log:
        assert not any(secret in request.path + str(request.query) for secret in secrets)


def test_walking_reads_every_affiliate_and_customer_of_the_account(walk):
    walk.walk()

    affiliates = [record for record in walk.understand(Collection.Affiliates) if record.problem is None]
    assert len(affiliates) == 20
    assert {record.email.lower() for record in affiliates} == {f"partner{index}@example.com" for index in range(20)}
    assert len(walk.rows_of(Collection.Customers)) == 60
    assert walk.mentions() == []


def test_each_row_becomes_a_record_of_its_collection_with_its_id(walk):
    walk.walk()

    assert walk.rows
    for (collection, source_id), row in walk.rows.items():
        record = walk.source.understand(row, walk.context)
        assert type(record) is _CLASSES[collection], (collection, source_id)
        assert record.source_id == source_id


def test_rows_are_of_the_collections_that_the_source_names(walk):
    walk.walk()

    assert {collection for collection, _ in walk.rows} <= set(walk.source.info.collections)


def test_names_of_lists_are_unique(walk):
    names = [walked.name for walked in walk.source.lists(walk.context)]

    assert len(set(names)) == len(names)


def test_a_page_that_is_read_twice_brings_the_same_rows(walk):
    walked = walk.source.lists(walk.context)[0]

    pages = [walk.read(walked, None) for _ in range(2)]

    assert [row.source_id for row in pages[0].rows] == [row.source_id for row in pages[1].rows]


def test_unknown_fields_change_no_record(walk):
    walk.walk()

    for row in walk.rows.values():
        extended = SourceRow(
            row.collection, row.source_id, {**row.data, "unknown_field": {"deep": [1]}}, row.is_mention
        )
        assert walk.source.understand(extended, walk.context) == walk.source.understand(row, walk.context)


@pytest.mark.parametrize("data", [{}, {"note": "no id"}], ids=str)
def test_a_row_without_an_id_is_unreadable(walk, data):
    for collection in walk.source.info.collections:
        row = SourceRow(collection, "content-1", data)
        with pytest.raises(UnreadableRow):
            walk.source.understand(row, walk.context)


def test_junk_anywhere_in_a_row_is_understood_or_unreadable(walk):
    walk.walk()

    for row in {row.collection: row for row in walk.rows.values()}.values():
        for path in _list_paths(row.data):
            for junk in (None, True, -1, 1 << 70, "", "\x00", "\ud800", "NaN", "1e999999999", [[]], {"id": []}):
                walk.try_to_understand(SourceRow(row.collection, row.source_id, _replace(row.data, path, junk)))


def _list_paths(value, path=()):
    """Return the path of each value within a JSON value; of a list only the first is looked at."""
    children = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    return [each for name, child in children for each in [(*path, name), *_list_paths(child, (*path, name))]]


def _replace(value, path, junk):
    if not path:
        return junk
    copied = value.copy()
    copied[path[0]] = _replace(value[path[0]], path[1:], junk)
    return copied


@pytest.mark.parametrize("junk", [None, 7, "text", [], {}, {"name": "no id"}])
def test_junk_in_a_list_becomes_an_unreadable_row(walk, junk):
    for walked in walk.source.lists(walk.context):
        if walked.of_parents is not None or walked.name in WITHOUT_ROWS:
            continue
        before = _read_first_page(walk, walked)
        walk.server.faults.add(faults.change(lambda response: _append(response, junk)))

        after = _read_first_page(walk, walked)

        added = [row for row in after.rows if row.source_id not in {row.source_id for row in before.rows}]
        assert len(added) == 1, walked.name
        assert walk.try_to_understand(added[0]) is None, walked.name
        walk.server.faults.clear()


@pytest.mark.parametrize(
    "body", [None, "text", 7, True, {}, {"data": "text"}, {"data": None}, {"error": "no"}], ids=repr
)
def test_an_answer_without_a_list_is_no_page(walk, body):
    for walked in walk.source.lists(walk.context):
        with pytest.raises(UnreadablePage):
            walk.source.read_page(walked, None, SourceResponse(200, {}, body), walk.context, "1")


def test_nul_characters_and_lone_surrogates_are_removed(walk):
    walked = walk.source.lists(walk.context)[0]
    response = walk.fetch(walk.source.request(walked, None, walk.context))
    text = json.dumps(response.json()).replace("example.com", "exam\\u0000ple.com").replace("Anna", "An\\ud800na")

    page = walk.source.read_page(walked, None, SourceResponse(200, response.headers, json.loads(text)), walk.context)

    stored = json.dumps([row.data for row in page.rows])
    assert "\\u0000" not in stored
    assert "\\ud800" not in stored
    assert "partner0@example.com" in stored


def _read_first_page(walk: Walk, walked):
    page = walk.read(walked, None)
    assert page is not None
    return page


def _append(response: PlayedResponse, junk: object) -> PlayedResponse:
    """Return a page with another value in its list."""
    body = json.loads(json.dumps(response.body))
    rows = body
    while isinstance(rows, dict):
        rows = rows.get("data", rows.get("items", rows.get("rewards")))
    rows.append(junk)
    return PlayedResponse(body, response.status, response.headers)
