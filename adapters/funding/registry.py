"""The configured funding source: the account of the processor that pays connected accounts."""

import functools

import settings
from adapters.funding.base import FundingSource
from adapters.funding.processor import ProcessorFunding


def find_source() -> FundingSource | None:
    """Return the source, None if the operator has not configured the processor."""
    return _configured_source()


def is_replaced_by_sandbox() -> bool:
    """Return whether the sandbox replaces the source: on an installation with embedded servers and no processor."""
    return find_source() is None and settings.current().servers.database_url is None


@functools.cache
def _configured_source() -> FundingSource | None:
    access = settings.current().rails.processor
    return None if access is None else ProcessorFunding(url=access.url, key=access.key)
