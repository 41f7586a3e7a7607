"""Logs, metrics and traces."""

from dataclasses import dataclass

from settings.parsers import choice, hosts_or_networks, http_url, text, whole_number
from settings.table import Concern, setting


@dataclass(frozen=True, slots=True)
class Monitoring(Concern):
    """Log lines, Prometheus metrics, and spans."""

    log_format: str = setting("LOG_FORMAT", choice("json", "console"), "json", "`json` or `console`")
    log_level: str = setting(
        "LOG_LEVEL", choice("debug", "info", "warning", "error"), "info", "`debug`, `info`, `warning` or `error`"
    )
    metrics_token: str | None = setting(
        "METRICS_TOKEN", text, None, "bearer for `/metrics`; without it only this machine may read them", is_secret=True
    )
    metrics_hosts: tuple[str, ...] = setting(
        "METRICS_HOSTS",
        hosts_or_networks,
        (),
        "further hosts at which `/metrics` and METRICS_PORT answer: names, addresses, or networks such as `10.0.0.0/8`;"
        " without it localhost and the host of PUBLIC_BASE_URL",
    )
    traces_url: str | None = setting(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        http_url,
        None,
        "where spans are sent by OTLP over HTTP, such as `http://collector:4318`, with the extra `traces`; other"
        " `OTEL_…` variables are the SDK's; see `docs/deploy/monitoring.md`",
    )
    metrics_port: int = setting(
        "METRICS_PORT",
        whole_number(0, 65535),
        0,
        "worker fleets, relay and clicks on a machine of their own serve their metrics at this port",
        default_text="none",
    )
