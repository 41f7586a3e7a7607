"""The client of a primary that Sentinels watch: every new connection asks them for its address.

A demoted primary replies READONLY; the client treats that as a lost connection and asks again. Writes that the old
primary did not replicate are lost, as after any loss of the broker.
"""

from typing import Any, cast

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel

from settings.broker_address import BrokerAddress

_LOGIN = {"sentinel_username": "username", "sentinel_password": "password"}


def primary(address: BrokerAddress, **timeouts: float) -> redis.Redis:
    """Return a client of the current primary. Opens no connection yet, and repeats no command."""
    tls = {name: value for name, value in address.options.items() if name not in _LOGIN}
    common: dict[str, Any] = {**timeouts, **tls, "retry": Retry(NoBackoff(), 0)}
    login = {ours: address.options[name] for name, ours in _LOGIN.items() if name in address.options}
    if address.is_encrypted:
        common["ssl"] = True
    sentinel = Sentinel(address.hosts, sentinel_kwargs={**common, **login})
    client = sentinel.master_for(
        address.service, db=address.db, username=address.username, password=address.password, **common
    )
    return cast(redis.Redis, client)
