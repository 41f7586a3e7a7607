"""What the service tells about itself."""

from dataclasses import dataclass

from settings.parsers import choice, text, whole
from settings.table import Concern, setting


@dataclass(frozen=True, slots=True)
class Monitoring(Concern):
    """Log lines and Prometheus numbers."""

    log_format: str = setting("LOG_FORMAT", choice("json", "console"), "json", "`json` or `console`")
    log_level: str = setting(
        "LOG_LEVEL", choice("debug", "info", "warning", "error"), "info", "`debug`, `info`, `warning` or `error`"
    )
    metrics_token: str | None = setting(
        "METRICS_TOKEN", text, None, "bearer for `/metrics`; without it only this machine may read", is_secret=True
    )
    metrics_port: int = setting(
        "METRICS_PORT",
        whole(0, 65535),
        0,
        "a worker fleet on a machine of its own serves its numbers here",
        shown="none",
    )
