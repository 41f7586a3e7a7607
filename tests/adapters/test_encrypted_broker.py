"""The broker's server behind TLS, with a certificate of a private authority, over every kind of connection."""

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
def trusted_certificate(tmp_path_factory):
    """The folder of a self-signed certificate for this machine."""
    return certificate.ensure_certificate(tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def other_certificate(tmp_path_factory):
    """The folder of another self-signed certificate for the same names."""
    return certificate.ensure_certificate(tmp_path_factory.mktemp("theirs"))


def _socket() -> Path:
    return Path(urlsplit(servers.urls().redis_url).path)


def _url(port: int, folder: Path, *, host: str = "127.0.0.1", more: str = "") -> str:
    db = parse_qs(urlsplit(servers.urls().redis_url).query).get("db", ["0"])[0]
    return f"rediss://{host}:{port}/{db}?ssl_ca_certs={folder / 'cert.pem'}{more}"


def test_server_with_a_trusted_certificate_works(app, trusted_certificate):
    with encrypted_broker.serve_tls(_socket(), trusted_certificate) as port:
        url = _url(port, trusted_certificate)
        connection = ThreadRedis(url)
        carrier = ValkeyCarrier(client=broker.client(url), middleware=[])

        assert broker.client(url).ping()
        assert [connection.run(_TWICE, 0, number) for number in (1, 2, 3)] == [2, 4, 6]
        # Unrequested data after the handshake is no close: the connection stays the same.
        assert connection.send("CLIENT", "ID") == connection.send("CLIENT", "ID")
        assert "maxmemory_policy" in broker.server_info(broker.client(url), "any", "memory")
        carrier.declare_queue("sales")
        assert carrier.get_declared_queues() == {"sales"}


def test_server_with_another_certificate_or_name_is_refused(app, trusted_certificate, other_certificate):
    with encrypted_broker.serve_tls(_socket(), trusted_certificate) as port:
        for url in (
            _url(port, other_certificate),
            _url(port, trusted_certificate, host="127.0.0.2"),
            f"rediss://127.0.0.1:{port}",
        ):
            with pytest.raises(RedisError):
                broker.client(url).ping()
            with pytest.raises(RedisError):
                ThreadRedis(url).run(_TWICE, 0, 1)


def test_client_certificate_is_presented_on_request(app, trusted_certificate, other_certificate):
    with encrypted_broker.serve_tls(_socket(), trusted_certificate, client_ca=other_certificate / "cert.pem") as port:
        client_query = f"&ssl_certfile={other_certificate / 'cert.pem'}&ssl_keyfile={other_certificate / 'key.pem'}"

        assert broker.client(_url(port, trusted_certificate, more=client_query)).ping()
        with pytest.raises(RedisError):
            broker.client(_url(port, trusted_certificate)).ping()
