"""Resolving a public address to a campaign, through HTTP."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

import settings
from models import db, ids
from models.organization import organizations
from tests.support.rows.link_visits import create_limiter

BASE = "/api/p/by-handle"
_SINCE = datetime(2026, 3, 1, tzinfo=UTC)
CLOSED = [{"is_active": False}, {"archived_at": _SINCE}, {"suspended_at": _SINCE}]


@pytest.fixture
def shop(brand):
    """The brand at a handle of its own."""
    _set(brand, subdomain=f"shop-{uuid4().hex[:12]}")
    return brand


def _set(brand, **columns):
    with db.unit_of_work(brand.id):
        organizations.update(brand.id, columns)


def _get_handle(brand):
    return brand.rows("select subdomain from organization")[0][0]


def _get_campaign(brand, campaign="", *, handle=None):
    path = f"{BASE}/{handle or _get_handle(brand)}" + (f"/{campaign}" if campaign else "")
    return brand.app.test_client().get(path)


def _get_by_host(brand, host):
    return brand.app.test_client().get("/api/p/by-domain", query_string={"host": host})


def _is_not_found(answer):
    return (answer.status_code, answer.json["error"]) == (404, "not_found")


def test_campaign_is_returned_with_every_public_field(shop):
    file_id = ids.new_id()
    with db.unit_of_work(shop.id):
        db.db.stage(
            "insert into stored_file (id, organization_id, kind, content_type, content, created_at)"
            " values (%s, %s, 'logo', 'image/png', '', now())",
            (file_id, shop.id),
        )
    _set(shop, name="Acme", description="We make tea.", logo_file_id=file_id)
    program_id = shop.program(
        name="Tea", slug="tea", description="Sell tea.", terms_url="https://acme.test/terms", recurring_months=12
    )

    answer = _get_campaign(shop, "tea")

    assert answer.status_code == 200
    assert answer.json == {
        "id": str(program_id),
        "organizationName": "Acme",
        "name": "Tea",
        "slug": "tea",
        "description": "Sell tea.",
        "termsUrl": "https://acme.test/terms",
        "customAliasSupported": True,
        "organizationDescription": "We make tea.",
        "defaultCommissionType": "Percentage",
        "defaultCommissionValue": 20,
        "defaultCommissionModel": "Cps",
        "cookieWindowDays": 30,
        "recurringMonths": 12,
        "attributionModel": "LastTouch",
        "autoApprove": False,
        "isPubliclyDiscoverable": True,
        "landingPageConfig": {},
        "applicationForm": None,
        "logoUrl": f"{settings.current().web.url}/api/brand-files/{file_id}",
        "faviconUrl": None,
    }


def test_unset_fields_are_null_and_the_organization_id_is_hidden(shop):
    shop.program(slug="tea", default_commission_value=Decimal("12.5"))

    answer = _get_campaign(shop, "tea")

    empty = ("description", "termsUrl", "organizationDescription", "recurringMonths", "logoUrl", "faviconUrl")
    assert [answer.json[name] for name in empty] == [None] * len(empty)
    assert answer.json["defaultCommissionValue"] == 12.5
    assert str(shop.id) not in answer.get_data(as_text=True)


def test_lookup_is_case_insensitive(shop):
    shop.program(slug="tea")

    assert _get_campaign(shop, "TEA", handle=_get_handle(shop).upper()).json["slug"] == "tea"


def test_primary_campaign_is_the_default(shop):
    now = datetime.now(UTC)
    shop.program(slug="oldest", created_at=now - timedelta(days=9))
    shop.program(slug="primary", is_primary=True)

    assert _get_campaign(shop).json["slug"] == "primary"


@pytest.mark.parametrize("closed", CLOSED)
def test_oldest_open_campaign_replaces_a_closed_primary(shop, closed):
    now = datetime.now(UTC)
    shop.program(slug="newer")
    shop.program(slug="older", created_at=now - timedelta(days=5))
    shop.program(slug="oldest", created_at=now - timedelta(days=9), **closed)
    shop.program(slug="primary", is_primary=True, **closed)

    assert _get_campaign(shop).json["slug"] == "older"


@pytest.mark.parametrize("closed", CLOSED)
def test_closed_campaign_returns_404(shop, closed):
    shop.program(slug="tea", **closed)

    assert _is_not_found(_get_campaign(shop, "tea"))
    assert _is_not_found(_get_campaign(shop))


def test_invite_only_campaign_is_returned(shop):
    shop.program(slug="tea", network_visibility="InviteOnly", is_publicly_discoverable=False)

    assert _get_campaign(shop, "tea").json["isPubliclyDiscoverable"] is False


class TestFormerSlug:
    """Lookup by a slug that a campaign had before it was renamed."""

    @pytest.fixture(autouse=True)
    def _rename_campaign(self, shop):
        self.shop = shop
        self.program_id = shop.program(slug="new")
        self._insert_former_slug("old", self.program_id)

    def _insert_former_slug(self, slug, program_id):
        with db.unit_of_work(self.shop.id):
            db.db.stage("insert into program_former_slug values (%s, %s, %s, now())", (self.shop.id, slug, program_id))

    def test_former_slug_returns_only_the_new_slug(self):
        answer = _get_campaign(self.shop, "OLD")

        assert (answer.status_code, answer.json) == (200, {"redirect": True, "campaign": "new"})

    @pytest.mark.parametrize("closed", CLOSED)
    def test_former_slug_of_a_closed_campaign_returns_404(self, closed):
        self._insert_former_slug("older", self.shop.program(**closed))

        assert _is_not_found(_get_campaign(self.shop, "older"))

    @pytest.mark.parametrize("closed", [{}, CLOSED[1]])
    def test_current_owner_of_the_slug_takes_precedence(self, closed):
        self.shop.program(slug="old", name="Later", **closed)

        answer = _get_campaign(self.shop, "old")

        assert _is_not_found(answer) if closed else answer.json["name"] == "Later"

    def test_former_slug_of_another_tenant_returns_404(self, rival):
        rival.program(slug="theirs")
        _set(rival, subdomain=f"rival-{uuid4().hex[:12]}")

        assert _is_not_found(_get_campaign(rival, "old"))
        assert _is_not_found(_get_campaign(self.shop, "theirs"))


def test_brand_without_campaign_or_handle_returns_404(shop):
    assert _is_not_found(_get_campaign(shop))
    shop.program()
    handle = _get_handle(shop)
    _set(shop, subdomain=None)

    assert _is_not_found(_get_campaign(shop, handle=handle))
    assert _is_not_found(_get_campaign(shop, handle="None"))


@pytest.mark.parametrize(
    "segment",
    [
        "nobody",
        "%00",
        "a%00b",
        "..",
        ".",
        "%25",
        "_",
        "%E6%97%A5",
        "%FF",
        "x" * 5000,
        "a%20b",
        "%27--",
        "a.b",
        "%2e%2e",
    ],
)
def test_unknown_name_returns_404(shop, segment):
    shop.program(slug="tea")

    assert _get_campaign(shop, handle=segment).status_code == 404
    assert _get_campaign(shop, segment).status_code == 404


def test_lookalike_letter_does_not_match(shop):
    shop.program(slug="kiwi")

    assert _is_not_found(_get_campaign(shop, "\u212aiwi"))


class TestDomain:
    """Lookup by custom domain."""

    @pytest.fixture(autouse=True)
    def _set_domain(self, shop):
        self.shop = shop
        self.domain = f"{uuid4().hex[:12]}.partners.test"
        self.columns = {"custom_domain": self.domain, "custom_domain_verified": True}

    @pytest.mark.parametrize("form", ["{}", "{}:443", "{}.", "{}.:8080", "{}:"])
    def test_verified_domain_returns_handle_and_slug(self, form):
        self.shop.program(slug="tea", **self.columns)

        answers = [_get_by_host(self.shop, form.format(name)) for name in (self.domain, self.domain.upper())]

        for answer in answers:
            assert (answer.status_code, answer.json) == (200, {"handle": _get_handle(self.shop), "slug": "tea"})

    @pytest.mark.parametrize("columns", [{"custom_domain_verified": False}, {"archived_at": datetime.now(UTC)}])
    def test_unverified_or_archived_domain_returns_404(self, columns):
        self.shop.program(**self.columns | columns)

        assert _is_not_found(_get_by_host(self.shop, self.domain))

    @pytest.mark.parametrize(
        "form",
        [
            "x.{}",
            "{}/",
            "{}..",
            "user@{}",
            "https://{}",
            "{}:80:80",
            "{}:x",
            "{}%",
            "{} ",
            "{},evil.test",
            "{}#x",
            "{}\r\nX: y",
            "{}\\",
            "日本.{}",
            "%",
            "[::1]:80",
            "x" * 5000,
        ],
    )
    def test_other_or_malformed_host_returns_404(self, form):
        self.shop.program(**self.columns)

        assert _is_not_found(_get_by_host(self.shop, form.format(self.domain)))

    @pytest.mark.parametrize("query", ["", "?host=", "?hosts=x", "?host=a%00b"])
    def test_missing_host_returns_400(self, query):
        answer = self.shop.app.test_client().get(f"/api/p/by-domain{query}")

        assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
        assert list(answer.json["errors"]) == ["host"]

    def test_host_header_of_the_request_is_ignored(self):
        self.shop.program(**self.columns)

        answer = self.shop.app.test_client().get("/api/p/by-domain?host=evil.test", headers={"Host": self.domain})

        assert _is_not_found(answer)


@pytest.mark.parametrize("path", [f"{BASE}/nobody", f"{BASE}/nobody/x", "/api/p/by-domain?host=x.test"])
def test_too_many_requests_from_one_address_return_429(app, monkeypatch, path):
    monkeypatch.setitem(app.extensions, "limiter", create_limiter(anonymous=2))

    answers = [app.test_client().get(path) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [404, 404, 429]
    assert answers[-1].data == b""
