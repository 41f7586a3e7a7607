"""Variables of earlier releases that set one of several values. They work in this release, and warn."""

import pytest

import settings
from domain.gateways.names import Gateway
from domain.platforms.names import Platform
from settings import BadSetting
from settings.table import NamedValues

# As printed by the previous release.
_OLD_NAMES = (
    *(f"GATEWAY_{name.upper()}_URL" for name in Gateway),
    *(f"PLATFORM_{name.upper()}_URL" for name in Platform),
    *(
        f"RATE_LIMIT_{bucket}_PER_MIN"
        for bucket in (
            *("STANDARD", "IMPORT", "INVITE", "STRICT_WRITE", "PAGE_CHECK", "DOMAIN_CHECK", "TLS_ASK", "EMBED"),
            *("APPLY", "ANONYMOUS", "ANONYMOUS_TRACKING", "S2S", "UNKNOWN"),
        )
    ),
    *(
        f"JOB_SLOTS_{queue}"
        for queue in (
            *("DEFAULT", "SALES", "WEBHOOKS", "GATEWAYS", "PAYOUTS", "LOOKUPS", "IMPORTS", "MAIL", "COPILOT"),
        )
    ),
    *(
        f"RETENTION_{kind}_DAYS"
        for kind in (
            *("CLICKS", "EVENTS", "DELIVERIES", "DEAD_LETTERS", "LEADS", "DOOR_VISITS", "PIXEL_CHECKOUTS", "MEMBERS"),
            *("AUDIT_ADDRESSES", "FRAUD_EVENTS", "RAIL_EVENTS", "GATEWAY_PAYLOADS", "MAIL", "INVITES", "COPILOT"),
            "IMPORTS",
        )
    ),
    *("REQUEST_TIMEOUT_S", "UPLOAD_TIMEOUT_S", "ANSWER_TIMEOUT_S"),
)
_MEMBERS = {
    member.old_variable: (variable.name, name)
    for variable in settings.variables()
    if isinstance(variable, NamedValues)
    for name, member in variable.members.items()
    if member.old_variable is not None
}
# Valid for every member, and different from every default.
_VALUES = {"API_ADDRESSES": "https://proxy.example.com", "RETENTION_DAYS": "400"}


def _value(old: str) -> str:
    if old == "RETENTION_DELIVERIES_DAYS":
        return "60"  # no longer than events
    return _VALUES.get(_MEMBERS[old][0], "7")


def test_every_old_name_is_known():
    assert sorted(_MEMBERS) == sorted(_OLD_NAMES)


@pytest.mark.parametrize("old", _OLD_NAMES)
def test_old_name_sets_the_same_value_and_warns_with_the_new_form(old):
    variable, name = _MEMBERS[old]
    value = _value(old)
    chosen = settings.read({old: value})
    (warning,) = settings.old_name_warnings({old: value})

    assert chosen == settings.read({variable: f"{name}={value}"})
    assert chosen != settings.read({})
    assert warning.startswith(f"{old} is an old name and will stop working in the next release; write {variable}=")
    assert settings.read({variable: warning.split('"')[1]}) == chosen


@pytest.mark.parametrize("old", _OLD_NAMES)
def test_old_and_new_name_together_raise_error(old):
    variable, name = _MEMBERS[old]
    value = _value(old)

    with pytest.raises(BadSetting) as error:
        settings.read({variable: f"{name}={value}", old: value})

    item = "VALUE" if name == "default" else f"{name}=VALUE"
    assert str(error.value) == (
        f"{variable} and {old}, an old name, are both set; move the value of {old} into {variable}, as {item}, and"
        f" unset {old}"
    )


@pytest.mark.parametrize("old", _OLD_NAMES)
def test_empty_old_name_counts_as_not_set(old):
    variable, name = _MEMBERS[old]

    assert settings.read({old: " "}) == settings.read({})
    assert settings.old_name_warnings({old: " "}) == []
    assert settings.read({old: "", variable: f"{name}={_value(old)}"}) != settings.read({})


@pytest.mark.parametrize("old", [old for old in _OLD_NAMES if not old.endswith("_URL")])
def test_bad_value_under_old_name_raises_error_with_that_name(old):
    with pytest.raises(BadSetting, match=f"^{old} is 'many'; it must be .*, such as "):
        settings.read({old: "many"})


@pytest.mark.parametrize("old", [old for old in _OLD_NAMES if old.endswith("_URL")])
def test_bad_address_under_old_name_raises_error_without_the_address(old):
    with pytest.raises(BadSetting, match=f"^{old} cannot be used; it must be its own address") as error:
        settings.read({old: "https://u:s3cret@api.example.com"})

    assert "s3cret" not in str(error.value)


def test_several_old_names_become_one_new_form():
    environ = {
        "HOME": "/",
        "JOB_SLOTS_DEFAULT": "7",
        "JOB_SLOTS_WEBHOOKS": "9",
        "RETENTION_CLICKS_DAYS": "0",
        "GATEWAY_STRIPE_URL": "http://127.0.0.1:1",
        "PLATFORM_KIT_URL": "http://127.0.0.1:2",
    }
    chosen, warnings = settings.read(environ), settings.old_name_warnings(environ)
    settings.replace_old_names(environ)

    assert environ == {
        "HOME": "/",
        "JOB_SLOTS": "7 webhooks=9",
        "RETENTION_DAYS": "clicks=0",
        "API_ADDRESSES": "stripe=http://127.0.0.1:1 kit=http://127.0.0.1:2",
    }
    assert settings.read(environ) == chosen
    assert len(warnings) == 5
    assert settings.old_name_warnings(environ) == []
