"""Fixtures: real servers, an application, brands, and `drain` to run the queued jobs.

Every test creates its own organizations, so only the queues are emptied between tests: the rows of other tests belong
to other tenants.
"""

import dataclasses
import gc
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import hypothesis
import pytest
from hypothesis import HealthCheck

from adapters.embedded import server_pair
from tests.support import databases
from tests.support.outside import receiver as receivers
from tests.support.running import bytecode, clusters, file_scheduler, homes, hours, names, results, sockets

_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
# The first process of a run chooses the folder and the others inherit it, so that the last one can stop the servers.
_HOME = Path(os.environ.setdefault("FINDERFEE_TESTS_HOME", f"{tempfile.gettempdir()}/{homes.PREFIX}{os.getpid()}"))

_HOME_LOCK = pytest.StashKey[TextIOWrapper]()

# Settings that a developer may have set for their own server; the tests remove them.
_UNSET = {
    "PORT",
    "DATABASE_READ_URL",
    "BROKER_URL",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "TRUSTED_PROXIES",
    "WEBHOOK_ALSO_ALLOW",
    "METRICS_TOKEN",
    "PROMETHEUS_MULTIPROC_DIR",
    "SMTP_URL",
    "CORS_ORIGINS",
    "PORTAL_DOMAIN",
    "PUBLIC_BASE_URL",
    "DOMAIN_TARGET",
    "DNS_SERVERS",
    "FRAUD_NETWORKS_FILE",
    "NETWORK_COUNTRIES_FILE",
    "FRAUD_SCORER_URL",
    "FRAUD_SCORER_TOKEN",
    "HUMAN_CHECK_URL",
    "HUMAN_CHECK_SECRET",
    "HUMAN_CHECK_SCRIPT_URL",
    "HUMAN_CHECK_SITE_KEY",
    "FX_FEED_URL",
    "COPILOT_KEY",
    "COPILOT_TIMEOUT_S",
    "COPILOT_DAILY_TOKENS",
    "COPILOT_DAILY_REQUESTS",
}
_UNLIMITED = " ".join(
    f"{bucket}=1000000"
    for bucket in (
        "standard",
        "import",
        "invite",
        "strict_write",
        "domain_check",
        "tls_ask",
        "embed",
        "apply",
        "anonymous",
        "anonymous_tracking",
        "s2s",
        "unknown",
    )
)


def pytest_configure(config: pytest.Config) -> None:
    """Point this process at the tests' servers before anything reads the settings."""
    # The time to create an example shows the load of the machine, not a defect of the product. Examples are the same in
    # every run; FINDERFEE_LONG_MACHINE searches with random ones, apart from any change under test.
    hypothesis.settings.register_profile(
        "any",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize="FINDERFEE_LONG_MACHINE" not in os.environ,
    )
    hypothesis.settings.load_profile("any")
    sockets.close_when_reset()
    names.forbid_name_lookups()
    gc.set_threshold(100_000, 50, 50)  # thousands of modules and tests stay in memory; scanning them again costs 10 %
    if not hasattr(config, "workerinput"):
        homes.remove_abandoned(_HOME.parent)
        config.stash[_HOME_LOCK] = homes.lock_home(_HOME)
        clusters.prepare(_HOME, config.cache.mkdir("clusters"))
        results_file = os.environ.pop(results.RESULTS_FILE, None)
        config.pluginmanager.register(results.Recorder(Path(results_file) if results_file else None))
        if _is_distributed(config):
            bytecode.compile_sources(config)
    if hasattr(config, "workerinput") or not _is_distributed(config):
        _point_at_servers()
        _extend_timeouts()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the servers when the last process that used them ends."""
    if not hasattr(config, "workerinput"):
        server_pair.stop(_HOME)
        shutil.rmtree(_HOME, ignore_errors=True)
        if _HOME_LOCK in config.stash:
            config.stash[_HOME_LOCK].close()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Return the scheduler that assigns whole files to processes."""
    return file_scheduler.ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the tests that take longest in one process, so that the run does not wait for them at the end."""
    items.sort(key=lambda item: not file_scheduler.reads_trees(item.nodeid.partition("::")[0]))


def _start_servers() -> server_pair.EmbeddedServers:
    """Start the tests' servers and return their addresses; with DATABASE_URL set, use its database server instead.

    The broker is always private, because the tests empty it.
    """
    external_url = os.environ.get("DATABASE_URL")
    servers = server_pair.start(_HOME, postgres=external_url is None, durable=False)
    if external_url is None:
        return servers
    owner_url = os.environ.get("DATABASE_OWNER_URL") or external_url
    return dataclasses.replace(servers, database_url=external_url, database_owner_url=owner_url)


def _is_distributed(config: pytest.Config) -> bool:
    return bool(getattr(config.option, "numprocesses", None))


def _extend_timeouts() -> None:
    """Wait longer than the product does for a running server: a busy machine is no outage.

    A connection to a stopped server still fails at once. A URL whose name could not be looked up in time would pass.
    """
    from adapters import broker
    from adapters.safe_http import client

    broker._SHORT_TIMEOUT_S = 20.0
    client._EARLY_S = 60.0


def _point_at_servers() -> None:
    for name in [name for name in os.environ if name in _UNSET or "_JWT_" in name or "PAYOUT_RAIL_" in name]:
        os.environ.pop(name, None)
    servers = _start_servers()
    name = f"finderfee_test_{_WORKER}"
    number = int(_WORKER.removeprefix("gw")) % 16
    os.environ.update(
        DATABASE_URL=urlsplit(servers.database_url)._replace(path=f"/{name}").geturl(),
        DATABASE_OWNER_URL=databases.create_database(servers.database_owner_url, name),
        REDIS_URL=servers.redis_url.replace("db=0", f"db={number}"),
        SECRET_KEY="a key for the tests that is long enough",
        DATA_DIR=str(_HOME / f"data-{_WORKER}"),
        KEY_CACHE_S="0",
        LOG_LEVEL="error",
        FRAUD_DNS="off",
        COPILOT_URL="http://127.0.0.1:9/v1",
        COPILOT_MODEL="scripted",
        RATE_LIMITS_PER_MIN=_UNLIMITED,
        WEBHOOK_ALLOW_PRIVATE="on",
        WEBHOOK_TIMEOUT_S="30",
        WEBHOOK_CA_BUNDLE=str(receivers.write_certificate(_HOME / f"receiver-{_WORKER}")),
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Delay a test that would start just before a full hour, and reload settings that another test changed."""
    from tests.support import settings_overrides

    hours.note_test_start()
    settings_overrides.reload_changed_environment()


@pytest.fixture(scope="session")
def app() -> object:
    """Return the application, with every actor declared on this process's broker."""
    import importlib

    from app import create_app
    from tests.support.api_description import ApiDescriptionChecker

    importlib.import_module("workers.fleet").load()
    created = create_app()
    created.extensions["description"] = ApiDescriptionChecker(created)
    gc.freeze()  # pytest runs the collector several times at the end; it need not scan all imported modules
    return created


@pytest.fixture(autouse=True)
def _check_answers_against_description(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that received a response that does not match the OpenAPI description."""
    yield
    if "app" in request.fixturenames:
        description = request.getfixturevalue("app").extensions["description"]
        violations, description.violations = description.violations, []
        assert violations == []


@pytest.fixture(autouse=True)
def _empty_queues(request: pytest.FixtureRequest) -> Iterator[None]:
    """Start every test that uses the application with empty queues, rate limits and key caches."""
    if "app" not in request.fixturenames:
        yield
        return
    from adapters import broker
    from api.access import callers
    from api.edge import cors
    from api.service import health
    from api.storefront.network_presence import presence
    from models import db
    from pipelines.clicks import public_links
    from pipelines.gateways import receive

    broker.client(os.environ["REDIS_URL"]).flushdb()
    callers.clear_cache()
    cors.clear_cache()
    health.readiness.forget()
    presence.forget()
    public_links.clear_cache()
    receive.clear_cache()
    with db.any_org_work():
        for table in ("job", "tick", "worker_process", "queue_pause", "stored_answer"):
            db.db.stage(f"delete from {table}")
    yield
    if db.in_transaction():  # keep the connection for the next test unless a transaction is still open
        db.db.drop_connection()


@pytest.fixture
def brand(app: object) -> object:
    """Return a new organization on the Growth plan with a live read_write key."""
    from tests.support.rows.brands import Brand

    return Brand.create(app)


@pytest.fixture
def rival(app: object) -> object:
    """Return another organization, unrelated to `brand`."""
    from tests.support.rows.brands import Brand

    return Brand.create(app, name="Rival")


@pytest.fixture
def drain(app: object) -> Callable[[], int]:
    """Return a function that runs due jobs through the real actors until none is due; it returns how many ran."""
    from tests.support.job_queues import drain as run

    return run


@pytest.fixture
def flask(app: object) -> object:
    """Return a runner of operator commands: `flask("jobs", "dead")`, or `flask.json("jobs", "dead")` for the JSON."""
    from tests.support.operators import Operator

    return Operator(app)


@pytest.fixture
def receiver(request: pytest.FixtureRequest) -> Iterator["receivers.Receiver"]:
    """Yield a scriptable HTTPS server that records its requests; check their events against the description."""
    server = receivers.Receiver(Path(os.environ["WEBHOOK_CA_BUNDLE"]).parent)
    yield server
    server.stop()
    if "app" in request.fixturenames:
        description = request.getfixturevalue("app").extensions["description"]
        for received in server.received:
            description.check_event(received.body)


@pytest.fixture
def isolated_database(app: object) -> Iterator[str]:
    """Yield the owner's URL of a database that contains only this test's organizations."""
    with databases.isolated_database() as owner_url:
        yield owner_url
