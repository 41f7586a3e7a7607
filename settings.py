"""Settings: one frozen object, read once from the environment, loud about what is wrong.

Units stand last in every name. README lists each variable; a test holds the two together.
"""

import contextlib
import functools
import ipaddress
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import getaddresses
from pathlib import Path

from domain.mail import smtp_address
from domain.payouts import rail_access, transfers
from domain.webhooks import delivery


class BadSetting(Exception):
    """An environment variable that cannot be used as it is; the message names it and says what would do."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that an operator or a test can turn."""

    database_url: str | None
    database_owner_url: str | None
    redis_url: str | None
    secret_key: str | None
    secret_key_previous: tuple[str, ...]
    data_dir: Path
    port: int
    public_base_url: str
    trusted_proxies: int
    log_format: str
    log_level: str
    metrics_token: str | None
    metrics_port: int | None
    key_cache_s: int
    rate_limits_per_min: Mapping[str, int]
    cors_origins: tuple[str, ...]
    portal_domain: str | None
    request_timeout_s: int
    upload_timeout_s: int
    job_lease_s: int
    click_claim_s: int
    job_slots: Mapping[str, int]
    webhook_attempts_at_s: tuple[int, ...]
    webhook_timeout_s: int
    webhook_allow_private: bool
    webhook_also_allow: tuple[tuple[str, int], ...]
    webhook_ca_bundle: str | None
    dashboard_jwt_issuer: str | None
    dashboard_jwt_audience: str
    dashboard_jwt_jwks: str | None
    affiliate_jwt_issuer: str | None
    affiliate_jwt_audience: str
    affiliate_jwt_jwks: str | None
    smtp: smtp_address.Server | None
    mail_from: str
    mail_per_minute: int
    fraud_networks_file: Path | None
    fraud_dns: str
    fraud_scorer_url: str | None
    fraud_scorer_token: str | None
    human_check_url: str | None
    human_check_secret: str | None
    human_check_script_url: str | None
    human_check_site_key: str | None
    rails: rail_access.Rails
    fx_feed_url: str | None
    payout_ask_again_s: tuple[int, ...]
    #: How many days each kind of `models.retention` is kept; 0 is for ever.
    retention_days: Mapping[str, int]

    def slots_per_thread(self, queue: str) -> int:
        """Return how many jobs of `queue` may be out per live worker thread."""
        return self.job_slots.get(queue, self.job_slots["default"])


#: HUMAN_CHECK_URL that takes tokens which this service signs itself.
LOCAL = "local"

# A sender that every server can take: the letters of the plain alphabet.
_SENDER = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+")


class _Environment:
    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values

    def text(self, name: str, default: str | None = None) -> str | None:
        value = self.values.get(name, "").strip()
        return value or default

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        value = self.values.get(name, "").strip() or default
        if value not in allowed:
            raise BadSetting(f"{name} is {value!r}; it must be one of: {', '.join(allowed)}")
        return value

    def whole(self, name: str, default: int, *, least: int = 0, most: int = 2**31) -> int:
        raw = self.values.get(name, "").strip()
        if not raw:
            return default
        if not raw.isascii() or not raw.isdigit() or not least <= int(raw) <= most:
            raise BadSetting(f"{name} is {raw!r}; it must be a whole number from {least} to {most}")
        return int(raw)

    def days(self, name: str, default: int, *, least: int) -> int:
        raw = self.values.get(name, "").strip()
        if not raw:
            return default
        if not raw.isascii() or not raw.isdigit() or (int(raw) and not least <= int(raw) <= _MOST_DAYS):
            raise BadSetting(f"{name} is {raw!r}; it must be days, from {least} to {_MOST_DAYS}, or 0 to keep for ever")
        return int(raw)

    def switch(self, name: str) -> bool:
        return self.choice(name, "off", ("on", "off")) == "on"

    def addresses(self, name: str) -> tuple[tuple[str, int], ...]:
        raw = self.values.get(name, "").strip()
        sent = [part.strip() for part in raw.split(",") if part.strip()]
        if not all(_is_address_with_port(part) for part in sent):
            raise BadSetting(f"{name} is {raw!r}; it must be addresses with their ports, such as 127.0.0.1:8443")
        split = [part.rpartition(":") for part in sent]
        return tuple((str(ipaddress.ip_address(address.strip("[]"))), int(port)) for address, _, port in split)

    def origins(self, name: str) -> tuple[str, ...]:
        raw = self.values.get(name, "").strip()
        sent = [part.strip() for part in raw.split(",") if part.strip()]
        if not all(re.fullmatch(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?", origin) for origin in sent):
            raise BadSetting(f"{name} is {raw!r}; an origin looks like https://app.example.com, in lower case")
        return tuple(sent)

    def domain(self, name: str) -> str | None:
        value = self.text(name)
        if value and not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", value):
            raise BadSetting(f"{name} is {value!r}; it must be a domain in lower case, such as partners.example.com")
        return value

    def path(self, name: str) -> Path | None:
        value = self.text(name)
        return Path(value).resolve() if value else None

    def http_url(self, name: str) -> str | None:
        value = self.text(name)
        if value and not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", value, re.IGNORECASE):
            # never with the value: it may hold a password
            raise BadSetting(f"{name} cannot be used; it must be an https or http URL without user, query and fragment")
        return value

    def human_check(self, name: str) -> str | None:
        return LOCAL if self.text(name) == LOCAL else self.http_url(name)

    def safe_url(self, name: str, default: str) -> str:
        value = self.text(name) or default
        if not rail_access.is_safe_url(value):  # never with the value: it may hold a password
            raise BadSetting(f"{name} cannot be used; it must be {default} or another https URL of a host alone")
        return value.rstrip("/")

    def group(self, needed: tuple[str, ...], others: tuple[str, ...]) -> bool:
        """Return whether a group of variables is set; BadSetting when only a part of what is needed is."""
        given = [name for name in (*needed, *others) if self.text(name)]
        missing = [name for name in needed if not self.text(name)]
        if given and missing:
            raise BadSetting(f"{given[0]} is set without {missing[0]}; set both, or none of the group")
        return bool(given)

    def name_server(self, name: str) -> str:
        value = self.values.get(name, "").strip() or "system"
        if value not in ("system", "off") and not _is_address_with_port(value):
            raise BadSetting(f"{name} is {value!r}; it must be system, off, or one server such as 192.0.2.53:53")
        return value

    def seconds_list(self, name: str, default: tuple[int, ...]) -> tuple[int, ...]:
        raw = self.values.get(name, "").strip()
        if not raw:
            return default
        parts = [part.strip() for part in raw.split(",")]
        if not all(part.isascii() and part.isdigit() for part in parts):
            raise BadSetting(f"{name} is {raw!r}; it must be seconds after the event, such as 0,60,120,240,480")
        times = tuple(int(part) for part in parts)
        if list(times) != sorted(times):
            raise BadSetting(f"{name} is {raw!r}; the times must not go back")
        return times

    def smtp_server(self, name: str) -> smtp_address.Server | None:
        raw = self.values.get(name, "").strip()
        try:
            return smtp_address.parse(raw) if raw else None
        except ValueError as error:  # never with the value: it holds a password
            raise BadSetting(f"{name} cannot be used: {error}. Write smtp://user:password@host:587") from None

    def sender(self, name: str, default: str) -> str:
        raw = self.values.get(name, "").strip() or default
        addresses = [address for _, address in getaddresses([raw])]
        if len(addresses) != 1 or not _SENDER.fullmatch(addresses[0]) or not raw.isprintable():
            raise BadSetting(f"{name} is {raw!r}; it must be one sender, such as {default}")
        return raw


def _is_address_with_port(text: str) -> bool:
    address, _, port = text.rpartition(":")
    try:
        version = ipaddress.ip_address(address.removeprefix("[").removesuffix("]")).version
    except ValueError:
        return False
    is_bracketed = address.startswith("[") and address.endswith("]")
    return is_bracketed == (version == 6) and port.isascii() and port.isdigit() and 0 < int(port) < 2**16


_SHORTEST_SECRET_KEY = 32

# How many jobs of a queue are handed out per worker thread. Database jobs take milliseconds, so a deep
# hand keeps threads busy between two looks of the relay. A call to somebody else's server may take ten
# seconds, so a deep hand would outlive its lease behind slow neighbours.
_SLOTS_PER_THREAD = {"default": 16, "webhooks": 4, "payouts": 2, "imports": 1, "mail": 4}

# Requests per minute: of one user, or of one IP where nobody signed in.
_RATE_LIMITS_PER_MIN = {
    "standard": 600,
    "import": 6,
    "invite": 10,
    "strict_write": 10,
    "apply": 5,
    "anonymous": 60,
    "anonymous_tracking": 60,
    "s2s": 1500,
    "unknown": 300,
}

# For how many days what grows with traffic is kept, and the least that something else still needs: a visitor's clicks
# decide about leads for 90 days, a delivery and what rails tell again come within days, fraud is summed up over a year,
# mail may wait 14 days for its server.
_RETENTION_DAYS = {
    "clicks": (90, 90),
    "events": (90, 7),
    "deliveries": (90, 7),
    "dead_letters": (90, 7),
    "leads": (30, 1),
    "audit_addresses": (90, 30),
    "fraud_events": (365, 365),
    "rail_events": (365, 30),
    "mail": (90, 14),
    "invites": (90, 1),
    "members": (365, 90),
    "imports": (365, 30),
}
_MOST_DAYS = 36_500


def read(environ: Mapping[str, str]) -> Settings:
    """Return the settings that `environ` asks for, or raise BadSetting."""
    env = _Environment(environ)
    port = env.whole("PORT", 8000, least=1, most=65535)
    database_url = env.text("DATABASE_URL")
    secret_key = env.text("SECRET_KEY")
    if database_url and not secret_key:
        raise BadSetting(
            "SECRET_KEY is not set. It seals the signing secrets in the database: make one with "
            "`python -c 'import secrets; print(secrets.token_hex(32))'`, keep it, and give every process the same."
        )
    if secret_key and len(secret_key) < _SHORTEST_SECRET_KEY:
        raise BadSetting(f"SECRET_KEY is shorter than {_SHORTEST_SECRET_KEY} characters; make a longer one")
    metrics_port = env.whole("METRICS_PORT", 0, most=65535)
    chosen = Settings(
        database_url=database_url,
        database_owner_url=env.text("DATABASE_OWNER_URL"),
        redis_url=env.text("REDIS_URL"),
        secret_key=secret_key,
        secret_key_previous=_previous_keys(env, secret_key),
        data_dir=Path(env.text("DATA_DIR", ".data") or ".data").resolve(),
        port=port,
        public_base_url=(env.text("PUBLIC_BASE_URL") or f"http://127.0.0.1:{port}").rstrip("/"),
        trusted_proxies=env.whole("TRUSTED_PROXIES", 0, most=10),
        log_format=env.choice("LOG_FORMAT", "json", ("json", "console")),
        log_level=env.choice("LOG_LEVEL", "info", ("debug", "info", "warning", "error")),
        metrics_token=env.text("METRICS_TOKEN"),
        metrics_port=metrics_port or None,
        key_cache_s=env.whole("KEY_CACHE_S", 5, most=60),
        rate_limits_per_min={
            bucket: env.whole(f"RATE_LIMIT_{bucket.upper()}_PER_MIN", limit, least=1)
            for bucket, limit in _RATE_LIMITS_PER_MIN.items()
        },
        cors_origins=env.origins("CORS_ORIGINS"),
        portal_domain=env.domain("PORTAL_DOMAIN"),
        request_timeout_s=env.whole("REQUEST_TIMEOUT_S", 10, least=1, most=600),
        upload_timeout_s=env.whole("UPLOAD_TIMEOUT_S", 60, least=1, most=3600),
        job_lease_s=env.whole("JOB_LEASE_S", 30, least=1, most=3600),
        click_claim_s=env.whole("CLICK_CLAIM_S", 60, least=1, most=3600),
        job_slots={
            queue: env.whole(f"JOB_SLOTS_{queue.upper()}", slots, least=1, most=1000)
            for queue, slots in _SLOTS_PER_THREAD.items()
        },
        webhook_attempts_at_s=env.seconds_list("WEBHOOK_ATTEMPTS_AT_S", delivery.ATTEMPTS_AT_S),
        webhook_timeout_s=env.whole("WEBHOOK_TIMEOUT_S", delivery.TIMEOUT_S, least=1, most=60),
        webhook_allow_private=env.switch("WEBHOOK_ALLOW_PRIVATE"),
        webhook_also_allow=env.addresses("WEBHOOK_ALSO_ALLOW"),
        webhook_ca_bundle=env.text("WEBHOOK_CA_BUNDLE"),
        smtp=env.smtp_server("SMTP_URL"),
        mail_from=env.sender("MAIL_FROM", "Finderfee <no-reply@localhost>"),
        mail_per_minute=env.whole("MAIL_PER_MINUTE", 60, least=1, most=60_000),
        dashboard_jwt_issuer=env.text("DASHBOARD_JWT_ISSUER"),
        dashboard_jwt_audience=env.text("DASHBOARD_JWT_AUDIENCE") or "finderfee-dashboard",
        dashboard_jwt_jwks=env.text("DASHBOARD_JWT_JWKS"),
        affiliate_jwt_issuer=env.text("AFFILIATE_JWT_ISSUER"),
        affiliate_jwt_audience=env.text("AFFILIATE_JWT_AUDIENCE") or "finderfee-affiliates",
        affiliate_jwt_jwks=env.text("AFFILIATE_JWT_JWKS"),
        fraud_networks_file=env.path("FRAUD_NETWORKS_FILE"),
        fraud_dns=env.name_server("FRAUD_DNS"),
        fraud_scorer_url=env.http_url("FRAUD_SCORER_URL"),
        fraud_scorer_token=env.text("FRAUD_SCORER_TOKEN"),
        human_check_url=env.human_check("HUMAN_CHECK_URL"),
        human_check_secret=env.text("HUMAN_CHECK_SECRET"),
        human_check_script_url=env.http_url("HUMAN_CHECK_SCRIPT_URL"),
        human_check_site_key=env.text("HUMAN_CHECK_SITE_KEY"),
        rails=rail_access.Rails(_processor_rail(env), _wallet_rail(env), _global_rail(env)),
        fx_feed_url=env.http_url("FX_FEED_URL"),
        payout_ask_again_s=env.seconds_list("PAYOUT_ASK_AGAIN_S", transfers.ASK_AGAIN_S),
        retention_days={
            kind: env.days(f"RETENTION_{kind.upper()}_DAYS", days, least=least)
            for kind, (days, least) in _RETENTION_DAYS.items()
        },
    )
    _check_retention(chosen)
    _check_human_check(chosen)
    _check_identity("DASHBOARD", chosen.dashboard_jwt_issuer, chosen.dashboard_jwt_jwks)
    _check_identity("AFFILIATE", chosen.affiliate_jwt_issuer, chosen.affiliate_jwt_jwks)
    if (chosen.dashboard_jwt_issuer, chosen.dashboard_jwt_audience) == (
        chosen.affiliate_jwt_issuer,
        chosen.affiliate_jwt_audience,
    ):
        raise BadSetting(
            f"AFFILIATE_JWT_AUDIENCE is {chosen.affiliate_jwt_audience!r}, which is the dashboard's too; with one "
            "issuer for both, the audiences must differ"
        )
    return chosen


def _previous_keys(env: _Environment, secret_key: str | None) -> tuple[str, ...]:
    # Never with a value.
    keys = tuple(part.strip() for part in (env.text("SECRET_KEY_PREVIOUS") or "").split(",") if part.strip())
    if any(len(key) < _SHORTEST_SECRET_KEY for key in keys):
        raise BadSetting(
            f"SECRET_KEY_PREVIOUS has a key of fewer than {_SHORTEST_SECRET_KEY} characters; it takes former "
            "SECRET_KEYs, whole and with commas between them"
        )
    if secret_key in keys:
        raise BadSetting("SECRET_KEY_PREVIOUS names SECRET_KEY itself; it takes former keys, SECRET_KEY a new one")
    return keys


def _processor_rail(env: _Environment) -> rail_access.Processor | None:
    others = ("PAYOUT_RAIL_PROCESSOR_URL", "PAYOUT_RAIL_PROCESSOR_WEBHOOK_SECRET")
    if not env.group(("PAYOUT_RAIL_PROCESSOR_KEY",), others):
        return None
    return rail_access.Processor(
        url=env.safe_url("PAYOUT_RAIL_PROCESSOR_URL", "https://api.stripe.com"),
        key=env.text("PAYOUT_RAIL_PROCESSOR_KEY") or "",
        webhook_secret=env.text("PAYOUT_RAIL_PROCESSOR_WEBHOOK_SECRET"),
    )


def _wallet_rail(env: _Environment) -> rail_access.Wallet | None:
    needed = ("PAYOUT_RAIL_WALLET_CLIENT_ID", "PAYOUT_RAIL_WALLET_SECRET")
    if not env.group(needed, ("PAYOUT_RAIL_WALLET_URL", "PAYOUT_RAIL_WALLET_WEBHOOK_ID")):
        return None
    return rail_access.Wallet(
        url=env.safe_url("PAYOUT_RAIL_WALLET_URL", "https://api-m.paypal.com"),
        client_id=env.text("PAYOUT_RAIL_WALLET_CLIENT_ID") or "",
        secret=env.text("PAYOUT_RAIL_WALLET_SECRET") or "",
        webhook_id=env.text("PAYOUT_RAIL_WALLET_WEBHOOK_ID"),
    )


def _global_rail(env: _Environment) -> rail_access.Global | None:
    needed = ("PAYOUT_RAIL_GLOBAL_KEY", "PAYOUT_RAIL_GLOBAL_FINANCIAL_ACCOUNT")
    if not env.group(needed, ("PAYOUT_RAIL_GLOBAL_URL", "PAYOUT_RAIL_GLOBAL_WEBHOOK_SECRET")):
        return None
    return rail_access.Global(
        url=env.safe_url("PAYOUT_RAIL_GLOBAL_URL", "https://api.stripe.com"),
        key=env.text("PAYOUT_RAIL_GLOBAL_KEY") or "",
        financial_account=env.text("PAYOUT_RAIL_GLOBAL_FINANCIAL_ACCOUNT") or "",
        webhook_secret=env.text("PAYOUT_RAIL_GLOBAL_WEBHOOK_SECRET"),
    )


def _check_retention(chosen: Settings) -> None:
    events, deliveries = chosen.retention_days["events"], chosen.retention_days["deliveries"]
    if events and not 0 < deliveries <= events:
        raise BadSetting(
            f"RETENTION_EVENTS_DAYS is {events}, shorter than RETENTION_DELIVERIES_DAYS; a delivery cannot be kept "
            "without the event that it tells of"
        )


def _check_human_check(chosen: Settings) -> None:
    is_service = chosen.human_check_url not in (None, LOCAL)
    if is_service != (chosen.human_check_secret is not None):
        raise BadSetting("HUMAN_CHECK_URL of a service and HUMAN_CHECK_SECRET go together; set both, or neither")
    is_shown = chosen.human_check_site_key is not None
    if is_shown != (chosen.human_check_script_url is not None) or (is_shown and not is_service):
        raise BadSetting(
            "HUMAN_CHECK_SITE_KEY and HUMAN_CHECK_SCRIPT_URL go together, and with HUMAN_CHECK_URL of their service"
        )


def _check_identity(prefix: str, issuer: str | None, jwks: str | None) -> None:
    given, missing = f"{prefix}_JWT_ISSUER", f"{prefix}_JWT_JWKS"
    if issuer is None:
        given, missing = missing, given
    if (issuer is None) != (jwks is None):
        raise BadSetting(f"{given} is set without {missing}; set both, or neither to use the tokens of `flask token`")
    if jwks and "://" in jwks and not jwks.lower().startswith(("https://", "http://")):
        raise BadSetting(f"{prefix}_JWT_JWKS is {jwks!r}; it must be an https or http URL, or the path of a file")


@functools.cache
def current() -> Settings:
    """Return the settings of this process."""
    return read(os.environ)


def secret_key(chosen: Settings) -> str:
    """Return the key that seals secrets at rest.

    Without SECRET_KEY (the embedded default) a key is made once and kept in the data folder, readable by
    its owner alone; whoever copies the database elsewhere has to take that file along.
    """
    if chosen.secret_key:
        return chosen.secret_key
    path = chosen.data_dir / "secret_key"
    if not path.exists():
        chosen.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = chosen.data_dir / f"secret_key.{secrets.token_hex(8)}"  # nobody else's, in this process either
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)  # whole or not at all: two first starts agree on one key
        draft.unlink()
    kept = path.read_text().strip()
    if len(kept) < _SHORTEST_SECRET_KEY:
        raise BadSetting(f"{path} is damaged: put back the key that sealed this database's secrets, or set SECRET_KEY")
    return kept


def secret_keys(chosen: Settings) -> tuple[str, ...]:
    """Return every key that is believed: the one in force, with which everything new is made, and former ones."""
    key = secret_key(chosen)
    return (key, *(former for former in chosen.secret_key_previous if former != key))
