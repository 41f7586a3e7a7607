"""`flask db migrate` goes past a pool of transactions, and applies nothing beside a file that was changed."""

import os

import pytest

import settings
from tests.support import databases


@pytest.fixture
def pooled(monkeypatch):
    monkeypatch.setenv("DATABASE_POOL", "transaction")
    settings.current.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    settings.current.cache_clear()


def test_migrating_wants_an_address_that_leads_past_the_pool(flask, pooled):
    assert flask("db", "migrate") == (0, "The schema is up to date.\n")

    pooled.delenv("DATABASE_OWNER_URL")
    settings.current.cache_clear()

    code, said = flask("db", "migrate")
    assert code == 1
    assert "DATABASE_OWNER_URL is not set" in said


def test_a_migration_that_was_changed_is_named_and_nothing_is_applied(flask):
    owner_url = os.environ["DATABASE_OWNER_URL"]
    databases.run_as_owner(owner_url, "update migration set sha256 = 'another' where name = '0002_access'")
    try:
        listed = flask.json("db", "status")
        shown = flask("db", "status")[1]
        code, said = flask("db", "migrate")
    finally:
        databases.run_as_owner(owner_url, "update migration set sha256 = null where name = '0002_access'")

    assert [one["name"] for one in listed if one["changed"]] == ["0002_access"]
    assert shown.count("CHANGED SINCE") == 1
    assert shown.endswith("0 missing, 1 changed since they were applied. Next: flask db migrate\n")
    assert code == 1
    assert "Changed after it was applied: 0002_access" in said
    assert flask("db", "migrate") == (0, "The schema is up to date.\n")
    assert flask("db", "status")[1].endswith(f"All {len(listed)} are applied.\n")
