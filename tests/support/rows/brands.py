"""A brand: an organization with an API key, its rows, and a client that sends its requests."""

import hashlib
import hmac
import itertools
import json
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from flask import Flask
from werkzeug.test import TestResponse

from adapters.identity import tokens
from domain.programs import terms
from models import db
from models.affiliates import affiliates, tracking_links
from models.programs import programs
from pipelines.organization import key_creation, tenancy
from tests.support.running import row_ids

_NUMBERS = itertools.count(1)


@dataclass(slots=True)
class Brand:
    """An organization with one caller. `get`, `post` … send its bearer token; `post_signed` also signs with its key."""

    app: Flask
    id: UUID
    api_key: str
    signing_secret: str
    programs: list[UUID] = field(default_factory=list)

    @classmethod
    def create(
        cls,
        app: Any,
        *,
        name: str = "Brand",
        plan: str = "Growth",
        status: str = "Active",
        scope: str = "read_write",
        is_test: bool = False,
    ) -> "Brand":
        """Create an organization with a key."""
        now = datetime.now(UTC)
        with db.any_org_work():
            organization_id = tenancy.create(
                name=name, plan=plan, status=status, currency="USD", owner_email="owner@example.com", now=now
            )
            (owner_id,) = db.db.run("select id from member where organization_id = %s", (organization_id,))[0]
            key = key_creation.create_for(
                organization_id=organization_id, member_id=owner_id, scope=scope, is_test=is_test, name="", now=now
            )
        return cls(app, organization_id, key.api_key, key.signing_secret)

    def other_key(self, *, scope: str = "read_write", is_test: bool = False) -> "Brand":
        """Return the same organization with another key."""
        with db.any_org_work():
            key = key_creation.create(
                organization_id=self.id, scope=scope, is_test=is_test, name="", user_email=None, now=datetime.now(UTC)
            )
        return Brand(self.app, self.id, key.api_key, key.signing_secret)

    def person(self, role: str = "Owner", *, email: str | None = None, is_email_verified: bool = True) -> "Brand":
        """Return the same organization with the dashboard session of a member who has this role."""
        token = tokens.issue_dashboard(
            organization_id=self.id,
            role=role,
            email=email or f"{role.lower()}@example.com",
            is_email_verified=is_email_verified,
            ttl_s=600,
        )
        return Brand(self.app, self.id, token, "", self.programs)

    def member_id(self) -> UUID:
        """Return the id of the organization's first member."""
        member_id: UUID = self.rows("select id from member order by created_at, id limit 1")[0][0]
        return member_id

    def skip_first_sale(self) -> None:
        """Record that the organization had its first sale, so that people are not notified of the next one."""
        with db.unit_of_work(self.id):
            db.db.stage("update organization set first_sale_at = now() where id = %s", (self.id,))

    def set(self, **assignments: str) -> None:
        """Change operator settings, as `flask org set` does."""
        with db.any_org_work():
            tenancy.change(organization_id=self.id, assignments=assignments, now=datetime.now(UTC))

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> TestResponse:
        """Send a request with the bearer key; a body is sent as JSON, bytes as they are."""
        auth_headers = {"Authorization": f"Bearer {self.api_key}", "Content-Type": "application/json"}
        raw = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        all_headers = auth_headers | _header_names(headers)
        return self.app.test_client().open(path, method=method, data=raw, headers=all_headers)

    def get(self, path: str, **headers: str) -> TestResponse:
        """GET with the bearer key."""
        return self.call("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> TestResponse:
        """POST with the bearer key."""
        return self.call("POST", path, body, **headers)

    def post_signed(self, path: str, body: Any, *, at: int | None = None, **headers: str) -> TestResponse:
        """POST with the bearer key and a valid signature of the Unix time `at` (by default now)."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.call("POST", path, raw, **{"X_Service_Signature": self.signature(raw, at=at), **headers})

    def signature(self, raw: bytes, *, at: int | None = None) -> str:
        """Return the signature header for a raw body."""
        t = at if at is not None else int(time.time())
        digest = hmac.new(self.signing_secret.encode(), f"{t}.".encode() + raw, hashlib.sha256).hexdigest()
        return f"t={t},sig={digest}"

    def sale(self, **fields: Any) -> TestResponse:
        """Post a signed sale; `fields` override the defaults, a field given as `...` is left out."""
        body: dict[str, Any] = {
            "externalEventId": f"order-{next(_NUMBERS)}",
            "affiliateSlug": "ben",
            "amountCents": 10_000,
            "currency": "USD",
        } | fields
        return self.post_signed("/api/tracking/s2s", {name: value for name, value in body.items() if value is not ...})

    def refund(self, external_event_id: str, amount_cents: int | None = None, **headers: str) -> TestResponse:
        """Post a signed refund."""
        body: dict[str, Any] = {"externalEventId": external_event_id}
        if amount_cents is not None:
            body["refundAmountCents"] = amount_cents
        # A refund has no id: two equal ones in one second would have the same signature, so the signed time varies.
        return self.post_signed("/api/tracking/refund", body, at=int(time.time()) + next(_NUMBERS) % 200, **headers)

    def program(self, **columns: Any) -> UUID:
        """Insert a program that pays 20 % of every sale, in USD; `columns` override the defaults."""
        program_id = row_ids.new_id()
        values = {
            "id": program_id,
            "organization_id": self.id,
            "name": "Campaign",
            "slug": f"campaign-{next(_NUMBERS)}",
            "default_commission_type": "Percentage",
            "default_commission_value": Decimal(20),
            "default_commission_model": "Cps",
            "created_at": datetime.now(UTC),
            "updated_at": datetime.now(UTC),
        } | columns
        if values.get("network_visibility") == "Networked":  # by default its review is pending
            values = {
                "network_review": "Pending",
                "network_asked_at": datetime.now(UTC).replace(microsecond=0),
            } | values
        with db.unit_of_work(self.id):
            programs.insert(terms.currency_columns(values, "USD") | values)
        self.programs.append(program_id)
        return program_id

    def affiliate(self, slug: str, *, program_id: UUID | None = None, **columns: Any) -> UUID:
        """Insert an Approved affiliate with a default link, by default in the program inserted last."""
        affiliate_id = row_ids.new_id()
        now = datetime.now(UTC)
        values = {
            "id": affiliate_id,
            "organization_id": self.id,
            "program_id": program_id or self.programs[-1],
            "email": f"{slug}@example.com",
            "email_normalized": f"{slug}@example.com",
            "full_name": slug.title(),
            "status": "Approved",
            "source": "Direct",
            "custom_commission_currency": terms.rate_currency(columns.get("custom_commission_type"), "USD"),
            "applied_at": now,
            "approved_at": now,
            "created_at": now,
        } | columns
        link = {
            "id": row_ids.new_id(),
            "organization_id": self.id,
            "program_id": values["program_id"],
            "affiliate_id": affiliate_id,
            "slug": slug,
            "is_default": True,
            "created_at": now,
        }
        with db.unit_of_work(self.id):
            affiliates.insert(values)
            tracking_links.insert(link)
        return affiliate_id

    def endpoint(self, url: str, events: list[str] | None = None) -> dict[str, Any]:
        """Create a webhook endpoint through the API and return the response body, with the secret."""
        answer = self.post("/api/v1/webhooks", {"url": url, "events": events or ["*"]})
        assert answer.status_code == 201, answer.get_data(as_text=True)
        return dict(answer.json or {})

    def rows(self, sql: str, *params: object) -> list[tuple[Any, ...]]:
        """Return rows as this tenant sees them."""
        with db.unit_of_work(self.id):
            return db.db.run(sql, params)


class Partner:
    """An affiliate who signed in, with their token."""

    def __init__(self, app: Any, email: str, *, is_email_verified: bool = True) -> None:
        self.app = app
        self.token = tokens.issue_affiliate(email=email, is_email_verified=is_email_verified, ttl_s=600)

    def get(self, path: str, **headers: str) -> TestResponse:
        """GET with the affiliate's token."""
        all_headers = {"Authorization": f"Bearer {self.token}", **_header_names(headers)}
        return self.app.test_client().get(path, headers=all_headers)

    def put(self, path: str, body: Any) -> TestResponse:
        """PUT JSON, or bytes as they are, with the affiliate's token."""
        return self.call("PUT", path, body)

    def post(self, path: str, body: Any = None, **headers: str) -> TestResponse:
        """POST JSON, or bytes as they are, with the affiliate's token."""
        return self.call("POST", path, body, **headers)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> TestResponse:
        """Send JSON, or bytes as they are, with the affiliate's token."""
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        auth_headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        all_headers = auth_headers | _header_names(headers)
        return self.app.test_client().open(path, method=method, data=raw, headers=all_headers)


def _header_names(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
