"""Replies of name servers of every kind, and how they are interpreted."""

import socket
import threading
from contextlib import ExitStack

import pytest

from adapters import name_servers
from domain.host_proofs.records import ExpectedProof, ReplyKind
from tests.support.outside.name_server import NameServer
from tests.support.settings_overrides import override_settings

_EXPECTED = ExpectedProof("go.adapters.example", "affiliates.adapters.example", "finderfee-verify=x")


@pytest.fixture
def server():
    name_server = NameServer()
    yield name_server
    name_server.close()


def _read(monkeypatch, *addresses, limit_s=60.0):
    split = [address.rpartition(":") for address in addresses]
    override_settings(monkeypatch, web={"dns_servers": tuple((host, int(port)) for host, _, port in split)})
    return name_servers.read(_EXPECTED, limit_s=limit_s)


class _FixedReplyServer:
    """A DNS server that answers every query with its id and fixed bytes."""

    def __init__(self, answer):
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._answer = answer
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while packet := self._socket.recvfrom(4096):
            if not packet[0]:
                return
            self._socket.sendto(packet[0][:2] + self._answer(packet[0]), packet[1])

    def close(self):
        self._socket.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()


def test_silent_failing_empty_and_missing_names_have_distinct_results(server, monkeypatch):
    server.silent = {_EXPECTED.name}
    silent = _read(monkeypatch, server.address, limit_s=0.3).end.kind
    server.silent, server.broken = set(), {_EXPECTED.name}
    failed = _read(monkeypatch, server.address).end.kind
    server.broken, server.zone = set(), {(_EXPECTED.name, "MX"): ["10 mx.adapters.example."]}
    empty = _read(monkeypatch, server.address).end.kind
    server.zone = {}

    assert [silent, failed, empty, _read(monkeypatch, server.address).end.kind] == [
        ReplyKind.Silent,
        ReplyKind.Failed,
        ReplyKind.Empty,
        ReplyKind.NoName,
    ]


def test_cname_chain_stops_at_the_expected_host_and_addresses_are_read(server, monkeypatch):
    server.zone = {
        (_EXPECTED.name, "CNAME"): ["Hop.adapters.example."],
        ("hop.adapters.example", "CNAME"): ["AFFILIATES.adapters.example."],
        (_EXPECTED.target, "CNAME"): ["behind.adapters.example."],
    }
    via_cname = _read(monkeypatch, server.address)
    server.zone = {(_EXPECTED.name, "A"): ["192.0.2.1"], (_EXPECTED.name, "AAAA"): ["2001:db8::1"]}
    via_addresses = _read(monkeypatch, server.address)

    assert via_cname.chain == ("hop.adapters.example", _EXPECTED.target)
    assert (_EXPECTED.target, "CNAME") not in server.queries
    assert (via_addresses.chain, via_addresses.addresses.values) == ((), ("192.0.2.1", "2001:db8::1"))


@pytest.mark.parametrize(
    "answer",
    [
        lambda query: b"",
        lambda query: b"\x00",
        lambda query: b"\xff" * 500,
        lambda query: query[2:],
        lambda query: b"\x83\x80" + query[4:],  # truncated, and no TCP server has the rest
        lambda query: b"\x81\x85" + query[4:],  # REFUSED
    ],
    ids=["nothing", "a byte", "noise", "the question", "truncated", "refused"],
)
def test_unreadable_reply_is_not_definite(monkeypatch, answer):
    fixed_server = _FixedReplyServer(answer)
    reading = _read(monkeypatch, fixed_server.address, limit_s=0.3)
    fixed_server.close()

    assert {reply.is_definite for reply in (reading.texts, reading.end)} == {False}


def test_next_server_is_queried_if_the_first_is_silent(server, monkeypatch):
    server.zone = {(_EXPECTED.name, "CNAME"): [f"{_EXPECTED.target}."]}
    silent_socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    silent_socket.bind(("127.0.0.1", 0))

    reading = _read(monkeypatch, f"127.0.0.1:{silent_socket.getsockname()[1]}", server.address)
    silent_socket.close()

    assert reading.chain == (_EXPECTED.target,)


def test_reading_slots_are_limited_and_released():
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(name_servers.reading_slot())
        with pytest.raises(name_servers.TooManyReadings):
            stack.enter_context(name_servers.reading_slot())
    with name_servers.reading_slot():
        pass
