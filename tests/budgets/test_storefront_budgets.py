"""What strangers' requests cost the database, as they could time it, and what the lists of recruits cost.

A round trip counts wherever in the request it is made; every path runs once before it is counted.
"""

import re
from uuid import uuid4

import pytest

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
    """Apply and return the round trips."""
    body = {"email": "ada@example.com"} | fields
    with record_round_trips() as round_trips:
        answer = brand.app.test_client().post(f"/api/p/id/{brand.programs[-1]}/apply", json=body)
    assert answer.status_code == 200, answer.data
    return round_trips


@pytest.mark.parametrize("campaigns", [1, 4])
@pytest.mark.parametrize("path", ["by-handle/{}", "by-handle/{}/tea", "by-handle/{}/old", "by-domain"])
def test_a_public_look_up_is_one_statement_however_many_campaigns_there_are(shop, campaigns, path):
    for _ in range(campaigns - 1):
        shop.program()
    with db.unit_of_work(shop.id):
        db.db.stage("insert into program_former_slug values (%s, 'old', %s, now())", (shop.id, shop.programs[0]))
    (handle,), (domain,) = (
        shop.rows("select subdomain from organization")[0],
        shop.rows("select custom_domain from program where slug = 'tea'")[0],
    )
    query = {"host": domain} if path == "by-domain" else {}

    for _ in range(2):  # what is asked for the first time is prepared
        with record_round_trips() as round_trips:
            answer = shop.app.test_client().get(f"/api/p/{path.format(handle)}", query_string=query)

    assert answer.status_code == 200
    assert "Budget: 1 statement" in lookup.any_org_find_landing.__doc__
    assert "Budget: 1 statement" in lookup.any_org_find_by_domain.__doc__
    assert [trip.count(SEPARATOR) for trip in round_trips] == [1], "the look-up with its opening"


@pytest.mark.parametrize("campaigns", [1, 4])
def test_a_landing_page_is_one_statement_and_two_on_a_host_of_its_brand(shop, campaigns):
    for _ in range(campaigns - 1):
        shop.program()
    (handle,), (domain,) = (
        shop.rows("select subdomain from organization")[0],
        shop.rows("select custom_domain from program where slug = 'tea'")[0],
    )
    client = shop.app.test_client()

    def statements(path, host="127.0.0.1:8000"):
        with record_round_trips() as round_trips:
            answer = client.get(path, headers={"Host": host})
        return answer.status_code, sum(trip.count(SEPARATOR) for trip in round_trips)

    (style,) = re.findall(r'rel="stylesheet" href="([^"]+)"', client.get(f"/p/{handle}/tea").text)
    assert statements(f"/p/{handle}/tea") == statements(f"/p/{handle}") == (200, 1)
    assert statements("/", domain) == statements("/tea", domain) == (200, 2)
    assert statements("/") == statements("/", "10.0.0.1") == statements("/", "localhost") == (200, 0)
    assert statements("/", f"www.{domain}") == (200, 1)
    assert statements(style) == statements("/robots.txt") == (200, 0)
    assert statements("/sitemap.xml", domain) == (200, 2)
    assert statements("/tea") == (404, 0)


@pytest.mark.parametrize("path", ["by-handle/%00", "by-handle/x/%00", "by-domain?host=%25"])
def test_what_cannot_be_a_name_is_not_asked_for(shop, path):
    with record_round_trips() as round_trips:
        assert shop.app.test_client().get(f"/api/p/{path}").status_code == 404

    assert round_trips == []


@pytest.mark.parametrize("plan", ["Growth", "Pro"])
@pytest.mark.parametrize("fields", [{}, {"customAlias": "ada"}, {"recruitedBy": "rita"}], ids=str)
@pytest.mark.parametrize("auto_approve", [False, True])
def test_a_fresh_and_a_repeated_application_take_as_many_round_trips(shop, fields, plan, auto_approve):
    shop.set(plan=plan)
    shop.program(sub_affiliate_enabled=True, auto_approve=auto_approve)
    shop.affiliate("rita")
    _apply(shop, email="warm@example.com")

    fresh = _apply(shop, **fields)
    repeated = _apply(shop, **fields)

    assert "4 round trips (campaign; organization; applicant and slugs; writes and commit)" in " ".join(
        (applications.apply.__doc__ or "").split()
    )
    # Before it: whose campaign it is, two questions about the account, and the commit of these.
    more = (plan == "Growth") + len(fields)
    assert len(fresh) == 4 + 4 + more, fresh
    assert len(repeated) == len(fresh), repeated
    assert [trip.count(b"select") > 0 for trip in fresh[:-1]] == [trip.count(b"select") > 0 for trip in repeated[:-1]]


def test_a_form_of_two_steps_costs_nothing_more_whoever_applies(shop):
    shop.program(application_form=build_two_step_form())
    said = {"answers": {"team": "Tea"}}
    _apply(shop, email="warm@example.com", **said)

    fresh, unfinished = _apply(shop, **said), _apply(shop, **said)
    shop.rows("update affiliate set application_completed_at = now(), status = 'Banned' returning id")
    finished = _apply(shop, **said)
    shop.program()
    without = _apply(shop, email="eve@example.com")

    assert len(fresh) == len(unfinished) == len(finished) == len(without)
    assert [round_trips[-1].count(b"application.letter") for round_trips in (fresh, unfinished, finished)] == [1, 1, 1]


def test_an_affiliate_whom_the_brand_added_is_no_faster_to_answer(shop):
    _apply(shop, email="warm@example.com")
    shop.affiliate("ada")

    assert len(_apply(shop)) == len(_apply(shop, email="eve@example.com"))


def test_a_person_of_another_campaign_takes_no_longer(shop):
    _apply(shop, email="warm@example.com")
    known = _apply(shop)
    shop.program()

    assert len(_apply(shop)) == len(_apply(shop, email="eve@example.com")) == len(known)


def test_both_ends_write_so_both_commits_wait_for_the_disk(shop):
    _apply(shop, email="warm@example.com")

    fresh, repeated = _apply(shop), _apply(shop)

    assert b"insert into audit_entry" in fresh[-1]
    assert b"insert into audit_entry" in repeated[-1]


@pytest.mark.parametrize("number", [1, 6])
def test_lists_of_recruits_cost_the_same_for_any_number_of_them(brand, number):
    email = f"ann-{uuid4().hex}@example.com"
    brand.program(sub_affiliate_enabled=True)
    ann_id = brand.affiliate("ann", email=email)
    for position in range(number):
        recruit = brand.affiliate(f"ben-{position}", recruited_by_affiliate_id=ann_id)
        insert_conversion(brand, recruit)
        insert_conversion(brand, recruit, currency="EUR")
    ann = Partner(brand.app, email)
    ann.get(RECRUITS)

    with record_round_trips() as mine:
        assert len(ann.get(RECRUITS).json["items"]) == number
    with record_round_trips() as brands:
        assert len(brand.get(f"/api/v1/affiliates/{ann_id}/sub-affiliates").json) == number

    asked = [trip for trip in mine if b"recruited_by_affiliate_id" in trip or b"unnest" in trip]
    assert len(asked) == 2
    # The affiliate, their recruits and the sums; before it who holds the key.
    assert len(brands) == 2 + 3, brands
