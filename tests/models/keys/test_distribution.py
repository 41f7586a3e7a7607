"""Every table has its place on a PostgreSQL of several machines; what is not ready is said. Source: docs/scale.md."""

import os

import pytest

from models import db
from models.schema import distribution, owners
from tests.models.keys import prepared_plans
from tests.support import databases

# Operators and people look these up by their id alone, or a conflict names a key without the organization. Lines are to
# be listed by their payout first.
_WITHOUT_ORGANIZATION = {"deal", "deal_milestone", "gateway_event", "payout", "payout_line", "payout_run", "web_pixel"}
# Who comes with a secret is nobody's yet: that it leads to one organization alone is held by an index of the secret.
_FOUND_BY_SECRET = {"api_key", "gateway_connection"}
# Prepared statements join these by their id alone; a program's own host is unique in the whole service, too.
_JOINED_BY_ID = {"affiliate", "partner_group", "program"}
# The sandbox is one rail and one processor for all brands: a key that one of them used is taken.
_OF_ONE_RAIL = {"sandbox_charge", "sandbox_transfer"}
# A table goes from these lists, none comes onto them.
_WITH_TRIGGERS = {"click", "conversion", "day_change", "payout_line"}
_REFERRING_ELSEWHERE = {"organization", "rail_event", "restored_transfer"}
# Asked before it is known whose a thing is, or by a person who has it at several brands.
_OF_ANY_ORGANIZATION = {
    "affiliates.own_links._ANY_ORG_LINKS",
    "clicks.doors._FIND",
    "clicks.public_links._FIND",
    "clicks.public_links._FIND_BARE",
    "clicks.public_links._FIND_BY_ID",
    "clicks.public_links._FIND_BY_PIXEL",
    "clicks.public_links._FIND_BY_TAG",
    "gateways.connections._BY_TOKEN",
    "payouts.receipts._FIND",
    "payouts.receipts._OF_PERSON",
    "programs.own_numbers._BY_DAY",
    "programs.own_numbers._BY_CHANNEL",
}
# Join affiliates, programs, groups or endpoints by their id alone, which decision 49 explains.
_BY_ID_ALONE = {
    "affiliates.tracking_links._OF_AFFILIATES",
    "clicks.batches._PAID_FOR_CLICKS",
    "conversions.partners._FIND",
    "conversions.sales._LOOK_UP",
    "conversions.sales._ACCEPT",
    "conversions.sales._FACTS",
    "gateways.credit_candidates._CANDIDATES",
    "leads.rows._BY_ID",
    "leads.rows._BY_SLUG",
    "programs.budgets._TERMS",
}


@pytest.fixture(scope="module")
def plans(app):
    return distribution.of_database(os.environ["DATABASE_OWNER_URL"])


def test_every_table_has_its_place(plans):
    unplaced = [plan.table for plan in plans if any("nobody said" in refusal for refusal in plan.refusals)]

    assert unplaced == []
    assert {plan.placement for plan in plans} == {"distributed", "reference", "local"}
    assert all(plan.reason for plan in plans)


def test_what_is_not_ready_is_known(plans):
    found = {
        word: {plan.table for plan in plans if any(refusal.startswith(word) for refusal in plan.refusals)}
        for word in ("unique index", "trigger", "foreign key")
    }

    assert found == {
        "unique index": _WITHOUT_ORGANIZATION | _FOUND_BY_SECRET | _JOINED_BY_ID | _OF_ONE_RAIL,
        "trigger": _WITH_TRIGGERS,
        "foreign key": _REFERRING_ELSEWHERE,
    }
    assert {plan.table for plan in plans if plan.refusals} == set().union(*found.values())


def test_what_is_referred_to_is_placed_first(plans):
    done = set()
    for plan in plans:
        done.add(plan.table)
        late = plan.refers_to - done
        # Brands have pictures, and pictures have a brand: a circle that is refused.
        assert late == ({"stored_file"} if plan.table == "organization" else set()), plan.table


def test_a_hot_statement_asks_for_one_organizations_rows(isolated_database, plans):
    distributed = {plan.table for plan in plans if plan.placement == "distributed"}
    with db.any_org_work():
        looks = {name: prepared_plans.looks(statement) for name, statement in prepared_plans.every().items()}
    crossing = {
        name
        for name, seen in looks.items()
        if any(look.table in distributed and not look.names("organization_id") for look in seen)
    }

    assert crossing == _OF_ANY_ORGANIZATION | _BY_ID_ALONE


def test_what_is_not_ready_is_refused_with_its_reason(empty_database):
    databases.run_as_owner(
        empty_database,
        "create table organization (id uuid primary key);"
        "create table member (id uuid primary key, organization_id uuid not null references organization);"
        "create table thing (organization_id uuid, id uuid, primary key (organization_id, id));"
        "create table part (organization_id uuid not null, id uuid not null, thing_id uuid not null unique,"
        "  primary key (organization_id, id),"
        "  foreign key (organization_id, thing_id) references thing (organization_id, id));"
        "create table other (id int primary key); create table job (id int primary key);"
        "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'kept'; end $$;"
        "create trigger kept before truncate on thing for each statement execute function refuse();"
        "create trigger counted after insert on part for each statement execute function refuse();",
    )

    with owners.connect(empty_database) as connection, connection.cursor() as cursor:
        found = {plan.table: plan for plan in distribution.plan(cursor)}

    assert found["member"].refusals == ["unique index member_pkey has no organization_id"]
    assert found["part"].refusals == [
        "unique index part_thing_id_key has no organization_id",
        "trigger counted goes once per statement",
    ]
    assert found["other"].refusals == [
        "it has no organization_id, and nobody said where it is to lie",
        "unique index other_pkey has no organization_id",
    ]
    assert (found["thing"].refusals, found["job"].statement) == ([], None)
    assert found["organization"].statement == "select create_reference_table('organization')"
    assert list(found).index("thing") < list(found).index("part")


def test_the_command_shows_every_statement_and_runs_none_that_is_not_ready(flask):
    code, said = flask("db", "distribute")

    assert code == 1
    assert "create_distributed_table('conversion', 'organization_id'" in said
    assert "Nothing was done" in said
    assert flask("db", "distribute", "--print")[0] == 0
    assert {one["table"] for one in flask.json("db", "distribute", "--print")} >= {"click", "job", "organization"}
