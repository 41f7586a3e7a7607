"""The web server: where it listens, who may call from a browser, and how often."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from domain.organization import host_names
from settings.parsers import addresses, base_url, domain, origins, text, whole_number
from settings.table import Concern, NamedValue, named_values, setting

_LIMITS_PER_MIN = {
    "standard": (600, "per user; a person and their API keys share one count"),
    "import": (6, "imports, per user"),
    "invite": (10, "invitations, per user"),
    "strict_write": (
        10,
        "conversions entered by hand, changes of where an affiliate is paid, and applications in the network, per user",
    ),
    "page_check": (10, "checks of pages of a brand's site, per user"),
    "domain_check": (10, "DNS look-ups of domains, per user"),
    "tls_ask": (6000, "a proxy's questions whether a host may have a certificate, per address"),
    "embed": (60, "requests of the embed on a brand's site, per embed token"),
    "apply": (5, "the application form, per address"),
    "anonymous": (60, "storefront and invite look-ups, and signing in, per address"),
    "anonymous_tracking": (60, "clicks and leads, per address"),
    "s2s": (1500, "signed ingest, per address"),
    "unknown": (
        300,
        "unknown API keys and browser origins, per address. Over the limit the database is no longer queried for each:"
        " a key that is not among all valid keys is a 401, an origin that the process does not know gets no CORS"
        " headers",
    ),
}


def _limits() -> dict[str, NamedValue[int]]:
    return {
        bucket: NamedValue(whole_number(1), per_min, meaning, f"RATE_LIMIT_{bucket.upper()}_PER_MIN")
        for bucket, (per_min, meaning) in _LIMITS_PER_MIN.items()
    }


@dataclass(frozen=True, slots=True)
class Web(Concern):
    """The web server and its limits. Per address means per IP: an IPv6 /64 is one, a /48 has 16 times as many."""

    name: str = setting("SERVICE_NAME", text, "Finderfee", "the name of this installation on its front page")
    port: int = setting("PORT", whole_number(1, 65535), 8000, "where the web server listens")
    bind: str = setting(
        "BIND",
        text,
        "127.0.0.1",
        "the address it listens on, or `unix:/path/of/a/socket`; see `docs/deploy.md` before you choose another",
    )
    public_base_url: str | None = setting(
        "PUBLIC_BASE_URL", base_url, None, "the URL by which clients reach it", default_text="`http://127.0.0.1:PORT`"
    )
    trusted_proxies: int = setting(
        "TRUSTED_PROXIES",
        whole_number(0, 10),
        0,
        "how many proxies in front are trusted to report the client's address",
    )
    processes: int = setting("WEB_CONCURRENCY", whole_number(1), 2, "web processes")
    threads: int = setting("WEB_THREADS", whole_number(1), 8, "threads in each")
    timeouts_s: Mapping[str, int] = named_values(
        "WEB_TIMEOUTS_S",
        {
            "request": NamedValue(
                whole_number(1, 600), 10, "within how many seconds a request must arrive whole", "REQUEST_TIMEOUT_S"
            ),
            "upload": NamedValue(
                whole_number(1, 3600), 60, "the same for a request whose body is over 64 KiB", "UPLOAD_TIMEOUT_S"
            ),
            "answer": NamedValue(
                whole_number(1, 600),
                30,
                "within how many seconds a client must read a response, and for each whole MiB of it as many again; a"
                " client that reads nothing for so long is disconnected",
                "ANSWER_TIMEOUT_S",
            ),
        },
        "how long the web server waits for a client",
        example="10",
    )
    key_cache_s: int = setting(
        "KEY_CACHE_S", whole_number(0, 60), 5, "how long a web process may cache a key, session, plan, gateway or link"
    )
    cors_origins: tuple[str, ...] = setting(
        "CORS_ORIGINS",
        origins,
        (),
        "origins of your own dashboard and portal, `https://app.example.com,…`; branded subdomains and verified custom"
        " domains are allowed without it",
    )
    portal_domain: str | None = setting(
        "PORTAL_DOMAIN",
        domain,
        None,
        "the domain whose subdomains are the brands' portals: `acme.partners.example.com` for `partners.example.com`",
    )
    domain_target: str | None = setting(
        "DOMAIN_TARGET",
        domain,
        None,
        "the host that a brand's CNAME leads to, which proves that a domain is the brand's",
        default_text="the host of PUBLIC_BASE_URL, if that is a name",
    )
    dns_servers: tuple[tuple[str, int], ...] = setting(
        "DNS_SERVERS",
        addresses,
        (),
        "name servers that resolve brands' domains, `192.0.2.53:53,…`",
        default_text="the machine's own",
    )
    limits_per_min: Mapping[str, int] = named_values(
        "RATE_LIMITS_PER_MIN", _limits(), "how many requests a minute are answered", example="60"
    )

    @property
    def url(self) -> str:
        """Return the URL by which clients reach the service, without a slash at the end."""
        return self.public_base_url or f"http://127.0.0.1:{self.port}"

    @property
    def host(self) -> str:
        """Return the host in `url`, in lower case."""
        return urlsplit(self.url).hostname or ""

    @property
    def brands_target(self) -> str | None:
        """Return the host that brands' domains lead to; None if the service is reached by an IP address."""
        return self.domain_target or (self.host if host_names.is_host_name(self.host) else None)
