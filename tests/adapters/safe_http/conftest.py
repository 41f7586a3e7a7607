"""A client for customers' URLs, receivers on loopback, and simulated name servers."""

import dataclasses
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from adapters.safe_http.client import Client, Policy
from tests.support.outside.raw_receivers import OK, RawReceiver, Script, StartReceiver, answer_with, write_authority


@pytest.fixture(scope="session")
def tls_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    write_authority(folder)
    return folder


@pytest.fixture
def receive(tls_dir: Path) -> Iterator[StartReceiver]:
    receivers: list[RawReceiver] = []

    def start(script: Script = answer_with(OK), **where: str | int) -> RawReceiver:  # noqa: B008
        receivers.append(RawReceiver(tls_dir / "leaf.pem", script, **where))  # type: ignore[arg-type]  # address, port
        return receivers[-1]

    yield start
    for receiver in receivers:
        receiver.listener.shutdown(socket.SHUT_RDWR)  # wakes the thread in accept()
        receiver.listener.close()


@pytest.fixture
def client(tls_dir: Path) -> Iterator[Client]:
    """A client with a timeout long enough for a busy machine."""
    yield from _client_with_timeout(20, tls_dir)


@pytest.fixture
def impatient_client(tls_dir: Path) -> Iterator[Client]:
    """A client with a timeout of one second, for calls that would never end."""
    yield from _client_with_timeout(1, tls_dir)


@pytest.fixture
def shorten_timeout(client: Client) -> Callable[[], None]:
    """Return a function that sets the timeout of `client` to one second and keeps its connections."""
    return lambda: setattr(client, "_policy", dataclasses.replace(client._policy, timeout_s=1))


def _client_with_timeout(seconds: int, folder: Path) -> Iterator[Client]:
    client = Client(Policy(allow_private=True, ca_bundle=str(folder / "ca.pem"), timeout_s=seconds))
    yield client
    client.close()


@pytest.fixture
def dns(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """DNS answers, one list of addresses per query; the last list repeats; an empty list means no answer."""
    answers: list[list[str]] = []

    def getaddrinfo(host: str, port: int, **_: object) -> list[object]:
        resolved = answers.pop(0) if len(answers) > 1 else answers[0]
        if not resolved:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        family = {True: socket.AF_INET6, False: socket.AF_INET}
        return [(family[":" in address], socket.SOCK_STREAM, 6, "", (address, port)) for address in resolved]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return answers
