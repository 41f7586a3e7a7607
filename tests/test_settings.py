"""Every setting: its default, what it takes, and what the message says when it does not."""

import stat
import threading
from pathlib import Path

import pytest

import settings
from domain.payouts import rail_access
from settings import BadSetting

_LONG = "a secret that is long enough to be one"


def test_without_any_variable_the_defaults_hold():
    chosen = settings.read({})

    assert chosen == settings.Settings(
        database_url=None,
        database_owner_url=None,
        redis_url=None,
        secret_key=None,
        secret_key_previous=(),
        data_dir=Path(".data").resolve(),
        port=8000,
        public_base_url="http://127.0.0.1:8000",
        trusted_proxies=0,
        log_format="json",
        log_level="info",
        metrics_token=None,
        metrics_port=None,
        key_cache_s=5,
        rate_limits_per_min={
            "standard": 600,
            "import": 6,
            "invite": 10,
            "strict_write": 10,
            "apply": 5,
            "anonymous": 60,
            "anonymous_tracking": 60,
            "s2s": 1500,
            "unknown": 300,
        },
        cors_origins=(),
        portal_domain=None,
        request_timeout_s=10,
        upload_timeout_s=60,
        job_lease_s=30,
        click_claim_s=60,
        job_slots={"default": 16, "webhooks": 4, "payouts": 2, "imports": 1, "mail": 4},
        webhook_attempts_at_s=(0, 60, 120, 240, 480),
        webhook_timeout_s=10,
        webhook_allow_private=False,
        webhook_also_allow=(),
        webhook_ca_bundle=None,
        dashboard_jwt_issuer=None,
        dashboard_jwt_audience="finderfee-dashboard",
        dashboard_jwt_jwks=None,
        affiliate_jwt_issuer=None,
        affiliate_jwt_audience="finderfee-affiliates",
        affiliate_jwt_jwks=None,
        smtp=None,
        mail_from="Finderfee <no-reply@localhost>",
        mail_per_minute=60,
        fraud_networks_file=None,
        fraud_dns="system",
        fraud_scorer_url=None,
        fx_feed_url=None,
        fraud_scorer_token=None,
        human_check_url=None,
        human_check_secret=None,
        human_check_script_url=None,
        human_check_site_key=None,
        rails=rail_access.Rails(),
        payout_ask_again_s=(5, 15, 30, 60, 300, 900, 3600),
        retention_days={
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
            "members": 365,
            "imports": 365,
        },
    )


def test_a_variable_that_is_set_to_nothing_is_not_set():
    names = ("DATABASE_URL", "PORT", "LOG_LEVEL", "WEBHOOK_ALLOW_PRIVATE", "WEBHOOK_ATTEMPTS_AT_S", "METRICS_TOKEN")

    assert settings.read(dict.fromkeys(names, " ")) == settings.read({})


@pytest.mark.parametrize(
    ("variable", "value", "name", "expected"),
    [
        ("REDIS_URL", "redis://there", "redis_url", "redis://there"),
        ("DATABASE_OWNER_URL", "postgresql://owner@/x", "database_owner_url", "postgresql://owner@/x"),
        ("SECRET_KEY", _LONG, "secret_key", _LONG),
        ("DATA_DIR", "/somewhere/else", "data_dir", Path("/somewhere/else")),
        ("PORT", "65535", "port", 65535),
        ("PORT", "9000", "public_base_url", "http://127.0.0.1:9000"),
        ("PUBLIC_BASE_URL", "https://a.example.com/", "public_base_url", "https://a.example.com"),
        ("TRUSTED_PROXIES", "10", "trusted_proxies", 10),
        ("LOG_FORMAT", "console", "log_format", "console"),
        ("LOG_LEVEL", "debug", "log_level", "debug"),
        ("METRICS_TOKEN", "t", "metrics_token", "t"),
        ("METRICS_PORT", "9100", "metrics_port", 9100),
        ("METRICS_PORT", "0", "metrics_port", None),
        ("KEY_CACHE_S", "0", "key_cache_s", 0),
        ("CORS_ORIGINS", "https://a.test, http://b.test:81", "cors_origins", ("https://a.test", "http://b.test:81")),
        ("PORTAL_DOMAIN", "partners.example.com", "portal_domain", "partners.example.com"),
        ("JOB_LEASE_S", "3600", "job_lease_s", 3600),
        ("CLICK_CLAIM_S", "1", "click_claim_s", 1),
        ("WEBHOOK_ATTEMPTS_AT_S", "0, 1,1,5", "webhook_attempts_at_s", (0, 1, 1, 5)),
        ("PAYOUT_ASK_AGAIN_S", "1,2", "payout_ask_again_s", (1, 2)),
        ("WEBHOOK_TIMEOUT_S", "60", "webhook_timeout_s", 60),
        ("WEBHOOK_ALLOW_PRIVATE", "on", "webhook_allow_private", True),
        ("WEBHOOK_ALSO_ALLOW", "127.0.0.1:1,[0:0::1]:2", "webhook_also_allow", (("127.0.0.1", 1), ("::1", 2))),
        ("WEBHOOK_CA_BUNDLE", "/some.pem", "webhook_ca_bundle", "/some.pem"),
        ("MAIL_FROM", "Acme & Söhne <a@example.com>", "mail_from", "Acme & Söhne <a@example.com>"),
        ("MAIL_PER_MINUTE", "1", "mail_per_minute", 1),
        ("FRAUD_NETWORKS_FILE", "/etc/networks.txt", "fraud_networks_file", Path("/etc/networks.txt")),
        ("FRAUD_DNS", "off", "fraud_dns", "off"),
        ("FRAUD_DNS", "192.0.2.53:5353", "fraud_dns", "192.0.2.53:5353"),
        ("FRAUD_DNS", "[2001:db8::53]:53", "fraud_dns", "[2001:db8::53]:53"),
        ("FRAUD_SCORER_URL", "http://10.0.0.1:8080/judge", "fraud_scorer_url", "http://10.0.0.1:8080/judge"),
        ("FX_FEED_URL", "https://www.example.com/daily.xml", "fx_feed_url", "https://www.example.com/daily.xml"),
        ("FRAUD_SCORER_TOKEN", "t", "fraud_scorer_token", "t"),
    ],
)
def test_a_variable_sets_its_setting(variable, value, name, expected):
    assert getattr(settings.read({variable: value}), name) == expected


def test_each_rate_limit_can_be_set_alone():
    chosen = settings.read({"RATE_LIMIT_APPLY_PER_MIN": "4"}).rate_limits_per_min

    assert (chosen["apply"], chosen["standard"]) == (4, 600)


@pytest.mark.parametrize(("sent", "days"), [("0", 0), ("90", 90), ("4000", 4000)])
def test_days_of_keeping_are_set_for_each_kind_alone(sent, days):
    chosen = settings.read({"RETENTION_CLICKS_DAYS": sent}).retention_days

    assert (chosen["clicks"], chosen["mail"]) == (days, 90)


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"RETENTION_CLICKS_DAYS": "89"}, "RETENTION_CLICKS_DAYS is '89'; it must be days, from 90 to 36500, or 0"),
        ({"RETENTION_MAIL_DAYS": "-1"}, "RETENTION_MAIL_DAYS"),
        ({"RETENTION_LEADS_DAYS": "ten"}, "RETENTION_LEADS_DAYS"),
        ({"RETENTION_FRAUD_EVENTS_DAYS": "90"}, "from 365"),
        ({"RETENTION_AUDIT_ADDRESSES_DAYS": "29"}, "from 30"),
        ({"RETENTION_IMPORTS_DAYS": "36501"}, "36500"),
        ({"RETENTION_EVENTS_DAYS": "30"}, "RETENTION_DELIVERIES_DAYS"),
        ({"RETENTION_DELIVERIES_DAYS": "0"}, "RETENTION_EVENTS_DAYS"),
    ],
)
def test_days_that_would_take_away_what_is_needed_are_refused(variables, named):
    with pytest.raises(settings.BadSetting, match=named):
        settings.read(variables)


def test_a_queue_without_slots_of_its_own_has_the_default():
    chosen = settings.read({"JOB_SLOTS_DEFAULT": "7", "JOB_SLOTS_WEBHOOKS": "9"})

    assert [chosen.slots_per_thread(queue) for queue in ("sales", "webhooks", "imports")] == [7, 9, 1]


@pytest.mark.parametrize(
    ("variable", "value", "what_would_do"),
    [
        ("PORT", "0", "a whole number from 1 to 65535"),
        ("PORT", "65536", "a whole number from 1 to 65535"),
        ("PORT", "80a", "a whole number from 1 to 65535"),
        ("TRUSTED_PROXIES", "11", "a whole number from 0 to 10"),
        ("TRUSTED_PROXIES", "-1", "a whole number from 0 to 10"),
        ("METRICS_PORT", "1.5", "a whole number from 0 to 65535"),
        ("KEY_CACHE_S", "61", "a whole number from 0 to 60"),
        ("RATE_LIMIT_STANDARD_PER_MIN", "0", "a whole number from 1 to 2147483648"),
        ("RATE_LIMIT_S2S_PER_MIN", "²", "a whole number from 1 to 2147483648"),
        ("RATE_LIMIT_STRICT_WRITE_PER_MIN", "1_000", "a whole number from 1 to 2147483648"),
        ("CORS_ORIGINS", "https://a.test/", "an origin looks like"),
        ("CORS_ORIGINS", "*", "an origin looks like"),
        ("PORTAL_DOMAIN", "localhost", "a domain in lower case"),
        ("RATE_LIMIT_APPLY_PER_MIN", "many", "a whole number from 1 to 2147483648"),
        ("JOB_LEASE_S", "0", "a whole number from 1 to 3600"),
        ("CLICK_CLAIM_S", "0", "a whole number from 1 to 3600"),
        ("JOB_SLOTS_MAIL", "0", "a whole number from 1 to 1000"),
        ("WEBHOOK_TIMEOUT_S", "61", "a whole number from 1 to 60"),
        ("MAIL_FROM", "nobody", "one sender"),
        ("MAIL_FROM", "a@example.com, b@example.com", "one sender"),
        ("MAIL_FROM", "A\x0b <a@example.com>", "one sender"),
        ("MAIL_PER_MINUTE", "0", "a whole number from 1 to 60000"),
        ("LOG_FORMAT", "xml", "one of: json, console"),
        ("LOG_LEVEL", "INFO", "one of: debug, info, warning, error"),
        ("WEBHOOK_ALLOW_PRIVATE", "yes", "one of: on, off"),
        ("WEBHOOK_ALSO_ALLOW", "localhost:8001", "addresses with their ports, such as 127.0.0.1:8443"),
        ("WEBHOOK_ALSO_ALLOW", "127.0.0.1", "addresses with their ports, such as 127.0.0.1:8443"),
        ("FRAUD_DNS", "192.0.2.53", "system, off, or one server such as 192.0.2.53:53"),
        ("FRAUD_DNS", "ns.example.com:53", "system, off, or one server"),
        ("FRAUD_DNS", "2001:db8::53:53", "system, off, or one server"),
        ("FRAUD_DNS", "[192.0.2.53]:53", "system, off, or one server"),
        ("FRAUD_DNS", "192.0.2.53:0", "system, off, or one server"),
        ("FRAUD_DNS", "192.0.2.53:65536", "system, off, or one server"),
        ("WEBHOOK_ATTEMPTS_AT_S", "0,x", "seconds after the event, such as 0,60,120,240,480"),
        ("WEBHOOK_ATTEMPTS_AT_S", "0,60,", "seconds after the event, such as 0,60,120,240,480"),
        ("WEBHOOK_ATTEMPTS_AT_S", "60,0", "must not go back"),
    ],
)
def test_a_bad_value_is_refused_with_its_name_and_what_would_do(variable, value, what_would_do):
    with pytest.raises(BadSetting) as refused:
        settings.read({variable: value})

    assert str(refused.value).startswith(f"{variable} is {value!r}; ")
    assert what_would_do in str(refused.value)


@pytest.mark.parametrize(
    "url", ["ftp://there.example", "https://user:s3cret@there.example/", "https://there.example/?key=s3cret", "s3cret"]
)
def test_an_address_of_a_scorer_that_cannot_be_is_refused_without_being_shown(url):
    with pytest.raises(
        BadSetting, match=r"^FRAUD_SCORER_URL cannot be used; it must be an https or http URL"
    ) as refused:
        settings.read({"FRAUD_SCORER_URL": url})

    assert "s3cret" not in str(refused.value)


def test_a_database_of_ones_own_needs_a_secret_key():
    with pytest.raises(BadSetting, match=r"^SECRET_KEY is not set.*secrets\.token_hex\(32\)"):
        settings.read({"DATABASE_URL": "postgresql://x"})


def test_a_short_secret_key_is_refused_without_being_shown():
    with pytest.raises(BadSetting, match=r"^SECRET_KEY is shorter than 32 characters") as refused:
        settings.read({"SECRET_KEY": "s3cret-but-short"})

    assert "s3cret" not in str(refused.value)


def test_former_secret_keys_are_a_list_and_the_one_in_force_comes_first():
    chosen = settings.read({"SECRET_KEY": _LONG, "SECRET_KEY_PREVIOUS": f" {_LONG}-a, {_LONG}-b ,"})

    assert settings.secret_keys(chosen) == (_LONG, f"{_LONG}-a", f"{_LONG}-b")


@pytest.mark.parametrize(
    ("previous", "why"),
    [("short-one", "fewer than 32 characters"), (f"{_LONG}-a,short-one", "fewer"), (_LONG, "names SECRET_KEY itself")],
)
def test_a_former_secret_key_that_cannot_be_one_is_refused_without_being_shown(previous, why):
    with pytest.raises(BadSetting, match=f"^SECRET_KEY_PREVIOUS .*{why}") as refused:
        settings.read({"SECRET_KEY": _LONG, "SECRET_KEY_PREVIOUS": previous})

    assert "short-one" not in str(refused.value)
    assert _LONG not in str(refused.value)


def test_a_former_key_that_is_the_kept_one_is_listed_once(tmp_path):
    kept = settings.secret_key(settings.read({"DATA_DIR": str(tmp_path)}))
    chosen = settings.read({"DATA_DIR": str(tmp_path), "SECRET_KEY_PREVIOUS": f"{kept},{_LONG}"})

    assert settings.secret_keys(chosen) == (kept, _LONG)


def test_the_secret_key_of_the_environment_is_the_one(tmp_path):
    chosen = settings.read({"SECRET_KEY": _LONG, "DATA_DIR": str(tmp_path / "data")})

    assert settings.secret_key(chosen) == _LONG
    assert not (tmp_path / "data").exists()


def test_first_callers_at_once_agree_on_one_secret_key_that_only_its_owner_reads(tmp_path):
    for number in range(20):
        chosen = settings.read({"DATA_DIR": str(tmp_path / str(number))})
        start = threading.Barrier(8)
        found: list[str] = []

        def first_call(chosen=chosen, start=start, found=found):
            start.wait()
            found.append(settings.secret_key(chosen))

        threads = [threading.Thread(target=first_call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        kept = chosen.data_dir / "secret_key"
        assert found == [kept.read_text()] * 8
        assert len(found[0]) == 64
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert [path.name for path in chosen.data_dir.iterdir()] == ["secret_key"]


def test_a_damaged_secret_key_file_is_refused_instead_of_sealing_with_nothing(tmp_path):
    (tmp_path / "secret_key").write_text("")

    with pytest.raises(BadSetting, match="secret_key is damaged"):
        settings.secret_key(settings.read({"DATA_DIR": str(tmp_path)}))


def test_a_human_check_is_a_service_with_its_secret_or_local():
    service = {"HUMAN_CHECK_URL": "https://human.example.com/verify", "HUMAN_CHECK_SECRET": "s"}
    widget = {"HUMAN_CHECK_SCRIPT_URL": "https://human.example.com/api.js", "HUMAN_CHECK_SITE_KEY": "k"}

    assert settings.read({"HUMAN_CHECK_URL": "local"}).human_check_url == settings.LOCAL
    assert settings.read(service | widget).human_check_site_key == "k"
    for wrong in (
        {"HUMAN_CHECK_URL": service["HUMAN_CHECK_URL"]},
        {"HUMAN_CHECK_SECRET": "s"},
        {"HUMAN_CHECK_URL": "local", "HUMAN_CHECK_SECRET": "s"},
        {"HUMAN_CHECK_URL": "nowhere", "HUMAN_CHECK_SECRET": "s"},
        service | {"HUMAN_CHECK_SITE_KEY": "k"},
        service | {"HUMAN_CHECK_SCRIPT_URL": widget["HUMAN_CHECK_SCRIPT_URL"]},
        {"HUMAN_CHECK_URL": "local"} | widget,
    ):
        with pytest.raises(BadSetting, match="HUMAN_CHECK_"):
            settings.read(wrong)


_RAILS = {
    "PAYOUT_RAIL_PROCESSOR_KEY": "s3cret",
    "PAYOUT_RAIL_WALLET_CLIENT_ID": "c",
    "PAYOUT_RAIL_WALLET_SECRET": "s3cret",
    "PAYOUT_RAIL_GLOBAL_KEY": "s3cret",
    "PAYOUT_RAIL_GLOBAL_FINANCIAL_ACCOUNT": "fa_1",
}


def test_a_rail_needs_its_credentials_alone_and_shows_no_secret():
    rails = settings.read(_RAILS).rails

    assert rails == rail_access.Rails(
        rail_access.Processor("https://api.stripe.com", "s3cret", None),
        rail_access.Wallet("https://api-m.paypal.com", "c", "s3cret", None),
        rail_access.Global("https://api.stripe.com", "s3cret", "fa_1", None),
    )
    assert "s3cret" not in repr(rails)


def test_a_rail_may_be_elsewhere_and_tell_us_by_itself():
    more = {
        "PAYOUT_RAIL_PROCESSOR_URL": "http://127.0.0.1:12111/",
        "PAYOUT_RAIL_PROCESSOR_WEBHOOK_SECRET": "whsec_1",
        "PAYOUT_RAIL_WALLET_URL": "https://api-m.sandbox.paypal.com",
        "PAYOUT_RAIL_WALLET_WEBHOOK_ID": "W1",
        "PAYOUT_RAIL_GLOBAL_URL": "http://localhost:1",
        "PAYOUT_RAIL_GLOBAL_WEBHOOK_SECRET": "whsec_2",
    }

    assert settings.read(_RAILS | more).rails == rail_access.Rails(
        rail_access.Processor("http://127.0.0.1:12111", "s3cret", "whsec_1"),
        rail_access.Wallet("https://api-m.sandbox.paypal.com", "c", "s3cret", "W1"),
        rail_access.Global("http://localhost:1", "s3cret", "fa_1", "whsec_2"),
    )


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ("PAYOUT_RAIL_PROCESSOR_URL", "PAYOUT_RAIL_PROCESSOR_KEY"),
        ("PAYOUT_RAIL_PROCESSOR_WEBHOOK_SECRET", "PAYOUT_RAIL_PROCESSOR_KEY"),
        ("PAYOUT_RAIL_WALLET_CLIENT_ID", "PAYOUT_RAIL_WALLET_SECRET"),
        ("PAYOUT_RAIL_WALLET_SECRET", "PAYOUT_RAIL_WALLET_CLIENT_ID"),
        ("PAYOUT_RAIL_WALLET_WEBHOOK_ID", "PAYOUT_RAIL_WALLET_CLIENT_ID"),
        ("PAYOUT_RAIL_GLOBAL_KEY", "PAYOUT_RAIL_GLOBAL_FINANCIAL_ACCOUNT"),
        ("PAYOUT_RAIL_GLOBAL_FINANCIAL_ACCOUNT", "PAYOUT_RAIL_GLOBAL_KEY"),
    ],
)
def test_a_part_of_a_rail_is_refused_with_what_is_missing(given, missing):
    with pytest.raises(BadSetting, match=f"^{given} is set without {missing}; ") as refused:
        settings.read({given: "s3cret"})

    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.com",
        "https://u:s3cret@api.example.com",
        "https://api.example.com/s3cret",
        "https://api.example.com?s3cret",
        "https://",
        "https://api.example.com:x",
        "s3cret",
    ],
)
@pytest.mark.parametrize("rail", ["PROCESSOR", "WALLET", "GLOBAL"])
def test_credentials_go_nowhere_but_to_https_or_this_machine(rail, url):
    name = f"PAYOUT_RAIL_{rail}_URL"

    with pytest.raises(BadSetting, match=f"^{name} cannot be used; it must be https://api") as refused:
        settings.read(_RAILS | {name: url})

    assert "s3cret" not in str(refused.value)
