"""`flask db migrate` bypasses a transaction pool, and applies nothing if an applied file was changed."""

import os

import pytest

import settings
from tests.support import databases


@pytest.fixture
def pool_environment(monkeypatch):
    """Configure a transaction pool in front of the database; return the monkeypatch of the environment."""
    monkeypatch.setenv("DATABASE_POOL", "transaction")
    settings.current.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    settings.current.cache_clear()


def test_migrate_behind_a_pool_requires_the_owner_url(flask, pool_environment):
    assert flask("db", "migrate") == (0, "The schema is up to date.\n")

    pool_environment.delenv("DATABASE_OWNER_URL")
    settings.current.cache_clear()

    code, output = flask("db", "migrate")
    assert code == 1
    assert "DATABASE_OWNER_URL is not set" in output


def test_changed_migration_is_reported_and_nothing_is_applied(flask):
    owner_url = os.environ["DATABASE_OWNER_URL"]
    databases.run_as_owner(owner_url, "update migration set sha256 = 'another' where name = '0002_access'")
    try:
        migrations = flask.json("db", "status")
        status = flask("db", "status")[1]
        code, output = flask("db", "migrate")
    finally:
        databases.run_as_owner(owner_url, "update migration set sha256 = null where name = '0002_access'")

    assert [migration["name"] for migration in migrations if migration["changed"]] == ["0002_access"]
    assert status.count("CHANGED SINCE") == 1
    assert status.endswith("0 missing, 1 changed since they were applied. Next: flask db migrate\n")
    assert code == 1
    assert "Changed after it was applied: 0002_access" in output
    assert flask("db", "migrate") == (0, "The schema is up to date.\n")
    assert flask("db", "status")[1].endswith(f"All {len(migrations)} are applied.\n")
