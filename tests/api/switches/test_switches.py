"""Switches: connect, change, read, cancel. Source: the switch-over rules, "Routes"."""

import pytest

from tests.support.rows.brands import Brand
from tests.support.switches.switch_states import insert_switch

URL = "/api/v1/switches"
_FILES = {"source": "files", "credentials": {}}
_UNKNOWN = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
def owner(brand):
    return brand.person("Owner")


def _connect(owner):
    answer = owner.post(URL, _FILES)
    assert answer.status_code == 201, answer.text
    return answer.json


def test_sources_are_listed_with_their_credentials(owner):
    sources = {source["name"]: source for source in owner.get(f"{URL}/sources").json}

    assert list(sources) == [
        *("rewardful", "firstpromoter", "tolt", "partnerstack", "tapfiliate", "lemonsqueezy", "dub", "files"),
    ]
    fields = {name: [field["name"] for field in source["fields"]] for name, source in sources.items()}
    assert fields == {
        "rewardful": ["apiSecret"],
        "firstpromoter": ["apiKey", "accountId"],
        "tolt": ["apiKey", "programId"],
        "partnerstack": ["publicKey", "secretKey"],
        "tapfiliate": ["apiKey"],
        "lemonsqueezy": ["apiKey", "storeId"],
        "dub": ["apiKey"],
        "files": [],
    }
    assert sources["firstpromoter"]["needsCurrency"] is True
    assert sources["lemonsqueezy"]["assumesCommissions"] is True
    assert all(field["help"] for source in sources.values() for field in source["fields"])


def test_switch_is_connected_and_audited(owner):
    record = _connect(owner)

    assert (record["source"], record["state"], record["result"]) == ("files", "Connected", None)
    assert record["options"] == {
        "unpaid": "history",
        "includeStatuses": None,
        "withoutReferrals": True,
        "groups": "tag",
        "codes": True,
        "customerIdIs": "auto",
        "currency": None,
        "assumedCommission": None,
    }
    assert owner.get(f"{URL}/{record['id']}").json == record
    assert owner.get(URL).json == {"items": [record], "nextCursor": None, "hasMore": False}
    assert owner.get(f"{URL}?state=Ready").json["items"] == []
    assert owner.rows("select action, entity_id from audit_entry where action like 'switch.%%'") == [
        ("switch.connected", record["id"])
    ]


def test_second_open_switch_is_refused(owner):
    _connect(owner)

    answer = owner.post(URL, _FILES)

    assert (answer.status_code, answer.json["error"]) == (409, "switch_in_progress")


def test_repeated_request_returns_the_first_answer(owner):
    first, again = (owner.post(URL, _FILES, idempotency_key="once") for _ in range(2))

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json == first.json


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"source": "files"},
        {"source": "nowhere", "credentials": {}},
        {"source": "files", "credentials": {"apiKey": 1}},
        {**_FILES, "force": True},
    ],
)
def test_malformed_connection_returns_400(owner, body):
    assert owner.post(URL, body).status_code == 400
    assert owner.rows("select count(*) from switch") == [(0,)]


@pytest.mark.parametrize(
    "body",
    [
        {"unknown": 1},
        {"options": {"unpaid": "later"}},
        {"options": {"notify": True}},
        {"options": {"currency": "XXQ"}},
        {"options": {"assumedCommission": {"type": "Percentage", "value": 101}}},
        {"campaigns": [{"sourceId": "all"}]},
        {"columns": {"payouts": {}}},
        {"columns": {"affiliates": {"shoeSize": "Size"}}},
        {"words": {"commissions": {"done": "finished"}}},
        {"cutOverAt": "soon"},
    ],
)
def test_malformed_change_returns_400(owner, body):
    record = _connect(owner)

    assert owner.call("PATCH", f"{URL}/{record['id']}", body).status_code == 400
    assert owner.get(f"{URL}/{record['id']}").json == record


@pytest.mark.parametrize("value", [-1, 1_000_000.01, 1e30, 1e300])
def test_assumed_commission_beyond_any_sale_returns_400(brand, owner, value):
    switch_id = insert_switch(brand, source="lemonsqueezy")
    body = {"options": {"assumedCommission": {"type": "Fixed", "value": value}}}

    assert owner.call("PATCH", f"{URL}/{switch_id}", body).status_code == 400


def test_only_sent_options_change(brand, owner):
    switch_id, program_id = _connect(owner)["id"], str(brand.program())
    body = {
        "options": {"unpaid": "payable", "currency": "eur"},
        "campaigns": [{"sourceId": "all", "programId": program_id}],
        "cutOverAt": "2026-05-18T09:30:00Z",
    }

    first = owner.call("PATCH", f"{URL}/{switch_id}", body)
    second = owner.call("PATCH", f"{URL}/{switch_id}", {"options": {"groups": "none"}})

    assert (first.status_code, second.status_code) == (200, 200), first.text
    record = second.json
    options = record["options"]
    assert (options["unpaid"], options["currency"], options["groups"]) == ("payable", "EUR", "none")
    assert [campaign["programId"] for campaign in record["campaigns"]] == [program_id]
    assert record["cutOverAt"] == "2026-05-18T09:30:00.000Z"


def test_program_of_another_brand_is_not_found(app, brand, owner):
    switch_id, other_program = _connect(owner)["id"], str(Brand.create(app).program())

    answer = owner.call("PATCH", f"{URL}/{switch_id}", {"campaigns": [{"sourceId": "all", "programId": other_program}]})

    assert (answer.status_code, answer.json["error"]) == (404, "program_not_found")


@pytest.mark.parametrize("state", ["Writing", "Completed", "Undoing", "Undone", "Cancelled"])
def test_change_in_a_final_state_is_refused(brand, owner, state):
    switch_id = insert_switch(brand, state)

    answer = owner.call("PATCH", f"{URL}/{switch_id}", {"options": {"codes": False}})

    assert (answer.status_code, answer.json["error"]) == (409, "switch_not_changeable")


@pytest.mark.parametrize(
    ("act", "state", "code"),
    [
        ("read", "Reading", "switch_not_readable"),
        ("read", "Completed", "switch_not_readable"),
        ("resume", "Ready", "switch_not_paused"),
        ("cancel", "Writing", "switch_not_cancellable"),
        ("cancel", "Completed", "switch_not_cancellable"),
    ],
)
def test_act_in_the_wrong_state_is_refused(brand, owner, act, state, code):
    switch_id = insert_switch(brand, state)

    answer = owner.post(f"{URL}/{switch_id}/{act}", {})

    assert (answer.status_code, answer.json["error"]) == (409, code)
    assert owner.get(f"{URL}/{switch_id}").json["state"] == state


def test_reading_without_a_mapping_is_refused(owner):
    answer = owner.post(f"{URL}/{_connect(owner)['id']}/read", {})

    assert (answer.status_code, answer.json["error"]) == (409, "mapping_missing")


def test_cancelled_switch_keeps_no_key(brand, owner):
    switch_id = insert_switch(brand, "Paused")

    answer = owner.post(f"{URL}/{switch_id}/cancel", {})

    assert (answer.status_code, answer.json["state"], answer.json["credentialsHeld"]) == (200, "Cancelled", False)
    assert owner.rows("select credentials_sealed from switch") == [(None,)]
    assert owner.post(URL, _FILES).status_code == 201


def test_paused_switch_says_why_and_resumes(brand, owner):
    switch_id = insert_switch(brand, "Paused")
    paused = owner.get(f"{URL}/{switch_id}").json

    resumed = owner.post(f"{URL}/{switch_id}/resume", {})

    assert (paused["pausedIn"], paused["lastError"]["code"]) == ("Reading", "credentials_refused")
    assert paused["progress"]["customers"] == {"read": 6, "total": 7, "written": 2}
    assert (resumed.status_code, resumed.json["state"], resumed.json["lastError"]) == (202, "Reading", None)


_WRITES = [
    ("POST", "", _FILES),
    ("PATCH", "/{id}", {"options": {"codes": False}}),
    ("POST", "/{id}/read", {}),
    ("POST", "/{id}/resume", {}),
    ("POST", "/{id}/cancel", {}),
    ("POST", "/{id}/run", {"confirm": {"affiliates": 0, "customers": 0, "commissions": 0, "payable": []}}),
    ("POST", "/{id}/undo", {}),
]


@pytest.mark.parametrize(("method", "path", "body"), _WRITES)
def test_keys_and_viewers_write_nothing(brand, method, path, body):
    switch_id = insert_switch(brand, "Cancelled")
    address = URL + path.format(id=switch_id)

    assert brand.call(method, address, body).status_code == 403
    assert brand.person("Viewer").call(method, address, body).status_code == 403
    unverified = brand.person("Owner", is_email_verified=False).call(method, address, body)
    assert (unverified.status_code, unverified.json["error"]) == (403, "email_verification_required")


@pytest.mark.parametrize("act", ["run", "undo"])
def test_run_and_undo_need_an_owner(brand, act):
    switch_id = insert_switch(brand, "Ready")
    body = {"confirm": {"affiliates": 3, "customers": 2, "commissions": 4, "payable": []}} if act == "run" else {}

    assert brand.person("Admin").post(f"{URL}/{switch_id}/{act}", body).status_code == 403


@pytest.mark.parametrize("path", ["", "/sources", "/{id}", "/{id}/preview", "/{id}/rows", "/{id}/rows.csv"])
def test_keys_read_with_a_plan(brand, path):
    switch_id = insert_switch(brand, "Ready")
    address = URL + path.format(id=switch_id)

    assert brand.get(address).status_code == 200
    assert brand.person("Viewer").get(address).status_code == 200
    brand.set(plan="Free")
    refused = brand.get(address)
    assert (refused.status_code, refused.json["error"]) == (402, "plan_tier_required")


@pytest.mark.parametrize(("method", "path", "body"), [*_WRITES[1:], *(("GET", path, None) for path in (
    "/{id}", "/{id}/preview", "/{id}/rows", "/{id}/rows.csv", "/{id}/undo", "/{id}/files"
))])  # fmt: skip
def test_other_tenants_switch_is_not_found(app, brand, method, path, body):
    other = Brand.create(app).person("Owner")
    switch_id = insert_switch(brand, "Ready")

    for id in (switch_id, _UNKNOWN, "nothing"):
        answer = other.call(method, URL + path.format(id=id), body)
        assert (answer.status_code, answer.json["error"]) == (404, "not_found")
