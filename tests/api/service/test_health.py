"""Health checks and metrics, with and without database and broker."""

import dataclasses
import os

import psycopg2
import pytest

from adapters import servers
from api.service import health
from domain import jobs
from models import db, ids, migrate
from models.jobs import processes
from pipelines import work
from settings.version import VERSION
from tests.support.settings_overrides import override_settings


@pytest.fixture
def client(app):
    """A client on the local machine."""
    return app.test_client()


@pytest.fixture
def without_database(app, tmp_path):
    """A missing database server."""
    db.db.drop_connection()
    db.connect_to(f"postgresql://finderfee@/finderfee?host={tmp_path}")
    yield
    db.connect_to(os.environ["DATABASE_URL"])


@pytest.fixture
def without_broker(app, monkeypatch):
    """A missing broker."""
    unreachable = dataclasses.replace(servers.urls(), redis_url="unix:///nowhere/valkey.sock?db=0")
    monkeypatch.setattr(servers, "urls", lambda: unreachable)


@pytest.fixture
def metrics_token(monkeypatch):
    """METRICS_TOKEN is set."""
    override_settings(monkeypatch, monitoring={"metrics_token": "letmein"})


def _execute_as_owner(statement: str):
    connection = psycopg2.connect(os.environ["DATABASE_OWNER_URL"])
    with connection, connection.cursor() as cursor:
        cursor.execute(statement)
    connection.close()


def test_liveness_is_ok_without_database_and_broker(client, without_database, without_broker):
    answer = client.get("/healthz")

    assert (answer.status_code, answer.data) == (200, f"ok {VERSION}\n".encode())


def test_readiness_is_ok_with_database_and_broker(client):
    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json == {"database": "ok", "broker": "ok"}


def test_missing_database_is_not_ready(client, without_database):
    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json == {"database": "unreachable", "broker": "ok"}


def test_missing_broker_is_ready_and_accepts_sales(client, without_broker):
    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json == {"database": "ok", "broker": "unreachable (sales are accepted and wait in the database)"}


def test_database_with_missing_migration_is_not_ready(client):
    newest = migrate.names()[-1]
    _execute_as_owner(f"delete from migration where name = '{newest}'")
    try:
        answer = client.get("/readyz")
    finally:
        _execute_as_owner(f"insert into migration (name) values ('{newest}')")

    assert answer.status_code == 503
    assert answer.json["database"] == f"migrations missing: {newest}"
    health.readiness.forget()
    assert client.get("/readyz").status_code == 200


def test_unmigrated_database_is_not_ready(client):
    _execute_as_owner("alter table migration rename to hidden")
    try:
        answer = client.get("/readyz")
    finally:
        _execute_as_owner("alter table hidden rename to migration")

    assert answer.status_code == 503
    assert answer.json["database"].startswith("migrations missing: 0001_tenancy, ")


def test_database_of_removed_migrations_is_not_ready(client):
    _execute_as_owner("insert into migration (name) values ('0002_removed')")
    try:
        answer = client.get("/readyz")
    finally:
        _execute_as_owner("delete from migration where name = '0002_removed'")

    assert answer.status_code == 503
    assert "start again with an empty database" in answer.json["database"]


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_metrics_without_a_token_are_open_to_loopback(client, address):
    answer = client.get("/metrics", environ_base={"REMOTE_ADDR": address})

    assert answer.status_code == 200
    assert answer.content_type.startswith("text/plain; version=")


@pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.2.example.com", "::ffff:10.0.0.1"])
def test_metrics_without_a_token_return_404_to_others(client, address):
    answer = client.get("/metrics", environ_base={"REMOTE_ADDR": address})

    assert (answer.status_code, answer.json["error"]) == (404, "not_found")


@pytest.mark.parametrize("token", [None, "letmein"])
@pytest.mark.parametrize(
    ("host", "is_answered"),
    [
        ("localhost", True),
        ("localhost:8000", True),
        ("127.0.0.1:8000", True),
        ("[::1]:8000", True),
        ("affiliates.service.example", True),
        ("AFFILIATES.service.example:443", True),
        ("metrics.internal.example", True),
        ("web:8000", True),
        ("10.1.2.3:8000", True),
        ("partners.acme.example", False),
        ("x.affiliates.service.example", False),
        ("localhost.acme.example", False),
        ("10.2.0.1", False),
        ("[::2]", False),
        ("[", False),
    ],
)
def test_metrics_answer_only_at_hosts_of_the_service(client, monkeypatch, token, host, is_answered):
    override_settings(
        monkeypatch,
        web={"public_base_url": "https://affiliates.service.example"},
        monitoring={"metrics_token": token, "metrics_hosts": ("metrics.internal.example", "web", "10.1.0.0/16")},
    )

    answer = client.get("/metrics", headers={"Host": host, "Authorization": f"Bearer {token}"})

    assert (answer.status_code == 200) is is_answered
    assert is_answered or answer.status_code in (400, 404)


@pytest.mark.usefixtures("metrics_token")
@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1"])
@pytest.mark.parametrize(
    ("authorization", "status"),
    [("Bearer letmein", 200), ("Bearer wrong", 401), ("letmein", 401), ("Bearer letmein2", 401), ("Bearer é", 401)],
)
def test_metrics_token_is_required_of_every_caller(client, address, authorization, status):
    headers = {"Authorization": authorization.encode().decode("latin-1")}

    answer = client.get("/metrics", headers=headers, environ_base={"REMOTE_ADDR": address})

    assert answer.status_code == status
    assert answer.data == b"" or status == 200


@pytest.mark.usefixtures("metrics_token")
def test_missing_authorization_returns_401(client):
    assert client.get("/metrics").status_code == 401


def _stage(brand, number: int):
    with db.unit_of_work(brand.id):
        for _ in range(number):
            work.enqueue(jobs.SALE_SETTLE, organization_id=brand.id, sale_id="x")


def test_gauges_match_the_job_table(client, brand):
    with db.any_org_work():
        processes.announce(process_id=ids.new_id(), queues=["sales", "refunds"], threads=4)
    _stage(brand, 7)
    states = [
        "attempt = 1",
        "attempt = 1, deadline = now() + interval '1 minute'",
        "failed_at = now()",
        "failed_at = now()",
        "run_at = now() - interval '100 seconds'",
    ]
    with db.any_org_work():
        for number, state in enumerate(states):
            db.db.run(f"update job set {state} where id = (select min(id) + {number} from job)")

    page = client.get("/metrics").get_data(as_text=True)
    lines = set(page.splitlines())
    oldest_s = next(line for line in lines if line.startswith('finderfee_queue_oldest_seconds{queue="sales"}'))

    assert {
        'finderfee_queue_jobs{queue="sales",state="waiting"} 3.0',
        'finderfee_queue_jobs{queue="sales",state="retrying"} 1.0',
        'finderfee_queue_jobs{queue="sales",state="out"} 1.0',
        'finderfee_queue_jobs{queue="sales",state="dead"} 2.0',
        'finderfee_queue_jobs{queue="mail",state="waiting"} 0.0',
        'finderfee_worker_threads{queue="sales"} 4.0',
        'finderfee_worker_threads{queue="refunds"} 4.0',
        'finderfee_worker_threads{queue="mail"} 0.0',
    } <= lines
    assert 100 <= float(oldest_s.split()[-1]) < 200


def test_metrics_include_operator_backlog_and_database_connections(client, brand):
    _stage(brand, 1)
    with db.any_org_work():
        db.db.run("update job set failed_at = now()")

    page = client.get("/metrics").get_data(as_text=True)
    values = dict(line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))

    assert values['finderfee_waiting{what="dead_letters"}'] == "1.0"
    assert 'finderfee_waiting{what="doubtful_payouts"}' in values  # other tests leave some
    assert values['finderfee_waiting{what="late_ticks"}'] != "0.0"  # no scheduler runs here
    assert float(values["finderfee_database_connections"]) > 0
    assert float(values["finderfee_database_connections"]) < float(values["finderfee_database_connections_allowed"])


def test_requests_are_counted_by_route_and_status(client, brand):
    brand.get("/api/v1/programs/secret-looking-id")

    page = client.get("/metrics").get_data(as_text=True)

    assert 'finderfee_request_seconds_count{route="/api/v1/programs/<program_id>",status="404"}' in page
    assert "secret-looking-id" not in page


def test_counters_are_served_without_a_database(client, without_database):
    answer = client.get("/metrics")

    assert answer.status_code == 200
    assert "finderfee_rate_limit_failed_open_total" in answer.get_data(as_text=True)
    assert "finderfee_waiting" not in answer.get_data(as_text=True)
    assert "finderfee_queue_jobs" not in answer.get_data(as_text=True)
