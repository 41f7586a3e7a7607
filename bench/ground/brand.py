"""A brand to measure with: an organization, a campaign that pays 20 %, its affiliates, a key, endpoints, sales.

Rows outside the measured time are inserted directly into the database, as the product would write them.
"""

import hashlib
import hmac
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import orjson

from adapters.secret_key import sealing
from bench.ground.machine import owner
from domain import jobs
from models import db, ids
from models.affiliates import affiliates, tracking_links
from models.jobs import rows
from models.programs import programs
from models.webhooks import endpoints
from pipelines.organization import key_creation, tenancy

# Every sale updates one row, its affiliate's revenue of the day; with many affiliates that row is no bottleneck.
AFFILIATES = 100
ENDPOINT_SECRET = "ffwhsec_made_up_for_the_benchmark"


@dataclass(frozen=True, slots=True)
class Brand:
    """An organization with one key and `AFFILIATES` approved affiliates, whose slugs are partner-0, partner-1 …"""

    id: UUID
    api_key: str
    signing_secret: str
    program_id: UUID
    affiliate_ids: Sequence[UUID]

    def sale_requests(self, count: int, *, port: int, prefix: str) -> list[bytes]:
        """Return `count` signed sales, alternating between affiliates, as raw HTTP requests valid for 300 seconds."""
        t = int(time.time())
        return [self._sale_request(f"{prefix}-{number}", number, t, port) for number in range(count)]

    def _sale_request(self, event_id: str, number: int, t: int, port: int) -> bytes:
        sale = {
            "externalEventId": event_id,
            "affiliateSlug": f"partner-{number % AFFILIATES}",
            "amountCents": 10_000 + number,
            "currency": "USD",
        }
        body = orjson.dumps(sale)
        digest = hmac.new(self.signing_secret.encode(), b"%d." % t + body, hashlib.sha256).hexdigest()
        head = (
            f"POST /api/tracking/s2s HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {self.api_key}\r\nX-Service-Signature: t={t},sig={digest}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


def create(url: str) -> Brand:
    """Create a brand in the fresh database that this process uses.

    The tables are analyzed, as autovacuum does within a minute, so that statements are planned for their rows.
    """
    now = datetime.now(UTC)
    with db.any_org_work():
        organization_id = tenancy.create(
            name="Bench", plan="Growth", status="Active", currency="USD", owner_email="owner@example.com", now=now
        )
        key = key_creation.create(
            organization_id=organization_id, scope="read_write", is_test=False, name="", user_email=None, now=now
        )
    program_id = ids.new_id()
    affiliate_ids = [ids.new_id() for _ in range(AFFILIATES)]
    with db.unit_of_work(organization_id):
        programs.insert(_program(organization_id, program_id, now))
        for number, affiliate_id in enumerate(affiliate_ids):
            common = {"organization_id": organization_id, "program_id": program_id, "created_at": now}
            affiliates.insert(common | _affiliate(affiliate_id, f"partner-{number}", now))
            tracking_links.insert(
                common
                | {"id": ids.new_id(), "affiliate_id": affiliate_id, "slug": f"partner-{number}", "is_default": True}
            )
    with owner(url) as cursor:
        cursor.execute("analyze")
    return Brand(organization_id, key.api_key, key.signing_secret, program_id, affiliate_ids)


def subscribe(brand: Brand, url: str) -> UUID:
    """Create an endpoint of the brand that is subscribed to every event."""
    endpoint_id, now = ids.new_id(), datetime.now(UTC)
    with db.unit_of_work(brand.id):
        endpoints.insert(
            endpoint_id=endpoint_id,
            organization_id=brand.id,
            url=url,
            events=["*"],
            secret_sealed=sealing.seal(ENDPOINT_SECRET, belongs_to=str(endpoint_id)),
            now=now,
        )
    return endpoint_id


_ACCEPT_WITH_JOBS = """
with accepted as (
  insert into sale (id, organization_id, external_event_id, program_id, affiliate_id, amount_cents, currency, is_test,
    accepted_at)
  select uuidv7(), %(org)s, %(prefix)s || '-' || n, %(program)s, (%(affiliates)s::uuid[])[1 + n %% %(of)s], 10000 + n,
    'USD', false, now() from generate_series(1, %(count)s) n returning id
)
insert into job (organization_id, queue, name, args, fair_key, max_attempts)
select %(org)s, %(queue)s, %(name)s, jsonb_build_object('sale_id', id), %(org)s::text, %(max_attempts)s from accepted
"""


def accept_with_jobs(cursor: Any, brand: Brand, count: int, *, prefix: str) -> None:
    """Insert accepted sales with their settle jobs: a backlog as the web processes would leave it."""
    parameters = {
        "org": brand.id,
        "prefix": prefix,
        "program": brand.program_id,
        "affiliates": brand.affiliate_ids,
        "of": len(brand.affiliate_ids),
        "count": count,
    }
    cursor.execute(_ACCEPT_WITH_JOBS, parameters | rows.kind_columns(jobs.SALE_SETTLE))


def _program(organization_id: UUID, program_id: UUID, now: datetime) -> dict[str, object]:
    return {
        "id": program_id,
        "organization_id": organization_id,
        "name": "Campaign",
        "slug": "campaign",
        "default_commission_type": "Percentage",
        "default_commission_value": Decimal(20),
        "default_commission_model": "Cps",
        "created_at": now,
        "updated_at": now,
    }


def _affiliate(affiliate_id: UUID, slug: str, now: datetime) -> dict[str, object]:
    return {
        "id": affiliate_id,
        "email": f"{slug}@example.com",
        "email_normalized": f"{slug}@example.com",
        "full_name": slug,
        "status": "Approved",
        "source": "Direct",
        "applied_at": now,
        "approved_at": now,
    }
