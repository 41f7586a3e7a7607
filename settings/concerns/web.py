"""The web server: where it listens, who may call from a browser, and how often."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from domain.organization import host_names
from settings.parsers import addresses, base_url, domain, origins, text, whole
from settings.table import Concern, Variable, family, setting


def _limit(bucket: str, per_min: int, meaning: str) -> Variable[int]:
    return Variable(f"RATE_LIMIT_{bucket}_PER_MIN", whole(1), per_min, meaning)


@dataclass(frozen=True, slots=True)
class Web(Concern):
    """The web server and its limits. Per address means per IP: an IPv6 /64 is one, a /48 has 16 times as many."""

    port: int = setting("PORT", whole(1, 65535), 8000, "where the web server listens")
    bind: str = setting(
        "BIND",
        text,
        "127.0.0.1",
        "the address it listens on, or `unix:/path/of/a/socket`; see `docs/deploy.md` before you choose another",
    )
    public_base_url: str | None = setting(
        "PUBLIC_BASE_URL", base_url, None, "how the outside reaches it", shown="`http://127.0.0.1:PORT`"
    )
    trusted_proxies: int = setting(
        "TRUSTED_PROXIES", whole(0, 10), 0, "how many proxies in front to believe about the client's address"
    )
    processes: int = setting("WEB_CONCURRENCY", whole(1), 2, "web processes")
    threads: int = setting("WEB_THREADS", whole(1), 8, "threads in each")
    request_timeout_s: int = setting(
        "REQUEST_TIMEOUT_S", whole(1, 600), 10, "within how many seconds a request must have arrived whole"
    )
    upload_timeout_s: int = setting("UPLOAD_TIMEOUT_S", whole(1, 3600), 60, "the same for bodies over 64 KiB")
    answer_timeout_s: int = setting(
        "ANSWER_TIMEOUT_S",
        whole(1, 600),
        30,
        "within how many seconds a client must have taken an answer, and for each whole MiB of it as many again; one"
        " that takes nothing for so long is gone",
    )
    key_cache_s: int = setting(
        "KEY_CACHE_S", whole(0, 60), 5, "how long a web process may remember a key, session, plan, gateway or link"
    )
    cors_origins: tuple[str, ...] = setting(
        "CORS_ORIGINS",
        origins,
        (),
        "origins of your own dashboard and portal, `https://app.example.com,…`; branded subdomains and verified custom"
        " domains are let in without it",
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
        shown="the host of PUBLIC_BASE_URL, where that is a name",
    )
    dns_servers: tuple[tuple[str, int], ...] = setting(
        "DNS_SERVERS",
        addresses,
        (),
        "name servers that are asked what stands at a brand's domain, `192.0.2.53:53,…`",
        shown="the machine's own",
    )
    limits_per_min: Mapping[str, int] = family(
        {
            "standard": _limit("STANDARD", 600, "per user; a person and their API keys share one count"),
            "import": _limit("IMPORT", 6, "imports, per user"),
            "invite": _limit("INVITE", 10, "invitations, per user"),
            "strict_write": _limit(
                "STRICT_WRITE",
                10,
                "conversions by hand, where an affiliate is paid, and applications in the network, per user",
            ),
            "page_check": _limit("PAGE_CHECK", 10, "pages of a brand's site that are looked at, per user"),
            "domain_check": _limit("DOMAIN_CHECK", 10, "domains that are looked up in DNS, per user"),
            "tls_ask": _limit("TLS_ASK", 6000, "whether a host may have a certificate, per address: a proxy asks it"),
            "embed": _limit("EMBED", 60, "what a brand's site shows an affiliate, per embed token"),
            "apply": _limit("APPLY", 5, "the application form, per address"),
            "anonymous": _limit("ANONYMOUS", 60, "storefront and invite look-ups, and signing in, per address"),
            "anonymous_tracking": _limit("ANONYMOUS_TRACKING", 60, "clicks and leads, per address"),
            "s2s": _limit("S2S", 1500, "signed ingest, per address"),
            "unknown": _limit(
                "UNKNOWN",
                300,
                "API keys and browser origins that nobody has, per address. Past it the database is not asked for"
                " them one by one: a key is a 401 unless it is among all that are in force, an origin that a process"
                " does not know gets no CORS headers",
            ),
        }
    )

    @property
    def url(self) -> str:
        """How the outside reaches the service, without a slash at the end."""
        return self.public_base_url or f"http://127.0.0.1:{self.port}"

    @property
    def host(self) -> str:
        """The host in `url`, in lower case."""
        return urlsplit(self.url).hostname or ""

    @property
    def brands_target(self) -> str | None:
        """The host that brands' domains lead to; None where the service is reached by an address alone."""
        return self.domain_target or (self.host if host_names.is_host_name(self.host) else None)
