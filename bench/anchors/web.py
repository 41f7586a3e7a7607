"""The anchor of sales: Flask, gunicorn and psycopg2 record one sale without authentication.

Included: JSON, the slug's lookup, a sale row, a job row, commit. The tables are the product's without its row-level
security. Not included: key, signature, rate limit, plan, validation, deduplication, metrics, log line, wake-up of the
relay.
"""

import json
import os
import threading
import uuid
from typing import Any

import psycopg2
from flask import Flask, Response, request

#: Creates the anchor's tables: same columns, checks, indexes and foreign keys.
TABLES = """
create table anchor_sale (like sale including all);
alter table anchor_sale add foreign key (organization_id, program_id, affiliate_id)
  references affiliate (organization_id, program_id, id);
create table anchor_job (like job including all);
"""

_LOOK_UP = """
select a.id, p.id from tracking_link l
join affiliate a on a.organization_id = l.organization_id and a.id = l.affiliate_id
join program p on p.organization_id = l.organization_id and p.id = l.program_id
where l.organization_id = %s and l.slug = %s and l.deleted_at is null
"""
_SALE = """
insert into anchor_sale (id, organization_id, external_event_id, program_id, affiliate_id, amount_cents, currency,
  is_test, accepted_at) values (%s, %s, %s, %s, %s, %s, %s, false, now())
"""
_JOB = """
insert into anchor_job (organization_id, queue, name, args, fair_key, max_attempts)
values (%s, 'sales', 'sale.settle', %s, %s, 20)
"""

_thread = threading.local()


def create_app() -> Flask:
    """Build the application; ORGANIZATION_ID is the organization of the slugs."""
    app = Flask("anchor", static_folder=None)
    organization_id = os.environ["ORGANIZATION_ID"]

    @app.get("/healthz")
    def alive() -> str:
        return "ok\n"

    @app.post("/api/tracking/s2s")
    def post_sale() -> Response:
        return _record(organization_id, request.get_json())

    return app


def _record(organization_id: str, sale: dict[str, Any]) -> Response:
    sale_id = str(uuid.uuid4())
    connection = _connection()
    with connection, connection.cursor() as cursor:
        cursor.execute(_LOOK_UP, (organization_id, sale["affiliateSlug"]))
        affiliate_id, program_id = cursor.fetchone()
        ids = (sale_id, organization_id, sale["externalEventId"], program_id, affiliate_id)
        cursor.execute(_SALE, (*ids, sale["amountCents"], sale["currency"]))
        cursor.execute(_JOB, (organization_id, json.dumps({"sale_id": sale_id}), organization_id))
    return Response(json.dumps({"ok": True, "conversionId": sale_id}), content_type="application/json")


def _connection() -> Any:
    if not hasattr(_thread, "connection"):
        _thread.connection = psycopg2.connect(os.environ["DATABASE_URL"])
    return _thread.connection
