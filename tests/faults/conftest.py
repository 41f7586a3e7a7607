"""One machine for all fault tests, a new shop for each, and the fault log of what failed."""

import signal
from collections.abc import Generator, Iterator

import pytest

from tests.adapters.rails.fake_processor import FakeProcessor
from tests.support.installation.machine import Machine
from tests.support.installation.shop import Shop

_MACHINE = pytest.StashKey[Machine]()
_LOG_LINES = 15


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what was done to the machine, and what its processes said last, under a test that failed."""
    report = yield
    machine = item.config.stash.get(_MACHINE, None)
    if report.failed and machine is not None:
        report.sections.append((f"fault log, FAULT_SEED={machine.seed}", "\n".join(machine.notes[-40:])))
        for log in sorted(machine.home.glob("*.out")):
            lines = log.read_text(errors="replace").splitlines()[-_LOG_LINES:]
            report.sections.append((f"the last of {log.stem}", "\n".join(lines)))
    return report


@pytest.fixture(scope="session")
def _machine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    # Told to end, pytest would just end, and the servers would outlive it.
    usual = signal.signal(signal.SIGTERM, lambda *_: pytest.exit("told to end", returncode=143))
    machine = Machine(tmp_path_factory.mktemp("machine"))
    request.config.stash[_MACHINE] = machine
    try:
        yield machine
    finally:
        machine.shut_down()
        signal.signal(signal.SIGTERM, usual)
        del request.config.stash[_MACHINE]


@pytest.fixture
def machine(request: pytest.FixtureRequest, _machine: Machine) -> Machine:
    """Return the machine with every usual process running and nothing left to do."""
    _machine.note(f"--- {request.node.name}")
    _machine.restore()
    return _machine


@pytest.fixture
def shop(machine: Machine) -> Iterator[Shop]:
    """Return a new brand that sells on the machine."""
    opened = Shop(machine)
    yield opened
    opened.close()


@pytest.fixture
def service(machine: Machine) -> Iterator[FakeProcessor]:
    """Return a payment service with empty books, where the machine's processor is."""
    started = FakeProcessor(machine.rail_port)
    yield started
    started.stop()
