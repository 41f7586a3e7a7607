"""Parses the address of the broker: one server, a primary that Sentinels name, a cluster, or RabbitMQ.

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
_MAX_DATABASES = 2**16


class Kind(StrEnum):
    """The kind of installation at an address."""

    One = "one"
    Sentinel = "sentinel"
    Cluster = "cluster"


_AMQP_PORTS = {"amqp": 5672, "amqps": 5671}
_PORTS = {Kind.Sentinel: 26379, Kind.Cluster: 6379}


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """The address of a broker. For one server it has only the URL, which the client library parses itself.

    `hosts` are Sentinels or nodes of a cluster; some are enough, since they name the others. `options` are those of
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
    """Return the address in `url`. Raises ValueError with the reason, which never quotes the URL."""
    parts = _split(url)
    if parts.scheme in _ONE_SERVER:
        return _one_server(url, parts)
    scheme, plus, kind = parts.scheme.partition("+")
    if not plus or scheme not in ("redis", "rediss") or kind not in (Kind.Sentinel, Kind.Cluster):
        raise ValueError(f"it must begin with {_FORMS}")
    return _several_servers(url, parts, Kind(kind))


def parse_amqp(url: str) -> tuple[str, ...]:
    """Return the URL of every RabbitMQ node in `url`. Raises ValueError with the reason, which never quotes the URL."""
    parts = _split(url)
    if parts.scheme not in _AMQP_PORTS:
        raise ValueError("it must begin with amqp://, or amqps:// for TLS")
    if "/" in parts.path[1:] or parts.fragment:
        raise ValueError("the name of a virtual host follows the hosts; percent-encode a slash in it")
    login, at, hosts_text = parts.netloc.rpartition("@")
    hosts = _hosts(hosts_text, default_port=_AMQP_PORTS[parts.scheme])
    nodes = (f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in hosts)
    query = _amqp_query(parts)
    return tuple(parts._replace(netloc=f"{login}{at}{node}", query=query).geturl() for node in nodes)


def _amqp_query(parts: SplitResult) -> str:
    """Return the query in the form that RabbitMQ's client parses: the TLS files as a dictionary in one value."""
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    files = {name.removeprefix("ssl_"): options.pop(name) for name in _TLS if name in options}
    if not files:
        return parts.query
    if parts.scheme != "amqps":
        raise ValueError("options of TLS need amqps:// as the scheme")
    if "ca_certs" not in files:
        raise ValueError("a client certificate (ssl_certfile) needs the authorities to trust as well (ssl_ca_certs)")
    return urlencode(options | {"ssl_options": repr(files)})


def tls_files(url: str) -> tuple[str, ...]:
    """Return the TLS files in a valid URL: authorities, client certificate and key."""
    options = dict(parse_qsl(urlsplit(url).query))
    return tuple(options[name] for name in _TLS if name in options)


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # the original message quotes the password
        raise ValueError("it is not a valid URL; percent-encode special characters in user and password") from None


def _one_server(url: str, parts: SplitResult) -> BrokerAddress:
    if parts.scheme == "unix":
        if not parts.path:
            raise ValueError("the path of a socket must follow unix://")
        return BrokerAddress(Kind.One, url)
    if "," in parts.netloc.rpartition("@")[2]:
        raise ValueError("it names several hosts; Sentinels and clusters have schemes of their own")
    if parts.hostname is None:
        raise ValueError("it names no host")
    _hosts(parts.netloc.rpartition("@")[2], default_port=6379)
    _db(parts.path.strip("/"))
    if parts.scheme != "rediss" and any(name in _TLS for name, _ in parse_qsl(parts.query)):
        raise ValueError("options of TLS need rediss:// as the scheme")
    return BrokerAddress(Kind.One, url)


def _several_servers(url: str, parts: SplitResult, kind: Kind) -> BrokerAddress:
    login, _, hosts_text = parts.netloc.rpartition("@")
    username, _, password = login.partition(":")
    service, _, db = parts.path.strip("/").partition("/")
    if kind is Kind.Sentinel and not service:
        raise ValueError(
            "the name of the service that the Sentinels watch must follow them: redis+sentinel://host:26379/mymaster"
        )
    if kind is Kind.Cluster and (service not in ("", "0") or db):
        raise ValueError("a cluster has no databases and no service: nothing may follow its hosts")
    return BrokerAddress(
        kind,
        url,
        hosts=_hosts(hosts_text, default_port=_PORTS[kind]),
        service=unquote(service) if kind is Kind.Sentinel else "",
        db=_db(db) if kind is Kind.Sentinel else 0,
        username=unquote(username) or None,
        password=unquote(password) or None,
        is_encrypted=parts.scheme.startswith("rediss"),
        options=_options(parts, kind),
    )


def _hosts(text: str, *, default_port: int) -> tuple[tuple[str, int], ...]:
    matches = [_HOST.fullmatch(part.strip()) for part in text.split(",")]
    hosts = [(match["host"].strip("[]"), int(match["port"] or default_port)) for match in matches if match]
    if len(hosts) < len(matches) or not all(0 < port < 2**16 for _, port in hosts):
        raise ValueError(
            "its hosts must be names or addresses, each with or without a port from 1 to 65535 and with commas between"
            " them; percent-encode special characters in the password"
        )
    return tuple(hosts)


def _db(text: str) -> int:
    if text and not (text.isascii() and text.isdigit() and int(text) < _MAX_DATABASES):
        raise ValueError("its database must be a number, such as 0")
    return int(text or 0)


def _options(parts: SplitResult, kind: Kind) -> dict[str, str]:
    allowed = (*_TLS, *_LOGIN_AT_SENTINEL) if kind is Kind.Sentinel else _TLS
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = sorted(set(options) - set(allowed))
    if unknown or parts.fragment:
        raise ValueError(f"after ? only these may follow: {', '.join(allowed)}")
    if not parts.scheme.startswith("rediss") and any(name in _TLS for name in options):
        raise ValueError("options of TLS need rediss+… as the scheme")
    return options
