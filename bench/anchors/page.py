"""The anchor of lists: Flask, gunicorn and psycopg2 return 50 affiliates without authentication.

Included: one query for 50 whole rows, newest first, which PostgreSQL converts to JSON. Not included: key, rate limit,
plan, row-level security, links, schemas, cursor, metrics, log line.
"""

import os
import threading
from typing import Any

import psycopg2
from flask import Flask, Response

_PAGE = """
select json_build_object('items', json_agg(page), 'nextCursor', null, 'hasMore', true)::text from (
  select * from affiliate where organization_id = %s and deleted_at is null order by created_at desc, id desc limit 50
) page
"""

_thread = threading.local()


def create_app() -> Flask:
    """Build the one-route application; ORGANIZATION_ID is the organization whose affiliates it lists."""
    app = Flask("anchor", static_folder=None)
    organization_id = os.environ["ORGANIZATION_ID"]

    @app.get("/healthz")
    def alive() -> str:
        return "ok\n"

    @app.get("/api/v1/affiliates")
    def list_affiliates() -> Response:
        return Response(_page(organization_id), content_type="application/json")

    return app


def _page(organization_id: str) -> str:
    connection = _connection()
    with connection, connection.cursor() as cursor:
        cursor.execute(_PAGE, (organization_id,))
        return str(cursor.fetchone()[0])


def _connection() -> Any:
    if not hasattr(_thread, "connection"):
        _thread.connection = psycopg2.connect(os.environ["DATABASE_URL"])
    return _thread.connection
