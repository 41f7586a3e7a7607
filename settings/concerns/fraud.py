"""Settings of the fraud rules for clicks and leads."""

from dataclasses import dataclass
from pathlib import Path

from settings.parsers import http_url, name_server, path, text
from settings.table import Concern, setting


@dataclass(frozen=True, slots=True)
class Fraud(Concern):
    """Sources of the fraud rules other than the request itself."""

    networks_file: Path | None = setting(
        "FRAUD_NETWORKS_FILE",
        path,
        None,
        "a file of networks of data centres and anonymizers, one CIDR a line, `#` for comments; read at start",
    )
    countries_file: Path | None = setting(
        "NETWORK_COUNTRIES_FILE",
        path,
        None,
        "a file of networks and their countries, `192.0.2.0/24,DE` on each line, `#` for comments; the narrowest of"
        " them counts; read at start. Without it clicks have no country (`flask countries check`)",
    )
    dns: str = setting(
        "FRAUD_DNS",
        name_server,
        "system",
        "the resolver that checks whether a lead's domain accepts mail: `system`, `off`, or one server such as"
        " `192.0.2.53:53`",
    )
    scorer_url: str | None = setting(
        "FRAUD_SCORER_URL",
        http_url,
        None,
        "your own scorer of paid clicks and leads (the address of a lead is included): it receives them"
        ' as JSON and answers `{"score": 0..100, "reasons": ["some_name"]}` within 2 seconds; its points are added to'
        " those of Finderfee",
    )
    scorer_token: str | None = setting(
        "FRAUD_SCORER_TOKEN", text, None, "the bearer token for the scorer", is_secret=True
    )
