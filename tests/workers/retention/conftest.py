"""A brand with an affiliate, small slices, and other retention settings."""

import pytest

import settings
from pipelines import retention


@pytest.fixture
def ben(brand):
    """The affiliate of the brand's one campaign."""
    brand.program()
    return brand.affiliate("ben")


@pytest.fixture
def small_slices(monkeypatch):
    """Set the slice size to ten rows."""
    monkeypatch.setattr(retention, "SLICE", 10)


@pytest.fixture
def set_retention(monkeypatch):
    """Return a function that sets the retention days per kind."""

    def keep(**days: int) -> None:
        monkeypatch.setenv("RETENTION_DAYS", " ".join(f"{kind}={number}" for kind, number in days.items()))
        settings.current.cache_clear()

    yield keep
    monkeypatch.undo()
    settings.current.cache_clear()


@pytest.fixture
def endpoint(brand):
    return brand.endpoint("https://localhost/hook")["id"]
