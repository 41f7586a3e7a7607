"""The outside world: one module per kind of system this product talks to."""

import sys


def _load_structlog_alone() -> None:
    """Load structlog as if rich was not installed, which some commands print with.

    It would have rich and pygments in memory for tracebacks that are text by then: three megabytes of every process.
    """
    if "rich" not in sys.modules:
        sys.modules["rich"] = None  # type: ignore[assignment]  # what importing it then says is that it is not there
        try:
            import structlog  # noqa: F401
        finally:
            del sys.modules["rich"]


_load_structlog_alone()
