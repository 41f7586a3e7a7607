"""Round trips of visitors' requests, so that timing reveals no affiliate, and of the lists of recruits.

A round trip counts wherever in the request it is made; every path runs once before it is counted.
"""

import re
from uuid import uuid4

import pytest

from api.storefront.network_presence import presence
from models import db
from pipelines.storefront import applications, lookup
from tests.budgets.counting import SEPARATOR
from tests.support.api.applications import build_two_step_form
from tests.support.rows.brands import Partner
from tests.support.rows.program_rows import insert_conversion
from tests.support.running.trips import record_round_trips

RECRUITS = "/api/v1/me/sub-affiliate/recruits"


@pytest.fixture
def shop(brand):
    brand.program(slug="tea", custom_domain=f"{uuid4().hex}.test", custom_domain_verified=True)
    brand.endpoint("https://localhost/hook")
    return brand


def _apply(brand, **fields):
    """Send an application and return its round trips."""
    body = {"email": "ada@example.com"} | fields
    with record_round_trips() as round_trips:
        answer = brand.app.test_client().post(f"/api/p/id/{brand.programs[-1]}/apply", json=body)
    assert answer.status_code == 200, answer.data
    return round_trips


@pytest.mark.parametrize("campaigns", [1, 4])
@pytest.mark.parametrize("path", ["by-handle/{}", "by-handle/{}/tea", "by-handle/{}/old", "by-domain"])
def test_public_lookup_is_one_statement_for_any_number_of_campaigns(shop, campaigns, path):
    for _ in range(campaigns - 1):
        shop.program()
    with db.unit_of_work(shop.id):
        db.db.stage("insert into program_former_slug values (%s, 'old', %s, now())", (shop.id, shop.programs[0]))
    (handle,), (domain,) = (
        shop.rows("select subdomain from organization")[0],
        shop.rows("select custom_domain from program where slug = 'tea'")[0],
    )
    query = {"host": domain} if path == "by-domain" else {}

    for _ in range(2):  # the first request prepares the statement
        with record_round_trips() as round_trips:
            answer = shop.app.test_client().get(f"/api/p/{path.format(handle)}", query_string=query)

    assert answer.status_code == 200
    assert "Budget: 1 statement" in lookup.any_org_find_landing.__doc__
    assert "Budget: 1 statement" in lookup.any_org_find_by_domain.__doc__
    assert [trip.count(SEPARATOR) for trip in round_trips] == [1], "the look-up with its opening"


@pytest.mark.parametrize("campaigns", [1, 4])
def test_landing_page_costs_one_statement_and_two_on_a_host_of_its_brand(shop, campaigns):
    for _ in range(campaigns - 1):
        shop.program()
    (handle,), (domain,) = (
        shop.rows("select subdomain from organization")[0],
        shop.rows("select custom_domain from program where slug = 'tea'")[0],
    )
    client = shop.app.test_client()

    def count_statements(path, host="127.0.0.1:8000"):
        with record_round_trips() as round_trips:
            answer = client.get(path, headers={"Host": host})
        return answer.status_code, sum(trip.count(SEPARATOR) for trip in round_trips)

    (style,) = re.findall(r'rel="stylesheet" href="([^"]+)"', client.get(f"/p/{handle}/tea").text)
    assert count_statements(f"/p/{handle}/tea") == count_statements(f"/p/{handle}") == (200, 1)
    assert count_statements("/", domain) == count_statements("/tea", domain) == (200, 2)
    presence.forget()
    assert count_statements("/") == (200, 1)  # Whether there is a network, for the next minute.
    assert count_statements("/") == count_statements("/", "10.0.0.1") == count_statements("/", "localhost") == (200, 0)
    assert count_statements("/", f"www.{domain}") == (200, 1)
    assert count_statements(style) == count_statements("/robots.txt") == (200, 0)
    assert count_statements("/sitemap.xml", domain) == (200, 2)
    assert count_statements("/tea") == (404, 0)


@pytest.mark.parametrize("path", ["by-handle/%00", "by-handle/x/%00", "by-domain?host=%25"])
def test_impossible_name_is_not_queried(shop, path):
    with record_round_trips() as round_trips:
        assert shop.app.test_client().get(f"/api/p/{path}").status_code == 404

    assert round_trips == []


@pytest.mark.parametrize("plan", ["Growth", "Pro"])
@pytest.mark.parametrize("fields", [{}, {"customAlias": "ada"}, {"recruitedBy": "rita"}], ids=str)
@pytest.mark.parametrize("auto_approve", [False, True])
def test_new_and_repeated_applications_cost_equal_round_trips(shop, fields, plan, auto_approve):
    shop.set(plan=plan)
    shop.program(sub_affiliate_enabled=True, auto_approve=auto_approve)
    shop.affiliate("rita")
    _apply(shop, email="warm@example.com")

    fresh = _apply(shop, **fields)
    repeated = _apply(shop, **fields)

    assert "4 round trips (campaign; organization; applicant and slugs; writes and commit)" in " ".join(
        (applications.apply.__doc__ or "").split()
    )
    # Before it: the campaign, two reads of the account, and their commit.
    additional = (plan == "Growth") + len(fields)
    assert len(fresh) == 4 + 4 + additional, fresh
    assert len(repeated) == len(fresh), repeated
    assert [trip.count(b"select") > 0 for trip in fresh[:-1]] == [trip.count(b"select") > 0 for trip in repeated[:-1]]


def test_two_step_application_costs_no_more_for_any_applicant(shop):
    shop.program(application_form=build_two_step_form())
    first_answers = {"answers": {"team": "Tea"}}
    _apply(shop, email="warm@example.com", **first_answers)

    fresh, unfinished = _apply(shop, **first_answers), _apply(shop, **first_answers)
    shop.rows("update affiliate set application_completed_at = now(), status = 'Banned' returning id")
    finished = _apply(shop, **first_answers)
    shop.program()
    without = _apply(shop, email="eve@example.com")

    assert len(fresh) == len(unfinished) == len(finished) == len(without)
    assert [round_trips[-1].count(b"application.letter") for round_trips in (fresh, unfinished, finished)] == [1, 1, 1]


def test_affiliate_added_by_the_brand_costs_the_same_as_a_new_applicant(shop):
    _apply(shop, email="warm@example.com")
    shop.affiliate("ada")

    assert len(_apply(shop)) == len(_apply(shop, email="eve@example.com"))


def test_affiliate_of_another_campaign_costs_the_same_as_a_new_applicant(shop):
    _apply(shop, email="warm@example.com")
    first = _apply(shop)
    shop.program()

    assert len(_apply(shop)) == len(_apply(shop, email="eve@example.com")) == len(first)


def test_new_and_repeated_applications_both_write_before_their_commit(shop):
    _apply(shop, email="warm@example.com")

    fresh, repeated = _apply(shop), _apply(shop)

    assert b"insert into audit_entry" in fresh[-1]
    assert b"insert into audit_entry" in repeated[-1]


@pytest.mark.parametrize("number", [1, 6])
def test_list_of_recruits_costs_the_same_for_any_number_of_recruits(brand, number):
    email = f"ann-{uuid4().hex}@example.com"
    brand.program(sub_affiliate_enabled=True)
    ann_id = brand.affiliate("ann", email=email)
    for position in range(number):
        recruit = brand.affiliate(f"ben-{position}", recruited_by_affiliate_id=ann_id)
        insert_conversion(brand, recruit)
        insert_conversion(brand, recruit, currency="EUR")
    ann = Partner(brand.app, email)
    ann.get(RECRUITS)

    with record_round_trips() as own_trips:
        assert len(ann.get(RECRUITS).json["items"]) == number
    with record_round_trips() as brand_trips:
        assert len(brand.get(f"/api/v1/affiliates/{ann_id}/sub-affiliates").json) == number

    recruit_trips = [trip for trip in own_trips if b"recruited_by_affiliate_id" in trip or b"unnest" in trip]
    assert len(recruit_trips) == 2
    # The affiliate, their recruits and the sums; before them the lookup of the API key.
    assert len(brand_trips) == 2 + 3, brand_trips
