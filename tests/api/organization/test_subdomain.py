"""The subdomain of the brand's portal. Source: core spec, "Other resources" (subdomain, subdomainChangesMax)."""

import pytest

from tests.support.api.concurrency import run_concurrently

URL = "/api/organizations/me"


def _patch(caller, **changes):
    headers = {name: changes.pop(name) for name in list(changes) if name == "Idempotency_Key"}
    return caller.call("PATCH", URL, changes, **headers)


def _number(brand) -> str:
    # What no other test's organization is called.
    return brand.id.hex[-8:]


@pytest.mark.parametrize("word", ["api", "admin", "www"])
def test_a_reserved_subdomain_is_refused(owner, word):
    answer = _patch(owner, subdomain=word)

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, "slug_reserved", "subdomain")


def test_a_subdomain_belongs_to_one_organization_in_the_whole_service(owner, rival):
    theirs = rival.get(URL).json["subdomain"]

    answer = _patch(owner, subdomain=theirs, name="Other")

    assert (answer.status_code, answer.json["error"]) == (409, "subdomain_already_taken")
    assert owner.get(URL).json["name"] == "Brand"
    assert owner.get(URL).json["subdomainChangeCount"] == 0


def test_of_two_who_want_a_subdomain_at_once_one_gets_it(owner, rival):
    other = rival.person("Owner")
    wanted = f"wanted-{_number(owner)}"

    answers = run_concurrently(lambda: _patch(owner, subdomain=wanted), lambda: _patch(other, subdomain=wanted))

    assert sorted(answer.status_code for answer in answers) == [200, 409]


def test_a_subdomain_can_be_changed_three_times(owner):
    number = _number(owner)
    answers = [_patch(owner, subdomain=f"{name}-{number}") for name in ("one", "two", "two", "three", "four")]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 409]
    assert answers[-1].json["error"] == "subdomain_change_limit_reached"
    assert owner.get(URL).json["subdomainChangeCount"] == 3
    assert _patch(owner, subdomain=f"three-{number}", name="Still me").status_code == 200


def test_changes_at_once_with_keys_are_all_counted(owner):
    number = _number(owner)

    answers = run_concurrently(
        *[
            lambda name=name: _patch(owner, subdomain=f"{name}-{number}", Idempotency_Key=name)
            for name in ("one", "two", "three", "four")
        ]
    )

    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 409]
    assert owner.get(URL).json["subdomainChangeCount"] == 3
