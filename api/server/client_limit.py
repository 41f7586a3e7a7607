"""How many clients a process may have: as many as it is told, unless the system gives it fewer descriptors."""

import resource
from contextlib import suppress

# The descriptors that are left to everything but clients.
_OTHER_FILES = 256
_MIN_CLIENTS = 64


def max_clients(configured: int) -> int:
    """Return how many clients may be connected, after asking the system for as many descriptors as that takes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = configured + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(hard, needed)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return configured if soft == resource.RLIM_INFINITY else max(_MIN_CLIENTS, min(configured, soft - _OTHER_FILES))
