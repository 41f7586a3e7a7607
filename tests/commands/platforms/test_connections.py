"""`flask platform`: lists and checks of platform connections."""

import re

import pytest

from tests.support.job_queues import drain
from tests.support.platforms.platform_connections import connect_platform, play_platform

UNKNOWN_ID = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
def platform():
    with play_platform() as simulated:
        yield simulated


@pytest.fixture
def connection(brand, platform):
    return connect_platform(brand.person("Owner"), platform, slugField="partner")


def test_platforms_are_listed_without_secrets(flask, brand, platform, connection):
    (row,) = flask.json("platform", "list", "--org", brand.id)
    code, output = flask("platform", "list", "--org", brand.id)
    assert (row["id"], row["status"], row["slug_field"], row["waiting"]) == (
        connection["id"], "Active", "partner", 0
    )  # fmt: skip
    assert code == 0
    assert re.search(rf"^{connection['id']} +Brand +kit +Active +\S+ \S+ +partner +0 *$", output, re.M)
    assert platform.credentials["apiKey"] not in output + str(row)
    assert flask("platform", "list", "--org", brand.id, "--troubled") == (0, "There is no such connection.\n")
    assert flask("platform", "list", "--org", UNKNOWN_ID) == (0, "There is no such connection.\n")


def test_platform_without_sales_credit_is_listed_as_off(flask, brand, connection):
    brand.person("Owner").call("PATCH", f"/api/v1/platforms/{connection['id']}", {"creditSales": False})
    assert re.search(r"Active +off +partner", flask("platform", "list", "--org", brand.id)[1])


def test_check_reports_the_platforms_response_and_sets_the_exit_status(flask, brand, platform, connection):
    assert flask("platform", "check", connection["id"]) == (0, "kit accepts the credentials. Status: Active.\n")
    platform.faults.append("refuse")
    code, output = flask("platform", "check", connection["id"])
    assert (code, "kit refuses the credentials: Invalid credentials." in output) == (1, True)
    assert [item["id"] for item in flask.json("platform", "list", "--troubled", "--limit", "10000")].count(
        connection["id"]
    )
    platform.faults.append("refuse")
    assert flask.json("platform", "check", connection["id"], code=1)["refusal"] == "Invalid credentials."
    platform.faults.append("fail")
    code, output = flask("platform", "check", connection["id"])
    assert (code, "cannot be reached" in output) == (1, True)
    assert flask.json("platform", "check", connection["id"])["status"] == "Active"
    drain()
    assert brand.rows("select count(*) from notification where kind = 'connection_broken'") == [(1,)]


def test_unknown_connection_is_reported(flask):
    code, output = flask("platform", "check", UNKNOWN_ID)
    assert (code, f"There is no connection {UNKNOWN_ID}." in output) == (1, True)


def test_catalogue_lists_the_fields_of_each_platform(flask):
    catalogue = {row["platform"]: row for row in flask.json("platform", "catalogue")}
    assert catalogue["Mailchimp (mailchimp)"]["custom fields"] == "AFF_SLUG, VIA"
    assert flask("platform", "catalogue")[0] == 0
