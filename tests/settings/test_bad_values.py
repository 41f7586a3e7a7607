"""What the message says of a value that cannot be used."""

import pytest

import settings
from settings import BadSetting


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
        ("WEB_CONCURRENCY", "0", "a whole number from 1 to 2147483648"),
        ("WEB_THREADS", "eight", "a whole number from 1 to 2147483648"),
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


@pytest.mark.parametrize(
    "url", ["ftp://there.example", "https://user:s3cret@there.example/", "https://there.example/?key=s3cret", "s3cret"]
)
def test_an_address_of_a_scorer_that_cannot_be_is_refused_without_being_shown(url):
    with pytest.raises(
        BadSetting, match=r"^FRAUD_SCORER_URL cannot be used; it must be an https or http URL"
    ) as refused:
        settings.read({"FRAUD_SCORER_URL": url})

    assert "s3cret" not in str(refused.value)
