"""Addresses of the broker: one server, Sentinels, a cluster, or RabbitMQ."""

import ast
from urllib.parse import parse_qsl, urlsplit

import pytest

import settings
from settings import BadSetting, broker_address
from settings.broker_address import BrokerAddress, Kind

_ADDRESSES = {
    "redis://h": BrokerAddress(Kind.One, "redis://h"),
    "redis+sentinel://a/mymaster": BrokerAddress(
        Kind.Sentinel, "redis+sentinel://a/mymaster", hosts=(("a", 26379),), service="mymaster"
    ),
    "rediss+sentinel://ann:p%40ss@a:1,[::1]:2,c/my%20one/3?sentinel_password=x&ssl_ca_certs=/ca.pem": BrokerAddress(
        Kind.Sentinel,
        "rediss+sentinel://ann:p%40ss@a:1,[::1]:2,c/my%20one/3?sentinel_password=x&ssl_ca_certs=/ca.pem",
        hosts=(("a", 1), ("::1", 2), ("c", 26379)),
        service="my one",
        db=3,
        username="ann",
        password="p@ss",
        is_encrypted=True,
        options={"sentinel_password": "x", "ssl_ca_certs": "/ca.pem"},
    ),
    "redis+cluster://:p@a:7000,b/0": BrokerAddress(
        Kind.Cluster, "redis+cluster://:p@a:7000,b/0", hosts=(("a", 7000), ("b", 6379)), password="p"
    ),
    "rediss+cluster://a": BrokerAddress(Kind.Cluster, "rediss+cluster://a", hosts=(("a", 6379),), is_encrypted=True),
}

_BAD_REDIS = {
    "http://:s3cret@h": "it must begin with redis://",
    "redis+somewhere://:s3cret@h": "it must begin with redis://",
    "s3cret": "it must begin with redis://",
    "unix+sentinel://h/s3cret": "it must begin with redis://",
    "redis://:s3cret@": "it names no host",
    "redis://:s3cret@a,b": "schemes of their own",
    "redis://:s3cret@a:70000": "a port from 1 to 65535",
    "redis://:s3cret@a/first": "its database must be a number",
    "redis://:s3cret[@a": "it is not a valid URL",
    "unix://": "the path of a socket",
    "redis://:s3cret@a?ssl_ca_certs=/ca.pem": "need rediss://",
    "redis+sentinel://:s3cret@a:1,b:2": "the name of the service that the Sentinels watch",
    "redis+sentinel://:s3cret@a:1,,b:2/m": "its hosts must be names or addresses",
    "redis+sentinel://:s3cret@a:0/m": "a port from 1 to 65535",
    "redis+sentinel://:s3cret@a:1/m/one": "its database must be a number",
    "redis+sentinel://:s3cret@a:1/m/²": "its database must be a number",
    "redis+sentinel://:s3cret@a:1/m?password=s3cret": "after ? only these may follow: ssl_ca_certs",
    "redis+sentinel://:s3cret@a:1/m?ssl_ca_certs=/ca.pem": "need rediss+",
    "redis+cluster://:s3cret@a/1": "a cluster has no databases",
    "redis+cluster://:s3cret@a?sentinel_password=s3cret": "after ? only these may follow: ssl_ca_certs",
    "redis+cluster://:s3cret@": "its hosts must be names or addresses",
}

_NODES = {
    "amqp://h": ("amqp://h:5672",),
    "amqps://u:p%2Fw@a,b:1,[::1]/v%2Fh?heartbeat=5": (
        "amqps://u:p%2Fw@a:5671/v%2Fh?heartbeat=5",
        "amqps://u:p%2Fw@b:1/v%2Fh?heartbeat=5",
        "amqps://u:p%2Fw@[::1]:5671/v%2Fh?heartbeat=5",
    ),
}
_TLS_NODES = {
    "amqps://a/v?ssl_ca_certs=/ca.pem&heartbeat=5": {"ca_certs": "/ca.pem"},
    "amqps://a?ssl_ca_certs=/it%27s.pem&ssl_certfile=/c&ssl_keyfile=/k": {
        "ca_certs": "/it's.pem",
        "certfile": "/c",
        "keyfile": "/k",
    },
}
_BAD_AMQP = {
    "redis://:s3cret@h": "it must begin with amqp://",
    "amqp://u:s3cret@": "its hosts must be names",
    "amqp://u:s3cret@a,b:0/v": "a port from 1 to 65535",
    "amqp://u:s3cret@a/v/w": "a virtual host",
    "amqp://u:s3cret@a/v?ssl_ca_certs=/ca.pem": "need amqps://",
    "amqps://u:s3cret@a/v?ssl_certfile=/c.pem": "ssl_ca_certs",
    "amqp://u:s3cret[@a": "it is not a valid URL",
}


def test_address_has_hosts_login_database_and_tls():
    for url, address in _ADDRESSES.items():
        assert broker_address.parse(url) == address, url
    assert settings.read({"REDIS_URL": "redis+cluster://a,b"}).servers.redis_url == "redis+cluster://a,b"


def test_every_rabbitmq_node_gets_a_url():
    for url, nodes in _NODES.items():
        assert broker_address.parse_amqp(url) == nodes, url
    assert settings.read({"BROKER_URL": "amqp://h/v"}).servers.broker_url == "amqp://h/v"


def test_tls_files_become_ssl_options_of_rabbitmq():
    for url, files in _TLS_NODES.items():
        (node,) = broker_address.parse_amqp(url)
        query = dict(parse_qsl(urlsplit(node).query))
        assert ast.literal_eval(query["ssl_options"]) == files, url
        assert query.get("heartbeat") == ("5" if "heartbeat" in url else None), url


def test_missing_tls_file_raises_error(tmp_path):
    file = tmp_path / "ca.pem"
    file.touch()
    for name, url in (
        ("REDIS_URL", "rediss://h?ssl_ca_certs={}"),
        ("REDIS_URL", "rediss+sentinel://h/m?ssl_certfile={}"),
        ("REDIS_URL", "rediss+cluster://h?ssl_keyfile={}"),
        ("BROKER_URL", "amqps://h?ssl_ca_certs={}"),
    ):
        settings.read({name: url.format(file)})
        with pytest.raises(BadSetting, match=f"{name} names a file for TLS that does not exist: /no.pem"):
            settings.read({name: url.format("/no.pem")})


def test_rabbitmq_without_client_library_raises_error(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "pika" else name)

    with pytest.raises(BadSetting, match=r"BROKER_URL leads to RabbitMQ, for which pika is not installed"):
        settings.read({"BROKER_URL": "amqp://h/v"})


def test_invalid_address_raises_error_with_reason_and_without_secret():
    cases = [("REDIS_URL", *case) for case in _BAD_REDIS.items()]
    cases += [("BROKER_URL", *case) for case in _BAD_AMQP.items()]
    for name, url, reason in cases:
        with pytest.raises(BadSetting) as error:
            settings.read({name: url})
        message = str(error.value)
        assert message.startswith(f"{name} cannot be used: "), url
        assert reason in message, (url, message)
        assert "s3cret" not in message, url
