"""Variables that take several values by their names."""

import pytest

import settings
from settings import BadSetting
from settings.table import NamedValues

_VARIABLES = {variable.name: variable for variable in settings.variables() if isinstance(variable, NamedValues)}


def test_written_names_are_set_and_others_keep_their_defaults():
    usual = settings.read({})
    chosen = settings.read(
        {
            "API_ADDRESSES": "stripe=http://127.0.0.1:8125/, kit=https://kit.example.com",
            "RATE_LIMITS_PER_MIN": " apply=4\ts2s=3000 ",
            "WEB_TIMEOUTS_S": "answer=1",
        }
    )

    assert chosen.addresses.apis == usual.addresses.apis | {
        "stripe": "http://127.0.0.1:8125",
        "kit": "https://kit.example.com",
    }
    assert chosen.web.limits_per_min == {**usual.web.limits_per_min, "apply": 4, "s2s": 3000}
    assert chosen.web.timeouts_s == {"request": 10, "upload": 60, "answer": 1}


def test_slots_without_queue_apply_to_queues_without_own_number():
    jobs = settings.read({"JOB_SLOTS": "7 webhooks=9 upkeep=2"}).jobs

    queues = ("refunds", "webhooks", "imports", "upkeep", "queue_of_a_newer_release")
    assert [jobs.slots_per_thread(queue) for queue in queues] == [7, 9, 1, 2, 7]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("180", {"clicks": 180, "deliveries": 180, "leads": 30, "fraud_events": 365}),
        ("default=180 clicks=90", {"clicks": 90, "deliveries": 180, "leads": 30}),
        ("0", {"clicks": 0, "events": 0, "deliveries": 0, "imports": 365}),
        ("clicks=4000 copilot=0", {"clicks": 4000, "copilot": 0, "events": 90}),
    ],
)
def test_days_without_kind_apply_to_kinds_without_own_number(text, expected):
    days = settings.read({"RETENTION_DAYS": text}).retention.days

    assert {kind: days[kind] for kind in expected} == expected


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("JOB_SLOTS", "mail=0", "JOB_SLOTS: mail is '0'; it must be a whole number from 1 to 1000, such as mail=4"),
        ("JOB_SLOTS", "many", "JOB_SLOTS: default is 'many'; it must be a whole number from 1 to 1000, such as 16"),
        (
            "JOB_SLOTS",
            "upkeep=²",
            "upkeep is '²'; it must be a whole number from 1 to 1000, such as upkeep=4",
        ),
        (
            "RATE_LIMITS_PER_MIN",
            "standard=1_000",
            "standard is '1_000'; it must be a whole number from 1 to 2147483648, such as standard=600",
        ),
        (
            "WEB_TIMEOUTS_S",
            "request=601",
            "WEB_TIMEOUTS_S: request is '601'; it must be a whole number from 1 to 600, such as request=10",
        ),
        (
            "API_ADDRESSES",
            "stripe=http://s3cret.example.com",
            "API_ADDRESSES: stripe cannot be used; it must be its own address or another https URL with only a host,"
            " such as stripe=https://api.example.com",
        ),
        ("RETENTION_DAYS", "clicks=89", "RETENTION_DAYS: clicks is '89'; it must be days, from 90 to 36500, or 0"),
        ("RETENTION_DAYS", "30", "which is also for clicks, is '30'; it must be days, from 90 to 36500, or 0"),
        ("RETENTION_DAYS", "mail=-1", "RETENTION_DAYS: mail is '-1'"),
        ("RETENTION_DAYS", "leads=ten", "RETENTION_DAYS: leads is 'ten'"),
        ("RETENTION_DAYS", "fraud_events=90", "from 365 to 36500"),
        ("RETENTION_DAYS", "audit_addresses=29", "from 30 to 36500"),
        ("RETENTION_DAYS", "imports=36501", "from 30 to 36500"),
        ("RETENTION_DAYS", "events=30", "keeps events for 30 days and deliveries for 90; a delivery cannot be kept"),
        (
            "RETENTION_DAYS",
            "deliveries=0",
            "keeps events for 90 days and deliveries for ever; a delivery",
        ),
    ],
)
def test_bad_value_raises_error_with_variable_name_and_example(variable, text, message):
    with pytest.raises(BadSetting) as error:
        settings.read({variable: text})

    assert str(error.value).startswith(variable)
    assert message in str(error.value)
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize("variable", _VARIABLES)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{item} s3cret=https://s3cret:s3cret@example.com", ": the name of item 2 must be one of: "),
        ("{item} https://s3cret:s3cret@example.com/?s3cret=1", ": the name of item 2 must be one of: "),
        ("{item} {name}=", ": item 2 is not NAME=VALUE, such as "),
        (",", ": item 1 is not NAME=VALUE, such as "),
        ("{item} {item}", ": {name} is set twice; write it once, such as "),
    ],
)
def test_malformed_items_raise_error_with_variable_place_and_example(variable, text, message):
    name, member = list(_VARIABLES[variable].members.items())[-1]
    item = f"{name}={_VARIABLES[variable].example if member.default is None else member.default}"

    with pytest.raises(BadSetting) as error:
        settings.read({variable: text.format(name=name, item=item)})

    assert str(error.value).startswith(f"{variable}{message.format(name=name)}")
    assert "s3cret" not in str(error.value)
    settings.read({variable: str(error.value).rpartition("such as ")[2]})


@pytest.mark.parametrize("variable", ["API_ADDRESSES", "RATE_LIMITS_PER_MIN", "WEB_TIMEOUTS_S"])
def test_value_without_name_raises_error_where_none_is_default(variable):
    with pytest.raises(BadSetting, match=f"^{variable}: item 1 is not NAME=VALUE"):
        settings.read({variable: "10"})
