"""The broker's server behind TLS, with a certificate of an authority of one's own: every way in which it is asked."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from redis import RedisError

from adapters import broker, servers
from adapters.thread_redis import Script, ThreadRedis
from commands.demo import certificate
from tests.adapters import encrypted_broker
from workers.carriers.valkey import ValkeyCarrier

_TWICE = Script("return tonumber(ARGV[1]) * 2")


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """The folder of a certificate for this machine that nobody signed but itself."""
    return certificate.made(tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """Another one, for the same names."""
    return certificate.made(tmp_path_factory.mktemp("theirs"))


def _socket() -> Path:
    return Path(urlsplit(servers.urls().redis_url).path)


def _url(port: int, folder: Path, *, host: str = "127.0.0.1", more: str = "") -> str:
    db = parse_qs(urlsplit(servers.urls().redis_url).query).get("db", ["0"])[0]
    return f"rediss://{host}:{port}/{db}?ssl_ca_certs={folder / 'cert.pem'}{more}"


def test_a_server_whose_certificate_is_trusted_is_asked_as_any_other(app, ours):
    with encrypted_broker.served(_socket(), ours) as port:
        url = _url(port, ours)
        wire = ThreadRedis(url)
        carrier = ValkeyCarrier(client=broker.client(url), middleware=[])

        assert broker.client(url).ping()
        assert [wire.run(_TWICE, 0, number) for number in (1, 2, 3)] == [2, 4, 6]
        # What the server says by itself after the handshake is no goodbye: the connection stays the same.
        assert wire.send("CLIENT", "ID") == wire.send("CLIENT", "ID")
        assert "maxmemory_policy" in broker.info_beside(broker.client(url), "any", "memory")
        carrier.declare_queue("sales")
        assert carrier.get_declared_queues() == {"sales"}


def test_a_server_with_another_certificate_or_name_is_told_nothing(app, ours, theirs):
    with encrypted_broker.served(_socket(), ours) as port:
        for url in (_url(port, theirs), _url(port, ours, host="127.0.0.2"), f"rediss://127.0.0.1:{port}"):
            with pytest.raises(RedisError):
                broker.client(url).ping()
            with pytest.raises(RedisError):
                ThreadRedis(url).run(_TWICE, 0, 1)


def test_a_server_that_wants_to_know_who_we_are_is_shown_our_certificate(app, ours, theirs):
    with encrypted_broker.served(_socket(), ours, trusts=theirs / "cert.pem") as port:
        shown = f"&ssl_certfile={theirs / 'cert.pem'}&ssl_keyfile={theirs / 'key.pem'}"

        assert broker.client(_url(port, ours, more=shown)).ping()
        with pytest.raises(RedisError):
            broker.client(_url(port, ours)).ping()
