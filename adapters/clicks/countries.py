"""The country of an address, from a file of networks that the operator provides. Finderfee has no such data.

The file is read once per process, into arrays (`domain.clicks.countries`) that forked processes share.
"""

import functools

import settings
from domain.clicks import countries
from domain.clicks.countries import BadCountries, CountryMap

_NAME = "NETWORK_COUNTRIES_FILE"


@functools.lru_cache(maxsize=4096)
def find_country(ip: str) -> str | None:
    """Return the ISO 3166 code of an address's country by NETWORK_COUNTRIES_FILE, or None.

    None without a file and for an invalid address. Raises BadSetting on first use if the file is invalid.
    """
    return load_map().country(ip)


@functools.cache
def load_map() -> CountryMap:
    """Return the networks of NETWORK_COUNTRIES_FILE, an empty map if it is not set. Raises BadSetting."""
    path = settings.current().fraud.countries_file
    if path is None:
        return countries.parse(())
    try:
        with path.open(encoding="utf-8-sig") as lines:
            return countries.parse(lines)
    except BadCountries as error:
        raise settings.BadSetting(f"{_NAME} is {str(path)!r}: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise settings.BadSetting(f"{_NAME} is {str(path)!r}, which cannot be read: {error}") from error
