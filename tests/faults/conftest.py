"""One installation for all fault tests, a new shop for each test, and the fault log of a failed test."""

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
    """Add the fault log, and the last output of each process, to the report of a failed test."""
    report = yield
    machine = item.config.stash.get(_MACHINE, None)
    if report.failed and machine is not None:
        report.sections.append((f"fault log, FAULT_SEED={machine.seed}", "\n".join(machine.notes[-40:])))
        for log in sorted(machine.home.glob("*.out")):
            lines = log.read_text(errors="replace").splitlines()[-_LOG_LINES:]
            report.sections.append((f"last output of {log.stem}", "\n".join(lines)))
    return report


@pytest.fixture(scope="session")
def _machine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    # On SIGTERM pytest would exit at once, and the servers would outlive it.
    previous_handler = signal.signal(signal.SIGTERM, lambda *_: pytest.exit("terminated", returncode=143))
    machine = Machine(tmp_path_factory.mktemp("machine"))
    request.config.stash[_MACHINE] = machine
    try:
        yield machine
    finally:
        machine.shut_down()
        signal.signal(signal.SIGTERM, previous_handler)
        del request.config.stash[_MACHINE]


@pytest.fixture
def machine(request: pytest.FixtureRequest, _machine: Machine) -> Machine:
    """Return the installation with all usual processes running and no work left."""
    _machine.note(f"--- {request.node.name}")
    _machine.restore()
    return _machine


@pytest.fixture
def shop(machine: Machine) -> Iterator[Shop]:
    """Return a new brand that sells on the installation."""
    shop = Shop(machine)
    yield shop
    shop.close()


@pytest.fixture
def processor(machine: Machine) -> Iterator[FakeProcessor]:
    """Return a fake payment service without payments, at the address of the payout rails."""
    processor = FakeProcessor(machine.rail_port)
    yield processor
    processor.stop()
