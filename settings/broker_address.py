"""Reads where the broker's server is: one server, what Sentinel says is the primary, or a cluster; or RabbitMQ.

redis://user:password@host:6379/0                      rediss:// with TLS, unix:///path/valkey.sock?db=0
redis+sentinel://user:password@a:26379,b,c/service/0   rediss+sentinel:// with TLS
redis+cluster://user:password@a:6379,b,c               rediss+cluster:// with TLS
amqp://user:password@a:5672,b,c/vhost                  amqps:// with TLS
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

_FORMS = "redis://, rediss://, unix://, redis+sentinel:// or redis+cluster:// (rediss+… for TLS)"
_ONE_SERVER = ("redis", "rediss", "unix")
_LOGIN_AT_SENTINEL = ("sentinel_username", "sentinel_password")
_TLS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
_HOST = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:(?P<port>[0-9]{1,5}))?")
_MOST_DATABASES = 2**16


class Kind(StrEnum):
    """Who is at an address."""

    One = "one"
    Sentinel = "sentinel"
    Cluster = "cluster"


_AMQP_PORTS = {"amqp": 5672, "amqps": 5671}
_PORTS = {Kind.Sentinel: 26379, Kind.Cluster: 6379}


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """What to connect to. Of one server only the URL is told, which its client reads by itself.

    `hosts` are Sentinels, or nodes of a cluster: some are enough, the others are learned from them. `options` are of
    TLS, and the login at the Sentinels.
    """

    kind: Kind
    url: str = field(repr=False)
    hosts: tuple[tuple[str, int], ...] = ()
    service: str = ""
    db: int = 0
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    is_encrypted: bool = False
    options: Mapping[str, str] = field(default_factory=dict, repr=False)


def parse(url: str) -> BrokerAddress:
    """Return what `url` names; ValueError says what is wrong with it and never quotes it."""
    parts = _split(url)
    if parts.scheme in _ONE_SERVER:
        return _one(url, parts)
    scheme, plus, kind = parts.scheme.partition("+")
    if not plus or scheme not in ("redis", "rediss") or kind not in (Kind.Sentinel, Kind.Cluster):
        raise ValueError(f"it must begin with {_FORMS}")
    return _many(url, parts, Kind(kind))


def parse_amqp(url: str) -> tuple[str, ...]:
    """Return the URL of every node of RabbitMQ that `url` names; ValueError says what is wrong and never quotes it."""
    parts = _split(url)
    if parts.scheme not in _AMQP_PORTS:
        raise ValueError("it must begin with amqp://, or amqps:// for TLS")
    if "/" in parts.path[1:] or parts.fragment:
        raise ValueError("after the hosts comes the name of a virtual host; percent-encode a slash in it")
    login, at, named = parts.netloc.rpartition("@")
    hosts = _hosts(named, default_port=_AMQP_PORTS[parts.scheme])
    each = (f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in hosts)
    query = _amqp_query(parts)
    return tuple(parts._replace(netloc=f"{login}{at}{node}", query=query).geturl() for node in each)


def _amqp_query(parts: SplitResult) -> str:
    """Return what follows the `?` as the client of RabbitMQ reads it: files of TLS as a dictionary in one value."""
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    files = {name.removeprefix("ssl_"): options.pop(name) for name in _TLS if name in options}
    if not files:
        return parts.query
    if parts.scheme != "amqps":
        raise ValueError("what is said of TLS needs amqps:// as its scheme")
    if "ca_certs" not in files:
        raise ValueError("who says who we are (ssl_certfile) says whom to trust as well (ssl_ca_certs)")
    return urlencode(options | {"ssl_options": repr(files)})


def tls_files(url: str) -> tuple[str, ...]:
    """Return the files that a URL which was parsed names for TLS: whom to trust, and who we are."""
    found = dict(parse_qsl(urlsplit(url).query))
    return tuple(found[name] for name in _TLS if name in found)


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # its text quotes the password
        raise ValueError("it is no URL; percent-encode what is special in user and password") from None


def _one(url: str, parts: SplitResult) -> BrokerAddress:
    if parts.scheme == "unix":
        if not parts.path:
            raise ValueError("after unix:// comes the path of a socket")
        return BrokerAddress(Kind.One, url)
    if "," in parts.netloc.rpartition("@")[2]:
        raise ValueError("it names several hosts; those of Sentinel or of a cluster have a scheme of their own")
    if parts.hostname is None:
        raise ValueError("it names no host")
    _hosts(parts.netloc.rpartition("@")[2], default_port=6379)
    _db(parts.path.strip("/"))
    if parts.scheme != "rediss" and any(name in _TLS for name, _ in parse_qsl(parts.query)):
        raise ValueError("what is said of TLS needs rediss:// as its scheme")
    return BrokerAddress(Kind.One, url)


def _many(url: str, parts: SplitResult, kind: Kind) -> BrokerAddress:
    login, _, named = parts.netloc.rpartition("@")
    username, _, password = login.partition(":")
    service, _, db = parts.path.strip("/").partition("/")
    if kind is Kind.Sentinel and not service:
        raise ValueError("after the Sentinels comes the name of what they watch: redis+sentinel://host:26379/mymaster")
    if kind is Kind.Cluster and (service not in ("", "0") or db):
        raise ValueError("a cluster has no databases and no service: nothing follows its hosts")
    return BrokerAddress(
        kind,
        url,
        hosts=_hosts(named, default_port=_PORTS[kind]),
        service=unquote(service) if kind is Kind.Sentinel else "",
        db=_db(db) if kind is Kind.Sentinel else 0,
        username=unquote(username) or None,
        password=unquote(password) or None,
        is_encrypted=parts.scheme.startswith("rediss"),
        options=_options(parts, kind),
    )


def _hosts(named: str, *, default_port: int) -> tuple[tuple[str, int], ...]:
    found = [_HOST.fullmatch(part.strip()) for part in named.split(",")]
    hosts = [(match["host"].strip("[]"), int(match["port"] or default_port)) for match in found if match]
    if len(hosts) < len(found) or not all(0 < port < 2**16 for _, port in hosts):
        raise ValueError(
            "its hosts must be names or addresses, each with or without a port from 1 to 65535 and with commas between"
            " them; percent-encode what is special in the password"
        )
    return tuple(hosts)


def _db(text: str) -> int:
    if text and not (text.isascii() and text.isdigit() and int(text) < _MOST_DATABASES):
        raise ValueError("its database must be a number, such as 0")
    return int(text or 0)


def _options(parts: SplitResult, kind: Kind) -> dict[str, str]:
    known = (*_TLS, *_LOGIN_AT_SENTINEL) if kind is Kind.Sentinel else _TLS
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = sorted(set(options) - set(known))
    if unknown or parts.fragment:
        raise ValueError(f"after ? only these may follow: {', '.join(known)}")
    if not parts.scheme.startswith("rediss") and any(name in _TLS for name in options):
        raise ValueError("what is said of TLS needs rediss+… as its scheme")
    return options
