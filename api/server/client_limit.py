"""The maximum number of clients of a process: as configured, unless the system allows fewer descriptors."""

import resource
from contextlib import suppress

# Descriptors that are reserved for everything except clients.
_OTHER_FILES = 256
_MIN_CLIENTS = 64


def max_clients(configured: int) -> int:
    """Raise the system's limit of descriptors as far as needed and return how many clients may be connected."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = configured + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(hard, needed)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return configured if soft == resource.RLIM_INFINITY else max(_MIN_CLIENTS, min(configured, soft - _OTHER_FILES))
