"""A brand with an affiliate, slices that are small, and other days of keeping."""

import pytest

import settings
from pipelines import retention


@pytest.fixture
def ben(brand):
    """The affiliate of the brand's one campaign."""
    brand.program()
    return brand.affiliate("ben")


@pytest.fixture
def in_tens(monkeypatch):
    """Slices of ten rows."""
    monkeypatch.setattr(retention, "SLICE", 10)


@pytest.fixture
def kept(monkeypatch):
    """Return what sets days of keeping."""

    def keep(**days: int) -> None:
        monkeypatch.setenv("RETENTION_DAYS", " ".join(f"{kind}={number}" for kind, number in days.items()))
        settings.current.cache_clear()

    yield keep
    monkeypatch.undo()
    settings.current.cache_clear()


@pytest.fixture
def endpoint(brand):
    return brand.endpoint("https://localhost/hook")["id"]
