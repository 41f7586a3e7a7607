"""URLs of the database and the broker: from the environment, or of the data folder's embedded servers."""

import functools
from dataclasses import dataclass

import settings
from adapters.embedded import server_pair
from settings.concerns.servers import Servers


@dataclass(frozen=True, slots=True)
class Urls:
    """Server URLs. Migrations use `database_owner_url`; without `broker_url` Redis is the broker, too."""

    database_url: str
    database_owner_url: str
    redis_url: str
    broker_url: str | None = None


@functools.cache
def urls() -> Urls:
    """Return this process's URLs, without connecting or starting anything."""
    chosen = settings.current().servers
    embedded = server_pair.build_urls(chosen.data_dir)
    database_url = chosen.database_url or embedded.database_url
    owner_url = chosen.database_owner_url or server_pair.find_owner_url(database_url) or chosen.database_url
    return Urls(
        database_url,
        owner_url or embedded.database_owner_url,
        chosen.redis_url or embedded.redis_url,
        broker_url=chosen.broker_url,
    )


def start() -> None:
    """Start the embedded servers that no URL replaces. Raises embedded.StartFailed."""
    chosen = settings.current().servers
    names = embedded_names(chosen)
    if names:
        server_pair.start(chosen.data_dir, postgres="postgres" in names, valkey="valkey" in names)


def embedded_names(chosen: Servers) -> list[str]:
    """Return which of 'postgres' and 'valkey' are the embedded ones."""
    urls_by_name = {"postgres": chosen.database_url, "valkey": chosen.redis_url}
    return [name for name, url in urls_by_name.items() if url is None]


def is_database_stopped() -> bool:
    """Return whether the database is the embedded one and is not running."""
    data_dir = settings.current().servers.data_dir
    is_embedded = urls().database_url == server_pair.build_urls(data_dir).database_url
    return is_embedded and server_pair.status(data_dir)["postgres"] == "stopped"
