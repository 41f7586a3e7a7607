"""The audit log in pages. Source: core spec, "Audit log" and "Other resources" (audit log item)."""

import re
from datetime import timedelta

import pytest

from models import db
from tests.support import databases
from tests.support.api.audit_entries import START, URL, insert_entries, insert_entry
from tests.support.api.concurrency import run_concurrently


def _numbers(answer):
    return [int(item["entityId"]) for item in answer.json["items"]]


def test_owner_sees_every_field(owner):
    values = insert_entry(owner)

    answer = owner.get(URL)

    (item,) = answer.json["items"]
    assert {name: answer.json[name] for name in ("page", "pageSize", "total")} == {
        "page": 1,
        "pageSize": 50,
        "total": 1,
    }
    assert item == {
        "id": item["id"],
        "action": "program.created",
        "entityType": "program",
        "entityId": values["entity_id"],
        "actorType": "member",
        "actorUserId": str(values["actor_user_id"]),
        "actorLabel": "ann@example.com",
        "ip": "203.0.113.7",
        "userAgent": "Browser/1.0",
        "requestId": "r-1",
        "before": {"name": "old"},
        "after": {"name": "new"},
        "via": None,
        "client": None,
        "createdAt": "2026-03-01T00:00:00.000Z",
    }


def test_key_sees_no_personal_data_of_actors(pro):
    insert_entry(pro)

    (item,) = pro.get(URL).json["items"]

    assert (item["actorUserId"], item["ip"], item["userAgent"], item["actorLabel"]) == (None,) * 4
    assert (item["actorType"], item["before"]) == ("member", {"name": "old"})


@pytest.mark.parametrize(
    ("kind", "label", "expected"),
    [("api_key", "API key 17", "API key 17"), ("operator", "flask", "flask"), ("affiliate", "ben@x.test", None)],
)
def test_key_sees_only_impersonal_actor_labels(pro, kind, label, expected):
    insert_entry(pro, actor_type=kind, actor_label=label)

    assert pro.get(URL).json["items"][0]["actorLabel"] == expected


def test_action_of_a_route_is_logged(pro):
    created = pro.post("/api/v1/programs", {"name": "P", "defaultCommissionType": "Fixed", "defaultCommissionValue": 1})

    (item,) = pro.get(f"{URL}?action=program.created").json["items"]
    assert (item["entityId"], item["actorType"], item["after"]["name"]) == (created.json["id"], "api_key", "P")
    assert item["requestId"] == created.headers["X-Request-Id"]


def test_entries_are_paged_newest_first(owner):
    insert_entries(owner, 120)

    first, second, last = (owner.get(f"{URL}?page={page}") for page in (1, 2, 3))
    past_the_end = owner.get(f"{URL}?page=4")

    assert [len(page.json["items"]) for page in (first, second, last, past_the_end)] == [50, 50, 20, 0]
    assert _numbers(first) + _numbers(second) + _numbers(last) == list(range(120, 0, -1))
    assert {page.json["total"] for page in (first, second, last, past_the_end)} == {120}
    assert (last.json["page"], last.json["pageSize"]) == (3, 50)


def test_page_is_consistent_with_its_total_during_writes(owner):
    insert_entries(owner, 1)

    def insert_before_list_query(trip: bytes) -> None:
        if b"order by created_at" in trip and b"audit_entry" in trip:
            db.db.trip_hooks.remove(insert_before_list_query)
            run_concurrently(lambda: insert_entry(owner))

    db.db.trip_hooks.append(insert_before_list_query)

    page = owner.get(URL).json

    assert (page["total"], len(page["items"])) == (2, 2)


@pytest.mark.parametrize(("requested", "page_size"), [(1, 1), (100, 100), (101, 100), (10**18, 100)])
def test_page_size_is_limited_to_100(owner, requested, page_size):
    insert_entries(owner, 120)

    answer = owner.get(f"{URL}?pageSize={requested}")

    assert (len(answer.json["items"]), answer.json["pageSize"]) == (page_size, page_size)


@pytest.mark.parametrize(
    "query",
    [
        "page=0",
        "page=-1",
        "page=x",
        "page=1.5",
        "page=",
        f"page={10**18}",
        "pageSize=0",
        "pageSize=-1",
        "pageSize=x",
        "since=yesterday",
        "until=soon",
        "action=%00",
        f"action={'x' * 201}",
        "ip=%00",
        "actorUserId=17",
        "format=xml",
    ],
)
def test_malformed_query_returns_problem_details(owner, query):
    answer = owner.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [query.partition("=")[0]]


def test_entries_filter_by_action_and_entity_type(owner):
    insert_entry(owner, "program.created")
    insert_entry(owner, "program.updated")
    insert_entry(owner, "api_key.created")

    pages = {query: owner.get(f"{URL}?{query}").json for query in ("action=program.created", "entityType=program")}

    assert [item["action"] for item in pages["action=program.created"]["items"]] == ["program.created"]
    assert pages["entityType=program"]["total"] == 2
    assert owner.get(f"{URL}?action=program.created&entityType=api_key").json["total"] == 0


def test_entries_filter_by_time_with_exclusive_end(owner):
    for hour in range(4):
        insert_entry(owner, at=START + timedelta(hours=hour))

    answer = owner.get(f"{URL}?since=2026-03-01T01:00:00Z&until=2026-03-01T03:00:00Z")

    assert [item["createdAt"][11:13] for item in answer.json["items"]] == ["02", "01"]


def test_owner_filters_by_actor_and_ip(owner):
    first = insert_entry(owner, ip="203.0.113.1")
    insert_entry(owner, ip="203.0.113.2")

    for query in (f"actorUserId={first['actor_user_id']}", "ip=203.0.113.1"):
        (item,) = owner.get(f"{URL}?{query}").json["items"]
        assert item["entityId"] == first["entity_id"]


@pytest.mark.parametrize(
    "query", ["actorUserId=01900000-0000-7000-8000-000000000001", "actorUserId=17", "ip=192.0.2.1"]
)
def test_personal_filters_are_ignored_for_keys(pro, query):
    insert_entry(pro)

    assert pro.get(f"{URL}?{query}").json["total"] == 1


def test_tenant_sees_only_its_own_entries(owner, rival):
    insert_entry(rival)

    assert owner.get(URL).json["items"] == []


@pytest.mark.parametrize("role", ["Admin", "Manager", "Viewer"])
def test_role_below_owner_cannot_read_the_log(brand, role):
    answer = brand.person(role).get(URL)

    assert (answer.status_code, answer.json["error"]) == (403, "forbidden")


@pytest.mark.parametrize("plan", ["Free", "Starter", "Growth"])
def test_key_needs_the_pro_plan(brand, plan):
    brand.set(plan=plan)

    answer = brand.get(URL)

    assert answer.status_code == 402
    assert set(answer.json) == {"error", "message", "required", "current", "trialing", "doc_url"}
    assert (answer.json["error"], answer.json["required"]) == ("plan_tier_required", "Pro")
    assert brand.person("Owner", is_email_verified=False).get(URL).status_code == 200


def test_read_key_may_read_the_log(pro):
    assert pro.other_key(scope="read").get(URL).status_code == 200


def test_deep_page_uses_the_index(isolated_database, owner):
    insert_entries(owner, 20_000)
    databases.run_as_owner(isolated_database, "analyze audit_entry")  # as autovacuum would do
    trips = []

    db.db.trip_hooks.append(trips.append)
    answer = owner.get(f"{URL}?page=400&pageSize=50")
    db.db.trip_hooks.remove(trips.append)
    (query,) = [statement.decode() for statement in trips if b"offset" in statement]
    plan = "\n".join(line for (line,) in owner.rows("explain " + query.rpartition(";")[2]))

    assert _numbers(answer) == list(range(50, 0, -1))
    assert "Scan using audit_entry_default_organization_id_created_at_id_idx" in plan, plan
    assert plan.count("Sort  (") <= 1, plan


def test_rare_entries_are_counted_and_listed_by_index_only(isolated_database, owner):
    insert_entries(owner, 20_000)
    rare = [insert_entry(owner, "api_key.created", at=START + timedelta(days=day)) for day in range(3)]
    databases.run_as_owner(isolated_database, "analyze audit_entry")
    rows_read = []

    for query in ("entityType=api_key", f"actorUserId={rare[0]['actor_user_id']}"):
        trips = []
        db.db.trip_hooks.append(trips.append)
        answer = owner.get(f"{URL}?{query}")
        db.db.trip_hooks.remove(trips.append)
        queries = [part for trip in trips for part in trip.decode().split(";") if "from audit_entry" in part]
        plans = [
            "\n".join(line for (line,) in owner.rows("explain (analyze, timing off) " + query_sql))
            for query_sql in queries
        ]

        assert {item["action"] for item in answer.json["items"]} == {"api_key.created"}, query
        assert len(plans) == 2, query
        rows_read += [
            int(rows) for rows in re.findall(r"(?:actual rows=|Rows Removed by Filter: )(\d+)", "\n".join(plans))
        ]

    assert max(rows_read) == 3
