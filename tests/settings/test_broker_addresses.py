"""Where the broker is, as one server, watched by Sentinels, or as a cluster."""

import ast
from urllib.parse import parse_qsl, urlsplit

import pytest

import settings
from settings import BadSetting, broker_address
from settings.broker_address import BrokerAddress, Kind

_READ = {
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

_REFUSED = {
    "http://:s3cret@h": "it must begin with redis://",
    "redis+somewhere://:s3cret@h": "it must begin with redis://",
    "s3cret": "it must begin with redis://",
    "unix+sentinel://h/s3cret": "it must begin with redis://",
    "redis://:s3cret@": "it names no host",
    "redis://:s3cret@a,b": "a scheme of their own",
    "redis://:s3cret@a:70000": "a port from 1 to 65535",
    "redis://:s3cret@a/first": "its database must be a number",
    "redis://:s3cret[@a": "it is no URL",
    "unix://": "the path of a socket",
    "redis://:s3cret@a?ssl_ca_certs=/ca.pem": "needs rediss://",
    "redis+sentinel://:s3cret@a:1,b:2": "the name of what they watch",
    "redis+sentinel://:s3cret@a:1,,b:2/m": "its hosts must be names or addresses",
    "redis+sentinel://:s3cret@a:0/m": "a port from 1 to 65535",
    "redis+sentinel://:s3cret@a:1/m/one": "its database must be a number",
    "redis+sentinel://:s3cret@a:1/m/²": "its database must be a number",
    "redis+sentinel://:s3cret@a:1/m?password=s3cret": "after ? only these may follow: ssl_ca_certs",
    "redis+sentinel://:s3cret@a:1/m?ssl_ca_certs=/ca.pem": "needs rediss+",
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
_NO_RABBITS = {
    "redis://:s3cret@h": "it must begin with amqp://",
    "amqp://u:s3cret@": "its hosts must be names",
    "amqp://u:s3cret@a,b:0/v": "a port from 1 to 65535",
    "amqp://u:s3cret@a/v/w": "a virtual host",
    "amqp://u:s3cret@a/v?ssl_ca_certs=/ca.pem": "needs amqps://",
    "amqps://u:s3cret@a/v?ssl_certfile=/c.pem": "ssl_ca_certs",
    "amqp://u:s3cret[@a": "it is no URL",
}


def test_an_address_names_hosts_login_database_and_tls():
    for url, meant in _READ.items():
        assert broker_address.parse(url) == meant, url
    assert settings.read({"REDIS_URL": "redis+cluster://a,b"}).servers.redis_url == "redis+cluster://a,b"


def test_every_node_of_a_rabbitmq_gets_a_url():
    for url, nodes in _NODES.items():
        assert broker_address.parse_amqp(url) == nodes, url
    assert settings.read({"BROKER_URL": "amqp://h/v"}).servers.broker_url == "amqp://h/v"


def test_what_is_said_of_tls_is_told_to_the_client_of_rabbitmq_in_its_own_way():
    for url, files in _TLS_NODES.items():
        (node,) = broker_address.parse_amqp(url)
        query = dict(parse_qsl(urlsplit(node).query))
        assert ast.literal_eval(query["ssl_options"]) == files, url
        assert query.get("heartbeat") == ("5" if "heartbeat" in url else None), url


def test_a_file_for_tls_that_is_not_there_is_refused_at_the_start(tmp_path):
    there = tmp_path / "ca.pem"
    there.touch()
    for name, url in (
        ("REDIS_URL", "rediss://h?ssl_ca_certs={}"),
        ("REDIS_URL", "rediss+sentinel://h/m?ssl_certfile={}"),
        ("REDIS_URL", "rediss+cluster://h?ssl_keyfile={}"),
        ("BROKER_URL", "amqps://h?ssl_ca_certs={}"),
    ):
        settings.read({name: url.format(there)})
        with pytest.raises(BadSetting, match=f"{name} names a file for TLS that is not there: /no.pem"):
            settings.read({name: url.format("/no.pem")})


def test_a_rabbitmq_without_its_client_is_refused(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "pika" else name)

    with pytest.raises(BadSetting, match=r"BROKER_URL leads to RabbitMQ, for which pika is not installed"):
        settings.read({"BROKER_URL": "amqp://h/v"})


def test_an_address_that_cannot_be_used_is_refused_with_what_is_wrong_and_without_being_shown():
    refusals = [("REDIS_URL", *refusal) for refusal in _REFUSED.items()]
    refusals += [("BROKER_URL", *refusal) for refusal in _NO_RABBITS.items()]
    for name, url, what in refusals:
        with pytest.raises(BadSetting) as refused:
            settings.read({name: url})
        said = str(refused.value)
        assert said.startswith(f"{name} cannot be used: "), url
        assert what in said, (url, said)
        assert "s3cret" not in said, url
