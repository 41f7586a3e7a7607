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
    config = settings.current().servers
    embedded = server_pair.build_urls(config.data_dir)
    database_url = config.database_url or embedded.database_url
    owner_url = config.database_owner_url or server_pair.find_owner_url(database_url) or config.database_url
    return Urls(
        database_url,
        owner_url or embedded.database_owner_url,
        config.redis_url or embedded.redis_url,
        broker_url=config.broker_url,
    )


def start() -> None:
    """Start the embedded servers that no URL replaces. Raises embedded.StartFailed."""
    config = settings.current().servers
    names = embedded_names(config)
    if names:
        server_pair.start(config.data_dir, postgres="postgres" in names, valkey="valkey" in names)


def embedded_names(config: Servers) -> list[str]:
    """Return which of 'postgres' and 'valkey' are the embedded ones."""
    urls_by_name = {"postgres": config.database_url, "valkey": config.redis_url}
    return [name for name, url in urls_by_name.items() if url is None]


def is_database_stopped() -> bool:
    """Return whether the database is the embedded one and is not running."""
    data_dir = settings.current().servers.data_dir
    is_embedded = urls().database_url == server_pair.build_urls(data_dir).database_url
    return is_embedded and server_pair.status(data_dir)["postgres"] == "stopped"
