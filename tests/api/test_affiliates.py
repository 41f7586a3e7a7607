"""Affiliates as the brand creates and reads them, through HTTP."""

import re
import threading
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from pipelines import affiliates as affiliate_rules
from tests.api.lists import cursors_are_refused, trips_of
from tests.brands import Brand

URL = "/api/v1/affiliates"


def _create(brand, **fields):
    body = {"programId": str(brand.programs[-1]), "email": "ada@example.com"} | fields
    return brand.post(URL, {name: value for name, value in body.items() if value is not ...})


def _events(brand):
    return [
        (type, body["data"])
        for type, body in brand.rows("select type, body::jsonb from event order by created_at, type desc")
    ]


@pytest.fixture
def campaign(brand):
    """The brand with one campaign, listening to every event."""
    brand.program()
    brand.endpoint("https://localhost/hook")
    return brand


def test_a_new_affiliate_is_approved_and_has_a_link(campaign):
    answer = _create(campaign, fullName=" Ada Lovelace ")

    shown = answer.json
    assert answer.status_code == 201
    assert {name: shown[name] for name in shown if name not in ("id", "links") and not name.endswith("At")} == {
        "programId": str(campaign.programs[-1]),
        "email": "ada@example.com",
        "fullName": "Ada Lovelace",
        "status": "Approved",
        "customCommissionType": None,
        "customCommissionValue": None,
        "tags": [],
        "notes": "",
        "source": "Direct",
    }
    assert shown["appliedAt"] == shown["approvedAt"] == shown["createdAt"]
    (link,) = shown["links"]
    assert set(link) == {"id", "affiliateId", "slug", "customAlias", "isDefault", "format", "createdAt"}
    assert (link["affiliateId"], link["customAlias"], link["isDefault"], link["format"]) == (
        shown["id"],
        None,
        True,
        "Short",
    )
    assert re.fullmatch(r"[a-hj-km-np-z2-9]{8}", link["slug"])
    assert campaign.get(f"{URL}/{shown['id']}").json == shown


def test_the_brand_is_told_of_a_new_and_approved_affiliate(campaign):
    shown = _create(campaign, fullName="Ada").json

    shared = {
        "affiliateId": shown["id"],
        "programId": shown["programId"],
        "email": "ada@example.com",
        "fullName": "Ada",
    }
    assert _events(campaign) == [
        ("affiliate.created", shared | {"status": "Approved", "slug": shown["links"][0]["slug"]}),
        ("affiliate.approved", shared | {"approvedAt": shown["approvedAt"]}),
    ]
    assert campaign.rows("select count(*) from job where name = 'webhook.deliver'") == [(2,)]


@pytest.mark.parametrize("status", ["Pending", "Rejected", "Paused", "Banned"])
def test_another_status_is_kept_and_not_an_approval(campaign, status):
    shown = _create(campaign, status=status).json

    assert (shown["status"], shown["approvedAt"]) == (status, None)
    assert [type for type, _ in _events(campaign)] == ["affiliate.created"]


def test_creating_one_is_audited(campaign):
    shown = _create(campaign).json

    assert campaign.rows("select entity_type, entity_id from audit_entry where action = 'affiliate.created'") == [
        ("affiliate", shown["id"])
    ]


def test_what_is_private_is_not_shown(campaign):
    affiliate_id = campaign.affiliate("ben", application_data={"website": "secret.example"}, notes="likes tea")

    answer = campaign.get(f"{URL}/{affiliate_id}")

    assert answer.json["notes"] == "likes tea"
    assert b"secret.example" not in answer.data
    assert set(answer.json) == {
        "id", "programId", "email", "fullName", "status", "customCommissionType", "customCommissionValue", "tags",
        "notes", "source", "appliedAt", "approvedAt", "createdAt", "links",
    }  # fmt: skip


def test_a_test_key_makes_a_test_affiliate(campaign):
    tester = campaign.other_key(is_test=True)
    tester.programs.append(campaign.programs[-1])

    _create(tester)

    assert campaign.rows("select is_test from affiliate") == [(True,)]


def test_an_email_joins_a_program_once_whatever_its_case(campaign):
    _create(campaign)

    again = _create(campaign, email=" ADA@Example.COM ")

    assert (again.status_code, again.json["error"]) == (409, "affiliate_already_exists")
    assert campaign.rows("select count(*) from affiliate") == [(1,)]
    assert len(_events(campaign)) == 2


def test_an_alias_is_the_slug_of_the_default_link(campaign):
    shown = _create(campaign, customAlias="ada-tips").json

    assert [(link["slug"], link["customAlias"], link["isDefault"]) for link in shown["links"]] == [
        ("ada-tips", "ada-tips", True)
    ]
    assert campaign.sale(affiliateSlug="ADA-tips").status_code == 200


def test_an_alias_of_somebody_else_is_refused_and_nothing_is_written(campaign):
    campaign.affiliate("ben")
    campaign.program()

    answer = _create(campaign, customAlias="ben")

    assert (answer.status_code, answer.json["error"]) == (409, "alias_already_taken")
    assert campaign.rows("select count(*) from affiliate where email = 'ada@example.com'") == [(0,)]
    assert _events(campaign) == []


def test_an_alias_is_free_in_another_organization(campaign, rival):
    rival.program()
    rival.affiliate("ben")

    assert _create(campaign, customAlias="ben").status_code == 201


def test_a_person_has_one_default_slug_in_every_campaign(campaign):
    first = _create(campaign).json["links"][0]["slug"]
    campaign.program()

    second = _create(campaign).json

    assert [link["slug"] for link in second["links"]] == [first]


def test_an_alias_beside_a_known_slug_is_a_second_link(campaign):
    first = _create(campaign, customAlias="ada").json["links"][0]["slug"]
    campaign.program()

    second = _create(campaign, customAlias="ada-two").json

    assert [(link["slug"], link["customAlias"], link["isDefault"]) for link in second["links"]] == [
        (first, None, True),
        ("ada-two", "ada-two", False),
    ]
    assert campaign.get(f"{URL}/{second['id']}").json == second


def test_a_random_slug_that_is_taken_is_drawn_again(campaign, monkeypatch):
    campaign.affiliate("taken222")
    letters = iter("taken222free3333")
    monkeypatch.setattr(affiliate_rules.secrets, "choice", lambda _: next(letters))

    assert _create(campaign).json["links"][0]["slug"] == "free3333"


def test_twins_become_one_affiliate(campaign):
    answers = _at_once(lambda: _create(campaign), lambda: _create(campaign))

    assert sorted(answer.status_code for answer in answers) == [201, 409]
    assert campaign.rows("select count(*) from affiliate") == [(1,)]


def test_a_person_who_joins_two_campaigns_at_once_has_one_slug(campaign):
    first, second = campaign.programs[-1], campaign.program()

    answers = _at_once(*(lambda id=id: _create(campaign, programId=str(id)) for id in (first, second)))

    assert [answer.status_code for answer in answers] == [201, 201]
    assert len({answer.json["links"][0]["slug"] for answer in answers}) == 1


def test_two_people_who_want_one_alias_at_once_get_it_once(campaign):
    answers = _at_once(
        *(lambda email=email: _create(campaign, email=email, customAlias="best") for email in ("a@x.test", "b@x.test"))
    )

    assert sorted(answer.status_code for answer in answers) == [201, 409]


def test_a_program_of_another_tenant_is_not_found(campaign, rival):
    theirs = rival.program()

    foreign, nobodys = _create(campaign, programId=str(theirs)), _create(campaign, programId=str(uuid4()))

    assert (foreign.status_code, foreign.json["error"]) == (404, "not_found")
    assert (nobodys.status_code, nobodys.json["error"]) == (404, "not_found")
    assert rival.rows("select count(*) from affiliate") == [(0,)]


def test_a_rate_of_ones_own_is_shown_as_sent(campaign):
    shown = _create(campaign, customCommissionType="Percentage", customCommissionValue=0).json

    assert (shown["customCommissionType"], shown["customCommissionValue"]) == ("Percentage", 0)


@pytest.mark.parametrize(
    ("model", "type", "value", "code"),
    [
        ("Cps", "Percentage", 100.5, "percentage_out_of_range"),
        ("Cps", "Percentage", -1, "percentage_out_of_range"),
        ("Cps", "Fixed", 10**18, "fixed_commission_out_of_range"),
        ("Cpc", "Percentage", 5, "invalid_commission_type"),
        ("Cpl", "Fixed", 1000.5, "unit_fee_out_of_range"),
    ],
)
def test_a_rate_that_the_program_cannot_pay_is_refused(campaign, model, type, value, code):
    campaign.program(default_commission_model=model, default_commission_type="Fixed")

    answer = _create(campaign, customCommissionType=type, customCommissionValue=value)

    assert (answer.status_code, answer.json["error"]) == (400, code)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"email": ...}, "email"),
        ({"email": None}, "email"),
        ({"email": 5}, "email"),
        ({"email": "ada"}, "email"),
        ({"email": "ada@localhost"}, "email"),
        ({"email": "a" * 65 + "@example.com"}, "email"),
        ({"email": "ada@example.com\x00"}, "email"),
        ({"email": "ada@example.com,ben@example.com"}, "email"),
        ({"email": "x" * 400 + "@example.com"}, "email"),
        ({"email": ["ada@example.com"]}, "email"),
        ({"programId": ...}, "programId"),
        ({"programId": "campaign"}, "programId"),
        ({"programId": 7}, "programId"),
        ({"fullName": "x" * 201}, "fullName"),
        ({"fullName": "nul\x00"}, "fullName"),
        ({"fullName": {"first": "Ada"}}, "fullName"),
        ({"status": "approved"}, "status"),
        ({"status": 1}, "status"),
        ({"customAlias": "Ada"}, "customAlias"),
        ({"customAlias": "ab"}, "customAlias"),
        ({"customAlias": "x" * 65}, "customAlias"),
        ({"customAlias": "ada tips"}, "customAlias"),
        ({"customAlias": "admin"}, "customAlias"),
        ({"customAlias": 12345}, "customAlias"),
        ({"customCommissionType": "Percentage"}, "customCommissionValue"),
        ({"customCommissionValue": 5}, "customCommissionType"),
        ({"customCommissionType": "Half", "customCommissionValue": 5}, "customCommissionType"),
        ({"customCommissionType": "Fixed", "customCommissionValue": "5"}, "customCommissionValue"),
    ],
)
def test_a_malformed_field_is_named_in_problem_details(campaign, fields, named):
    answer = _create(campaign, **fields)

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [named]
    assert campaign.rows("select count(*) from affiliate") == [(0,)]


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{", b"\xff"])
def test_what_is_no_object_is_refused(campaign, raw):
    assert campaign.post(URL, raw).status_code == 400


def test_names_and_addresses_of_every_script_are_kept(campaign):
    shown = _create(campaign, fullName="李 🙂", email="jörg@münchen.example").json

    assert (shown["fullName"], shown["email"]) == ("李 🙂", "jörg@münchen.example")


def test_a_repeated_request_with_a_key_makes_one_affiliate(campaign):
    body = {"programId": str(campaign.programs[-1]), "email": "ada@example.com"}

    first = campaign.post(URL, body, Idempotency_Key="once")
    again = campaign.post(URL, body, Idempotency_Key="once")

    assert (again.status_code, again.json) == (201, first.json)
    assert len(_events(campaign)) == 2


def test_plans_and_scopes_are_asked_for(app, campaign):
    free, reader = Brand.create(app, plan="Free"), campaign.other_key(scope="read")
    free.program()
    reader.programs.append(campaign.programs[-1])

    assert _create(free).status_code == 402
    assert free.get(URL).status_code == 402
    assert _create(reader).status_code == 403
    assert reader.get(URL).status_code == 200


def test_the_list_walks_all_affiliates_newest_first(campaign, rival):
    made = [str(campaign.affiliate(slug)) for slug in ("ann", "ben", "cleo", "dan", "eve")]
    rival.program()
    rival.affiliate("ben")

    first = campaign.get(f"{URL}?take=2").json
    second = campaign.get(f"{URL}?take=2&cursor={first['nextCursor']}").json
    skipped = campaign.get(f"{URL}?take=2&skip=2").json
    both = campaign.get(f"{URL}?take=1&skip=1&cursor={second['nextCursor']}").json

    assert [item["id"] for item in first["items"] + second["items"]] == made[:0:-1]
    assert skipped["items"] == second["items"]
    assert [item["id"] for item in both["items"]] == made[:1]
    assert (both["hasMore"], both["nextCursor"]) == (False, None)


def test_the_list_is_narrowed_to_a_program(campaign, rival):
    here = str(campaign.affiliate("ann"))
    elsewhere = campaign.program()
    campaign.affiliate("ben", program_id=elsewhere)
    theirs = rival.program()
    rival.affiliate("cleo")

    listed = campaign.get(f"{URL}?programId={campaign.programs[0]}").json

    assert [item["id"] for item in listed["items"]] == [here]
    assert campaign.get(f"{URL}?programId={theirs}").json["items"] == []


def test_a_deleted_affiliate_is_gone(campaign):
    affiliate_id = campaign.affiliate("ann", deleted_at=datetime.now(UTC))

    assert campaign.get(f"{URL}/{affiliate_id}").status_code == 404
    assert campaign.get(URL).json["items"] == []


@pytest.mark.parametrize(
    "query", ["take=0", "take=x", "skip=-1", "skip=x", "skip=99999999999999999999", "programId=x", "cursor=x"]
)
def test_a_query_that_says_nothing_sensible_is_refused(campaign, query):
    answer = campaign.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_a_cursor_is_good_for_its_own_list_alone(campaign, rival):
    rival.program()
    for owner in (campaign, rival):
        owner.program()
        owner.affiliate("ann")
        owner.affiliate("ben")

    cursors_are_refused(campaign, URL, foreign=(rival, URL), other=(campaign, "/api/v1/programs"))


def test_a_list_costs_the_same_for_one_affiliate_and_for_many(campaign):
    campaign.affiliate("ann")
    one = trips_of(lambda: campaign.get(URL))
    for number in range(9):
        campaign.affiliate(f"number-{number}")

    assert trips_of(lambda: campaign.get(URL)) == one


@pytest.mark.parametrize("affiliate_id", ["nonsense", str(UUID(int=0)), str(UUID(int=5)).replace("-", "")])
def test_what_is_no_id_names_no_affiliate(campaign, affiliate_id):
    answer = campaign.get(f"{URL}/{affiliate_id}")

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


def _at_once(*calls):
    answers, start = [], threading.Barrier(len(calls))

    def run(call):
        from models import db

        start.wait()
        answers.append(call())
        db.db.drop_connection()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers
