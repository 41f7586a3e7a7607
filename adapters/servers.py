"""Where the database and the broker are: as the environment says, or the embedded pair of the data folder."""

import functools
from dataclasses import dataclass

import settings
from adapters.embedded import pair
from settings.concerns.servers import Servers


@dataclass(frozen=True, slots=True)
class Urls:
    """What to connect to. Migrations use `database_owner_url`; without `broker_url` Redis carries messages, too."""

    database_url: str
    database_owner_url: str
    redis_url: str
    broker_url: str | None = None


@functools.cache
def urls() -> Urls:
    """Return this process's URLs; whether anybody answers there is not asked. Starts nothing."""
    chosen = settings.current().servers
    ours = pair.where(chosen.data_dir)
    database_url = chosen.database_url or ours.database_url
    owner_url = chosen.database_owner_url or pair.owner_of(database_url) or chosen.database_url
    return Urls(
        database_url,
        owner_url or ours.database_owner_url,
        chosen.redis_url or ours.redis_url,
        broker_url=chosen.broker_url,
    )


def start() -> None:
    """Start the embedded servers that no URL replaces. Raises embedded.StartFailed."""
    chosen = settings.current().servers
    wanted = embedded_names(chosen)
    if wanted:
        pair.start(chosen.data_dir, postgres="postgres" in wanted, valkey="valkey" in wanted)


def embedded_names(chosen: Servers) -> list[str]:
    """Return which of 'postgres' and 'valkey' are the embedded ones."""
    given = {"postgres": chosen.database_url, "valkey": chosen.redis_url}
    return [name for name, url in given.items() if url is None]


def is_database_asleep() -> bool:
    """Return whether the database is the embedded one and nobody has started it."""
    data_dir = settings.current().servers.data_dir
    is_embedded = urls().database_url == pair.where(data_dir).database_url
    return is_embedded and pair.status(data_dir)["postgres"] == "stopped"
