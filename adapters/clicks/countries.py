"""Which country an address lies in, from a file of networks that the operator keeps. There is none of our own.

The file is read once per process, into arrays (`domain.clicks.countries`) that forked processes share.
"""

import functools

import settings
from domain.clicks import countries
from domain.clicks.countries import BadCountries, CountryMap

_NAME = "NETWORK_COUNTRIES_FILE"


@functools.lru_cache(maxsize=4096)
def country_of(ip: str) -> str | None:
    """Return the ISO 3166 code of an address's country as far as NETWORK_COUNTRIES_FILE says, else None.

    None without a file too, and when it is not an address. Raises BadSetting on first use when the file cannot be used.
    """
    return known().country(ip)


@functools.cache
def known() -> CountryMap:
    """Return the networks of NETWORK_COUNTRIES_FILE, none when it is not set. Raises BadSetting."""
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
