"""A client of customers' URLs, receivers on loopback, and name servers that say what a test says."""

import dataclasses
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adapters.safe_http.client import Client, Policy
from tests.support.outside.raw_receivers import OK, RawReceiver, Script, StartReceiver, answering, write_authority


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    write_authority(folder)
    return folder


@pytest.fixture
def receive(folder: Path) -> Iterator[StartReceiver]:
    started: list[RawReceiver] = []

    def start(script: Script = answering(OK), **where: str | int) -> RawReceiver:  # noqa: B008
        started.append(RawReceiver(folder / "leaf.pem", script, **where))  # type: ignore[arg-type]  # address, port
        return started[-1]

    yield start
    for receiver in started:
        receiver.listener.shutdown(socket.SHUT_RDWR)  # wakes the thread in accept()
        receiver.listener.close()


@pytest.fixture
def client(folder: Path) -> Iterator[Client]:
    """A client that gives a call as long as a busy machine may take."""
    yield from _giving(20, folder)


@pytest.fixture
def hasty(folder: Path) -> Iterator[Client]:
    """A client that gives a call a second, for those that would never end."""
    yield from _giving(1, folder)


@pytest.fixture
def hurry(client: Client) -> Callable[[], None]:
    """Have `client` give a call a second from now on, over the connections that it keeps."""
    return lambda: setattr(client, "_policy", dataclasses.replace(client._policy, timeout_s=1))


def _giving(seconds: int, folder: Path) -> Iterator[Client]:
    client = Client(Policy(allow_private=True, ca_bundle=str(folder / "ca.pem"), timeout_s=seconds))
    yield client
    client.close()


@pytest.fixture
def dns(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Answers of DNS, one list of addresses per question; the last one repeats; an empty one is no answer."""
    answers: list[list[str]] = []

    def getaddrinfo(host: str, port: int, **_: object) -> list[object]:
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        family = {True: socket.AF_INET6, False: socket.AF_INET}
        return [(family[":" in address], socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return answers
