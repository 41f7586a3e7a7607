"""Where the database and the broker are: as the environment says, or the embedded pair, started if need be."""

import functools
from dataclasses import dataclass

import settings
from adapters import embedded


@dataclass(frozen=True, slots=True)
class Urls:
    """What to connect to. `database_owner_url` is the one that migrations use."""

    database_url: str
    database_owner_url: str
    redis_url: str


@functools.cache
def urls() -> Urls:
    """Return this process's URLs; starts the embedded servers that no URL replaces. Raises embedded.StartFailed."""
    chosen = settings.current()
    if chosen.database_url and chosen.redis_url:
        database_url, redis_url = chosen.database_url, chosen.redis_url
    else:
        started = embedded.start(chosen.data_dir, postgres=chosen.database_url is None, valkey=chosen.redis_url is None)
        database_url = chosen.database_url or started.database_url
        redis_url = chosen.redis_url or started.redis_url
    return Urls(database_url, chosen.database_owner_url or database_url, redis_url)
