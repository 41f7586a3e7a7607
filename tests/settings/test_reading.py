"""The value that each variable sets, and the defaults."""

import dataclasses
import operator
from pathlib import Path

import pytest

import settings
from domain.gateways.names import Gateway
from domain.platforms.names import Platform

_LONG = "a secret that is long enough to be one"


_DEFAULTS = {
    "servers": {
        "database_url": None,
        "database_pool": "session",
        "database_read_url": None,
        "database_read_lag_s": 5,
        "database_owner_url": None,
        "postgres_programs": None,
        "redis_url": None,
        "broker_url": None,
        "secret_key": None,
        "former_secret_keys": (),
        "data_dir": Path(".data").resolve(),
    },
    "web": {
        "name": "Finderfee",
        "port": 8000,
        "bind": "127.0.0.1",
        "public_base_url": None,
        "trusted_proxies": 0,
        "processes": 2,
        "threads": 8,
        "timeouts_s": {"request": 10, "upload": 60, "answer": 30},
        "key_cache_s": 5,
        "cors_origins": (),
        "portal_domain": None,
        "domain_target": None,
        "dns_servers": (),
        "limits_per_min": {
            "standard": 600,
            "import": 6,
            "invite": 10,
            "strict_write": 10,
            "page_check": 10,
            "domain_check": 10,
            "tls_ask": 6000,
            "embed": 60,
            "apply": 5,
            "anonymous": 60,
            "anonymous_tracking": 60,
            "s2s": 1500,
            "unknown": 300,
        },
    },
    "monitoring": {
        "log_format": "json",
        "log_level": "info",
        "metrics_token": None,
        "metrics_hosts": (),
        "traces_url": None,
        "metrics_port": 0,
    },
    "jobs": {
        "lease_s": 30,
        "click_claim_s": 60,
        "slots": {
            "default": 16,
            "sales": 2,
            "refunds": 16,
            "tracking": 16,
            "upkeep": 16,
            "webhooks": 4,
            "gateways": 4,
            "payouts": 2,
            "lookups": 4,
            "imports": 1,
            "mail": 4,
            "copilot": 1,
        },
    },
    "webhooks": {
        "attempts_at_s": (0, 60, 120, 240, 480),
        "timeout_s": 10,
        "allow_private": False,
        "also_allow": (),
        "ca_bundle": None,
    },
    "identity": {
        "dashboard_issuer": None,
        "dashboard_jwks": None,
        "dashboard_audience": "finderfee-dashboard",
        "affiliate_issuer": None,
        "affiliate_jwks": None,
        "affiliate_audience": "finderfee-affiliates",
        "dashboard_client_id": None,
        "dashboard_client_secret": None,
        "dashboard_provider_name": None,
        "dashboard_roles": "claims",
        "affiliate_client_id": None,
        "affiliate_client_secret": None,
        "affiliate_provider_name": None,
        "mcp_issuer": None,
        "mcp_jwks": None,
        "mcp_audience": None,
        "operator_claim": None,
    },
    "mail": {"smtp": None, "sender": "Finderfee <no-reply@localhost>", "per_min": 60},
    "rails": {
        "ask_again_s": (5, 15, 30, 60, 300, 900, 3600),
        "deal_take_bps": 0,
        "processor": None,
        "wallet": None,
        "global_payouts": None,
    },
    "rates": {"feed_url": None},
    "addresses": {"apis": dict.fromkeys((*Gateway, *Platform))},
    "platforms": {"lookup_retry_at_s": (60, 360, 1260, 3660, 7260)},
    "switches": {
        "rewardful_base_url": None,
        "firstpromoter_base_url": None,
        "tolt_base_url": None,
        "partnerstack_base_url": None,
        "tapfiliate_base_url": None,
        "lemonsqueezy_base_url": None,
        "dub_base_url": None,
        "requests_per_s": None,
        "retry_at_s": (1, 5, 15, 60, 120, 300, 300, 300),
        "undo_days": 14,
    },
    "fraud": {
        "networks_file": None,
        "countries_file": None,
        "dns": "system",
        "scorer_url": None,
        "scorer_token": None,
    },
    "human_check": {"url": None, "secret": None, "script_url": None, "site_key": None},
    "copilot": {
        "url": None,
        "key": None,
        "model": None,
        "timeout_s": 60,
        "daily_tokens": 1_000_000,
        "daily_requests": 400,
    },
    "retention": {
        "days": {
            "default": 90,
            "clicks": 90,
            "events": 90,
            "deliveries": 90,
            "dead_letters": 90,
            "leads": 30,
            "audit_addresses": 90,
            "fraud_events": 365,
            "rail_events": 365,
            "mail": 90,
            "invites": 90,
            "notifications": 90,
            "member_invites": 30,
            "members": 365,
            "imports": 365,
            "gateway_payloads": 90,
            "copilot": 30,
            "door_visits": 7,
            "pixel_checkouts": 30,
        }
    },
}


def test_empty_environment_gives_defaults():
    assert dataclasses.asdict(settings.read({})) == _DEFAULTS


def test_missing_base_url_means_this_machine():
    assert settings.read({}).web.url == "http://127.0.0.1:8000"


def test_empty_variable_counts_as_not_set():
    names = ("DATABASE_URL", "PORT", "LOG_LEVEL", "WEBHOOK_ALLOW_PRIVATE", "WEBHOOK_ATTEMPTS_AT_S", "METRICS_TOKEN")

    assert settings.read(dict.fromkeys(names, " ")) == settings.read({})


@pytest.mark.parametrize(
    ("variable", "value", "name", "expected"),
    [
        ("LOOKUP_RETRY_AT_S", "1, 2,3", "platforms.lookup_retry_at_s", (1, 2, 3)),
        ("REDIS_URL", "redis://there", "servers.redis_url", "redis://there"),
        ("DATABASE_OWNER_URL", "postgresql://owner@/x", "servers.database_owner_url", "postgresql://owner@/x"),
        ("SECRET_KEY", _LONG, "servers.secret_key", _LONG),
        ("DATA_DIR", "/somewhere/else", "servers.data_dir", Path("/somewhere/else")),
        ("PORT", "65535", "web.port", 65535),
        ("PORT", "9000", "web.url", "http://127.0.0.1:9000"),
        ("PUBLIC_BASE_URL", "https://a.example.com/", "web.url", "https://a.example.com"),
        ("TRUSTED_PROXIES", "10", "web.trusted_proxies", 10),
        ("LOG_FORMAT", "console", "monitoring.log_format", "console"),
        ("LOG_LEVEL", "debug", "monitoring.log_level", "debug"),
        ("METRICS_TOKEN", "t", "monitoring.metrics_token", "t"),
        ("METRICS_HOSTS", "web,10.0.0.0/8,::1", "monitoring.metrics_hosts", ("web", "10.0.0.0/8", "::1")),
        ("METRICS_PORT", "9100", "monitoring.metrics_port", 9100),
        ("METRICS_PORT", "0", "monitoring.metrics_port", 0),
        ("KEY_CACHE_S", "0", "web.key_cache_s", 0),
        (
            "CORS_ORIGINS",
            "https://a.test, http://b.test:81",
            "web.cors_origins",
            ("https://a.test", "http://b.test:81"),
        ),
        ("PORTAL_DOMAIN", "partners.example.com", "web.portal_domain", "partners.example.com"),
        ("JOB_LEASE_S", "3600", "jobs.lease_s", 3600),
        ("CLICK_CLAIM_S", "1", "jobs.click_claim_s", 1),
        ("WEBHOOK_ATTEMPTS_AT_S", "0, 1,1,5", "webhooks.attempts_at_s", (0, 1, 1, 5)),
        ("PAYOUT_ASK_AGAIN_S", "1,2", "rails.ask_again_s", (1, 2)),
        ("WEBHOOK_TIMEOUT_S", "60", "webhooks.timeout_s", 60),
        ("WEBHOOK_ALLOW_PRIVATE", "on", "webhooks.allow_private", True),
        ("WEBHOOK_ALSO_ALLOW", "127.0.0.1:1,[0:0::1]:2", "webhooks.also_allow", (("127.0.0.1", 1), ("::1", 2))),
        ("WEBHOOK_CA_BUNDLE", "/some.pem", "webhooks.ca_bundle", "/some.pem"),
        ("BIND", "unix:/run/web.sock", "web.bind", "unix:/run/web.sock"),
        ("WEB_CONCURRENCY", "4", "web.processes", 4),
        ("WEB_THREADS", "16", "web.threads", 16),
        ("MAIL_FROM", "Acme & Söhne <a@example.com>", "mail.sender", "Acme & Söhne <a@example.com>"),
        ("MAIL_PER_MINUTE", "1", "mail.per_min", 1),
        ("FRAUD_NETWORKS_FILE", "/etc/networks.txt", "fraud.networks_file", Path("/etc/networks.txt")),
        ("NETWORK_COUNTRIES_FILE", "/etc/countries.csv", "fraud.countries_file", Path("/etc/countries.csv")),
        ("FRAUD_DNS", "off", "fraud.dns", "off"),
        ("FRAUD_DNS", "192.0.2.53:5353", "fraud.dns", "192.0.2.53:5353"),
        ("FRAUD_DNS", "[2001:db8::53]:53", "fraud.dns", "[2001:db8::53]:53"),
        ("FRAUD_SCORER_URL", "http://10.0.0.1:8080/judge", "fraud.scorer_url", "http://10.0.0.1:8080/judge"),
        ("FX_FEED_URL", "https://www.example.com/daily.xml", "rates.feed_url", "https://www.example.com/daily.xml"),
        ("FRAUD_SCORER_TOKEN", "t", "fraud.scorer_token", "t"),
    ],
)
def test_variable_sets_its_setting(variable, value, name, expected):
    assert operator.attrgetter(name)(settings.read({variable: value})) == expected
