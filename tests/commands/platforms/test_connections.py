"""`flask platform`: what an operator sees of connections to platforms."""

import re

import pytest

from tests.support.platforms.platform_connections import connect_platform, play_platform

NOBODY = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
def platform():
    with play_platform() as playing:
        yield playing


@pytest.fixture
def made(brand, platform):
    return connect_platform(brand.person("Owner"), platform, slugField="partner")


def test_platforms_are_listed_and_no_secret(flask, brand, platform, made):
    (listed,) = flask.json("platform", "list", "--org", brand.id)
    code, said = flask("platform", "list", "--org", brand.id)
    assert (listed["id"], listed["status"], listed["slug_field"], listed["waiting"]) == (
        made["id"], "Active", "partner", 0
    )  # fmt: skip
    assert code == 0
    assert re.search(rf"^{made['id']} +Brand +kit +Active +\S+ \S+ +partner +0 *$", said, re.M)
    assert platform.credentials["apiKey"] not in said + str(listed)
    assert flask("platform", "list", "--org", brand.id, "--troubled") == (0, "There is no such connection.\n")
    assert flask("platform", "list", "--org", NOBODY) == (0, "There is no such connection.\n")


def test_one_that_credits_nothing_says_so(flask, brand, made):
    brand.person("Owner").call("PATCH", f"/api/v1/platforms/{made['id']}", {"creditSales": False})
    assert re.search(r"Active +off +partner", flask("platform", "list", "--org", brand.id)[1])


def test_a_check_says_what_the_platform_said_by_its_exit_status_too(flask, brand, platform, made):
    assert flask("platform", "check", made["id"]) == (0, "kit accepts the credentials. Status: Active.\n")
    platform.faults.append("refuse")
    code, said = flask("platform", "check", made["id"])
    assert (code, "kit refuses the credentials: Invalid credentials." in said) == (1, True)
    assert [one["id"] for one in flask.json("platform", "list", "--troubled", "--limit", "10000")].count(made["id"])
    platform.faults.append("refuse")
    assert flask.json("platform", "check", made["id"], code=1)["refusal"] == "Invalid credentials."
    platform.faults.append("fail")
    code, said = flask("platform", "check", made["id"])
    assert (code, "cannot be reached" in said) == (1, True)
    assert flask.json("platform", "check", made["id"])["status"] == "Active"
    assert brand.rows("select count(*) from mail_message where kind = 'platform.broken'") == [(1,)]


def test_a_connection_that_is_not_there_is_said(flask):
    code, said = flask("platform", "check", NOBODY)
    assert (code, f"There is no connection {NOBODY}." in said) == (1, True)


def test_the_catalogue_says_where_the_slug_is_read(flask):
    found = {row["platform"]: row for row in flask.json("platform", "catalogue")}
    assert found["Mailchimp (mailchimp)"]["custom fields"] == "AFF_SLUG, VIA"
    assert flask("platform", "catalogue")[0] == 0
