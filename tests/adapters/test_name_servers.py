"""What name servers of any kind say, and what is made of it."""

import socket
import threading
from contextlib import ExitStack

import pytest

from adapters import name_servers
from domain.host_proofs.records import ExpectedProof, ReplyKind
from tests.support.outside.name_server import NameServer
from tests.support.settings_overrides import override_settings

_WANTED = ExpectedProof("go.adapters.example", "affiliates.adapters.example", "finderfee-verify=x")


@pytest.fixture
def server():
    made = NameServer()
    yield made
    made.close()


def _read(monkeypatch, *addresses, longest_s=60.0):
    split = [address.rpartition(":") for address in addresses]
    override_settings(monkeypatch, web={"dns_servers": tuple((host, int(port)) for host, _, port in split)})
    return name_servers.read(_WANTED, limit_s=longest_s)


class _Odd:
    """A server that answers everything with the same bytes behind the number of the question."""

    def __init__(self, answer):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._answer = answer
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while sent := self._socket.recvfrom(4096):
            if not sent[0]:
                return
            self._socket.sendto(sent[0][:2] + self._answer(sent[0]), sent[1])

    def close(self):
        self._socket.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()


def test_a_name_that_is_silent_failing_empty_or_not_there_are_four_things(server, monkeypatch):
    server.silent = {_WANTED.name}
    silent = _read(monkeypatch, server.address, longest_s=0.3).end.kind
    server.silent, server.broken = set(), {_WANTED.name}
    failed = _read(monkeypatch, server.address).end.kind
    server.broken, server.zone = set(), {(_WANTED.name, "MX"): ["10 mx.adapters.example."]}
    empty = _read(monkeypatch, server.address).end.kind
    server.zone = {}

    assert [silent, failed, empty, _read(monkeypatch, server.address).end.kind] == [
        ReplyKind.Silent,
        ReplyKind.Failed,
        ReplyKind.Empty,
        ReplyKind.NoName,
    ]


def test_the_chain_ends_at_the_wanted_host_and_addresses_are_told_of_a_name_without_one(server, monkeypatch):
    server.zone = {
        (_WANTED.name, "CNAME"): ["Hop.adapters.example."],
        ("hop.adapters.example", "CNAME"): ["AFFILIATES.adapters.example."],
        (_WANTED.target, "CNAME"): ["behind.adapters.example."],
    }
    led = _read(monkeypatch, server.address)
    server.zone = {(_WANTED.name, "A"): ["192.0.2.1"], (_WANTED.name, "AAAA"): ["2001:db8::1"]}
    stands = _read(monkeypatch, server.address)

    assert led.chain == ("hop.adapters.example", _WANTED.target)
    assert (_WANTED.target, "CNAME") not in server.asked
    assert (stands.chain, stands.addresses.values) == ((), ("192.0.2.1", "2001:db8::1"))


@pytest.mark.parametrize(
    "answer",
    [
        lambda query: b"",
        lambda query: b"\x00",
        lambda query: b"\xff" * 500,
        lambda query: query[2:],
        lambda query: b"\x83\x80" + query[4:],  # cut short, and nobody listens where the rest is asked for
        lambda query: b"\x81\x85" + query[4:],  # REFUSED
    ],
    ids=["nothing", "a byte", "noise", "the question", "truncated", "refused"],
)
def test_what_cannot_be_read_says_nothing_of_the_name(monkeypatch, answer):
    odd = _Odd(answer)
    read = _read(monkeypatch, odd.address, longest_s=0.3)
    odd.close()

    assert {reply.is_definite for reply in (read.texts, read.end)} == {False}


def test_the_next_server_is_asked_where_the_first_is_silent(server, monkeypatch):
    server.zone = {(_WANTED.name, "CNAME"): [f"{_WANTED.target}."]}
    mute = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    mute.bind(("127.0.0.1", 0))

    read = _read(monkeypatch, f"127.0.0.1:{mute.getsockname()[1]}", server.address)
    mute.close()

    assert read.chain == (_WANTED.target,)


def test_turns_are_few_and_come_back():
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(name_servers.reading_slot())
        with pytest.raises(name_servers.TooManyReadings):
            stack.enter_context(name_servers.reading_slot())
    with name_servers.reading_slot():
        pass
