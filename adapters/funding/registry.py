"""Which funding source the settings configure: the account of the processor that pays connected accounts."""

import functools

import settings
from adapters.funding.base import FundingSource
from adapters.funding.processor import ProcessorFunding


def find_source() -> FundingSource | None:
    """Return the source, None when the operator has not set up the processor."""
    return _of_this_process()


def is_stood_in_for() -> bool:
    """Return whether the sandbox replaces the source: on a machine with its own servers and no processor."""
    return find_source() is None and settings.current().servers.database_url is None


@functools.cache
def _of_this_process() -> FundingSource | None:
    access = settings.current().rails.processor
    return None if access is None else ProcessorFunding(url=access.url, key=access.key)
