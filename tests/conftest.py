"""Fixtures: real servers, an application, brands to test with, and `drain` to run the queued work.

Every test makes organizations of its own, so nothing is cleaned up between tests but the queues: another test's
rows are another tenant's rows.
"""

import dataclasses
import gc
import os
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
# The first process of a run names the place and the others inherit it, so that who ends last knows what to stop.
_HOME = Path(os.environ.setdefault("FINDERFEE_TESTS_HOME", f"{tempfile.gettempdir()}/{homes.PREFIX}{os.getpid()}"))

_HOME_LOCK = pytest.StashKey[TextIOWrapper]()

# What a developer may have set for a server of their own.
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
    """Point this process at servers of its own before anything reads the settings."""
    # How long it takes to make an example says how busy the machine is, and nothing of the product. Examples are the
    # same in every run: what one in a thousand finds is looked for with FINDERFEE_LONG_MACHINE, beside nobody's change.
    hypothesis.settings.register_profile(
        "any",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize="FINDERFEE_LONG_MACHINE" not in os.environ,
    )
    hypothesis.settings.load_profile("any")
    sockets.close_when_reset()
    names.forbid_name_lookups()
    gc.set_threshold(100_000, 50, 50)  # thousands of modules and tests stay; looking through them again costs a tenth
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
        _be_patient()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the servers when the last process that used them is done."""
    if not hasattr(config, "workerinput"):
        server_pair.stop(_HOME)
        import shutil

        shutil.rmtree(_HOME, ignore_errors=True)
        if _HOME_LOCK in config.stash:
            config.stash[_HOME_LOCK].close()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Say which tests go to one process."""
    return file_scheduler.ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest in one process, so that nobody waits for it in the end."""
    items.sort(key=lambda item: not file_scheduler.reads_trees(item.nodeid.partition("::")[0]))


def _servers() -> server_pair.EmbeddedServers:
    """Return where the tests' servers are: databases of their own on DATABASE_URL's if it is set, else private ones.

    The broker is always private: the tests empty it.
    """
    given = os.environ.get("DATABASE_URL")
    started = server_pair.start(_HOME, postgres=given is None, durable=False)
    if given is None:
        return started
    owner_url = os.environ.get("DATABASE_OWNER_URL") or given
    return dataclasses.replace(started, database_url=given, database_owner_url=owner_url)


def _is_distributed(config: pytest.Config) -> bool:
    return bool(getattr(config.option, "numprocesses", None))


def _be_patient() -> None:
    """Wait longer than the product does for a server that is there: a busy machine is no outage.

    One that is away is not waited for at all. A URL whose name nobody could look up in time would pass.
    """
    from adapters import broker
    from adapters.safe_http import client

    broker._SHORT_TIMEOUT_S = 20.0
    client._EARLY_S = 60.0


def _point_at_servers() -> None:
    for name in [name for name in os.environ if name in _UNSET or "_JWT_" in name or "PAYOUT_RAIL_" in name]:
        os.environ.pop(name, None)
    found = _servers()
    name = f"finderfee_test_{_WORKER}"
    number = int(_WORKER.removeprefix("gw")) % 16
    os.environ.update(
        DATABASE_URL=urlsplit(found.database_url)._replace(path=f"/{name}").geturl(),
        DATABASE_OWNER_URL=databases.create_database(found.database_owner_url, name),
        REDIS_URL=found.redis_url.replace("db=0", f"db={number}"),
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
    """Let no test begin just before an hour is over, or with the settings of another."""
    from tests.support import settings_overrides

    hours.note_test_start()
    settings_overrides.reload_changed_environment()


@pytest.fixture(scope="session")
def app() -> object:
    """Return the application, with every actor declared on a broker of this process."""
    import importlib

    from app import create_app
    from tests.support.api_description import ApiDescriptionChecker

    importlib.import_module("workers.fleet").load()
    made = create_app()
    made.extensions["description"] = ApiDescriptionChecker(made)
    gc.freeze()  # pytest collects several times at the end, and need not look through all that was imported
    return made


@pytest.fixture(autouse=True)
def _check_answers_against_description(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail the test to whom something was answered that the description does not have."""
    yield
    if "app" in request.fixturenames:
        described = request.getfixturevalue("app").extensions["description"]
        violations, described.violations = described.violations, []
        assert violations == []


@pytest.fixture(autouse=True)
def _empty_queues(request: pytest.FixtureRequest) -> Iterator[None]:
    """Start every test that uses the application with empty queues and no memory of rates and keys."""
    if "app" not in request.fixturenames:
        yield
        return
    from adapters import broker
    from api.access import callers
    from api.edge import cors
    from api.service import health
    from models import db
    from pipelines.clicks import public_links
    from pipelines.gateways import receive

    broker.client(os.environ["REDIS_URL"]).flushdb()
    callers.clear_cache()
    cors.clear_cache()
    health.readiness.forget()
    public_links.clear_cache()
    receive.clear_cache()
    with db.any_org_work():
        for table in ("job", "tick", "worker_process", "queue_pause", "stored_answer"):
            db.db.stage(f"delete from {table}")
    yield
    if db.in_transaction():  # a new connection costs more than most tests; only one in disorder is not passed on
        db.db.drop_connection()


@pytest.fixture
def brand(app: object) -> object:
    """Return a new organization on the Growth plan with a live read_write key."""
    from tests.support.rows.brands import Brand

    return Brand.create(app)


@pytest.fixture
def rival(app: object) -> object:
    """Return another organization that has nothing to do with `brand`."""
    from tests.support.rows.brands import Brand

    return Brand.create(app, name="Rival")


@pytest.fixture
def drain(app: object) -> Callable[[], int]:
    """Return a function that runs due jobs through the real actors until none is due; it returns how many ran."""
    from tests.support.job_queues import drain as run

    return run


@pytest.fixture
def flask(app: object) -> object:
    """Return what runs operator commands: `flask("jobs", "dead")`, or `flask.json("jobs", "dead")` for the document."""
    from tests.support.operators import Operator

    return Operator(app)


@pytest.fixture
def receiver(request: pytest.FixtureRequest) -> Iterator["receivers.Receiver"]:
    """Return a scriptable HTTPS server that keeps what it is sent."""
    started = receivers.Receiver(Path(os.environ["WEBHOOK_CA_BUNDLE"]).parent)
    yield started
    started.stop()
    if "app" in request.fixturenames:
        described = request.getfixturevalue("app").extensions["description"]
        for received in started.received:
            described.check_event(received.body)


@pytest.fixture
def isolated_database(app: object) -> Iterator[str]:
    """Give the owner's URL of a database without the organizations of other tests, in which this one's are."""
    with databases.isolated_database() as owner_url:
        yield owner_url
