"""Bulk rejections, tags and groups, with the reason for each skipped affiliate, through HTTP."""

from uuid import uuid4

import pytest

from tests.support.api.lists import count_round_trips
from tests.support.job_queues import drain

URL = "/api/affiliates/bulk"
V1 = "/api/v1/affiliates/bulk-action"
_STATUSES = {"ann": "Pending", "ben": "Approved", "cleo": "Rejected", "dan": "Paused", "eve": "Banned"}


@pytest.fixture
def campaign(brand):
    """Return the brand with one campaign."""
    brand.program()
    return brand


@pytest.fixture
def ids(campaign):
    """Return the ids of an affiliate in every status, by slug."""
    return {slug: str(campaign.affiliate(slug, status=status, approved_at=None)) for slug, status in _STATUSES.items()}


@pytest.fixture
def change(campaign):
    """Return a function that runs an action as a Manager of the brand and returns the answer."""
    manager = campaign.person("Manager")

    def post(action, affiliate_ids, **values):
        return manager.post(URL, {"action": action, "affiliateIds": list(affiliate_ids), **values})

    return post


def _create_group(brand, name="Gold"):
    body = {"name": name, "commissionType": "Percentage", "commissionValue": 30}
    answer = brand.post(f"/api/v1/programs/{brand.programs[-1]}/partner-groups", body)
    assert answer.status_code == 201, answer.data
    return answer.json["id"]


def _tags(brand):
    return dict(brand.rows("select split_part(email, '@', 1), tags from affiliate"))


def _reasons(answer, ids):
    assert answer.status_code == 200, answer.data
    assert answer.json["skipped"] == len(answer.json["skippedAffiliates"])
    slugs = {affiliate_id: slug for slug, affiliate_id in ids.items()}
    return {slugs.get(row["id"], "?"): row["reason"] for row in answer.json["skippedAffiliates"]}


def test_only_pending_applicants_are_rejected_and_emailed_once(campaign, ids, change):
    answer = change("reject", [*ids.values(), str(uuid4())], reason="No website")
    again = change("reject", ids.values())

    assert answer.json["affiliateIds"] == [ids["ann"]]
    assert _reasons(answer, ids) == dict.fromkeys(("ben", "cleo", "dan", "eve"), "status") | {"?": "not_found"}
    assert again.json["affected"] == 0
    assert campaign.get(f"/api/v1/affiliates/{ids['ann']}").json["rejectionReason"] == "No website"
    emails = campaign.rows("select recipient from mail_message where kind = 'affiliate.rejected'")
    assert emails == [("ann@example.com",)]


def test_tag_is_added_and_removed_once(campaign, ids, change):
    first = change("tag", [ids["ann"], ids["ben"]], tag="  vip ")
    second = change("tag", [ids["ann"], ids["dan"]], tag="vip")
    removed = change("untag", [ids["ann"], ids["eve"]], tag="vip")

    assert (first.json["affected"], _reasons(first, ids)) == (2, {})
    assert (second.json["affected"], _reasons(second, ids)) == (1, {"ann": "unchanged"})
    assert (removed.json["affected"], _reasons(removed, ids)) == (1, {"eve": "unchanged"})
    assert _tags(campaign) == {"ann": [], "ben": ["vip"], "cleo": [], "dan": ["vip"], "eve": []}


def test_affiliate_with_the_maximum_of_tags_is_skipped(campaign, ids, change):
    tags = [f"tag-{number}" for number in range(50)]
    campaign.rows("update affiliate set tags = %s where id = %s returning 1", tags, ids["ann"])

    answer = change("tag", [ids["ann"]], tag="one more")

    assert _reasons(answer, ids) == {"ann": "too_many_tags"}


def test_affiliates_join_and_leave_a_group_of_their_program(campaign, ids, change):
    group_id = _create_group(campaign)
    campaign.program()
    other = {"fay": str(campaign.affiliate("fay"))}

    joined = change("group", [ids["ann"], other["fay"]], partnerGroupId=group_id)
    again = change("group", [ids["ann"]], partnerGroupId=group_id)
    groups = dict(campaign.rows("select split_part(email, '@', 1), partner_group_id::text from affiliate"))
    left = change("group", [ids["ann"], ids["ben"]])

    assert (joined.json["affiliateIds"], _reasons(joined, other)) == ([ids["ann"]], {"fay": "other_program"})
    assert _reasons(again, ids) == {"ann": "unchanged"}
    assert (groups["ann"], groups["fay"]) == (group_id, None)
    assert (left.json["affected"], _reasons(left, ids)) == (1, {"ben": "unchanged"})


def test_every_change_is_audited(campaign, ids, change):
    group_id = _create_group(campaign)
    for action, values in (
        ("tag", {"tag": "vip"}),
        ("group", {"partnerGroupId": group_id}),
        ("untag", {"tag": "vip"}),
        ("reject", {"reason": "No website"}),
    ):
        assert change(action, [ids["ann"]], **values).json["affected"] == 1, action

    assert campaign.rows(
        "select action, before, after from audit_entry where action like 'affiliate.bulk%%' order by id"
    ) == [
        ("affiliate.bulk_tagged", {"tags": []}, {"tags": ["vip"]}),
        ("affiliate.bulk_grouped", {"partnerGroupId": None}, {"partnerGroupId": group_id}),
        ("affiliate.bulk_untagged", {"tags": ["vip"]}, {"tags": []}),
        ("affiliate.bulk_rejected", {"status": "Pending"}, {"status": "Rejected", "rejectionReason": "No website"}),
    ]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"action": "tag"}, "tag"),
        ({"action": "tag", "tag": " "}, "tag"),
        ({"action": "untag"}, "tag"),
        ({"action": "tag", "tag": "x" * 51}, "tag"),
        ({"action": "tag", "tag": "a\nb"}, "tag"),
        ({"action": "delete"}, "action"),
        ({"action": "reject", "reason": "x" * 1001}, "reason"),
        ({"action": "group", "partnerGroupId": "x"}, "partnerGroupId"),
    ],
)
def test_invalid_values_return_400(campaign, ids, values, field):
    answer = campaign.person("Manager").post(URL, {"affiliateIds": [ids["ann"]], **values})

    assert (answer.status_code, list(answer.json["errors"])) == (400, [field])


def test_other_tenants_affiliates_and_groups_are_not_found(campaign, rival, ids, change):
    rival.program()
    theirs, their_group = str(rival.affiliate("rob", status="Pending", approved_at=None)), _create_group(rival)

    assert _reasons(change("reject", [theirs]), {"rob": theirs}) == {"rob": "not_found"}
    assert _reasons(change("tag", [theirs], tag="vip"), {"rob": theirs}) == {"rob": "not_found"}
    answer = change("group", [ids["ann"]], partnerGroupId=their_group)
    assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert rival.rows("select status, tags from affiliate") == [("Pending", [])]


def test_viewer_may_not_change_affiliates(campaign, ids):
    answer = campaign.person("Viewer").post(URL, {"action": "pause", "affiliateIds": [ids["ben"]]})

    assert answer.status_code == 403
    assert campaign.post(URL, {"action": "pause", "affiliateIds": [ids["ben"]]}).status_code == 403


def test_at_most_500_affiliates_are_accepted(campaign):
    ids = [str(uuid4()) for _ in range(501)]

    assert campaign.person("Manager").post(URL, {"action": "pause", "affiliateIds": ids}).status_code == 400
    assert campaign.person("Manager").post(URL, {"action": "pause", "affiliateIds": ids[:500]}).status_code == 200


def test_repeated_request_acts_once(campaign, ids):
    manager = campaign.person("Manager")
    body = {"action": "tag", "affiliateIds": [ids["ann"]], "tag": "vip"}
    answers = [manager.post(URL, body, **{"Idempotency-Key": "twice"}) for _ in range(2)]

    assert answers[0].json == answers[1].json
    assert campaign.rows("select count(*) from audit_entry where action = 'affiliate.bulk_tagged'") == [(1,)]


def test_round_trips_do_not_grow_with_affiliates(campaign, change):
    few = [str(campaign.affiliate(f"few-{number}")) for number in range(2)]
    many = [str(campaign.affiliate(f"many-{number}")) for number in range(20)]
    assert change("tag", few, tag="warm").status_code == 200

    assert count_round_trips(lambda: change("tag", few, tag="a")) == count_round_trips(
        lambda: change("tag", many, tag="a")
    )
    drain()


@pytest.mark.parametrize(("action", "values"), [("reject", {}), ("tag", {"tag": "vip"}), ("untag", {"tag": "vip"})])
def test_keys_have_the_same_actions(campaign, ids, action, values):
    campaign.rows(
        "update affiliate set tags = '{vip}' where email like 'ann%%' returning 1"
    ) if action == "untag" else None

    answer = campaign.post(V1, {"action": action, "affiliateIds": [ids["ann"]], **values})

    assert answer.json == {"action": action, "affected": 1, "skipped": 0, "affiliateIds": [ids["ann"]]}
