"""Messages about values that cannot be used."""

import pytest

import settings
from settings import BadSetting


@pytest.mark.parametrize(
    ("variable", "value", "valid_values"),
    [
        ("PORT", "0", "a whole number from 1 to 65535"),
        ("PORT", "65536", "a whole number from 1 to 65535"),
        ("PORT", "80a", "a whole number from 1 to 65535"),
        ("TRUSTED_PROXIES", "11", "a whole number from 0 to 10"),
        ("TRUSTED_PROXIES", "-1", "a whole number from 0 to 10"),
        ("METRICS_PORT", "1.5", "a whole number from 0 to 65535"),
        ("KEY_CACHE_S", "61", "a whole number from 0 to 60"),
        ("CORS_ORIGINS", "https://a.test/", "an origin looks like"),
        ("CORS_ORIGINS", "*", "an origin looks like"),
        ("PORTAL_DOMAIN", "localhost", "a domain in lower case"),
        ("JOB_LEASE_S", "0", "a whole number from 1 to 3600"),
        ("CLICK_CLAIM_S", "0", "a whole number from 1 to 3600"),
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
        ("WEBHOOK_ATTEMPTS_AT_S", "60,0", "must ascend"),
    ],
)
def test_bad_value_raises_error_with_name_and_valid_values(variable, value, valid_values):
    with pytest.raises(BadSetting) as error:
        settings.read({variable: value})

    assert str(error.value).startswith(f"{variable} is {value!r}; ")
    assert valid_values in str(error.value)


@pytest.mark.parametrize(
    "url", ["ftp://there.example", "https://user:s3cret@there.example/", "https://there.example/?key=s3cret", "s3cret"]
)
def test_invalid_scorer_url_raises_error_without_the_url(url):
    with pytest.raises(BadSetting, match=r"^FRAUD_SCORER_URL cannot be used; it must be an https or http URL") as error:
        settings.read({"FRAUD_SCORER_URL": url})

    assert "s3cret" not in str(error.value)
