"""The subdomain of the brand's portal. Source: core spec, "Other resources" (subdomain, subdomainChangesMax)."""

import pytest

from tests.support.api.concurrency import run_concurrently

URL = "/api/organizations/me"


def _patch(caller, **changes):
    headers = {name: changes.pop(name) for name in list(changes) if name == "Idempotency_Key"}
    return caller.call("PATCH", URL, changes, **headers)


def _unique_suffix(brand) -> str:
    """Return a suffix unique to the test's organization."""
    return brand.id.hex[-8:]


@pytest.mark.parametrize("word", ["api", "admin", "www"])
def test_reserved_subdomain_is_refused(owner, word):
    answer = _patch(owner, subdomain=word)

    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, "slug_reserved", "subdomain")


def test_subdomain_is_unique_in_the_whole_service(owner, rival):
    rivals_subdomain = rival.get(URL).json["subdomain"]

    answer = _patch(owner, subdomain=rivals_subdomain, name="Other")

    assert (answer.status_code, answer.json["error"]) == (409, "subdomain_already_taken")
    assert owner.get(URL).json["name"] == "Brand"
    assert owner.get(URL).json["subdomainChangeCount"] == 0


def test_concurrent_changes_to_one_subdomain_leave_one_winner(owner, rival):
    rivals_owner = rival.person("Owner")
    subdomain = f"wanted-{_unique_suffix(owner)}"

    answers = run_concurrently(
        lambda: _patch(owner, subdomain=subdomain), lambda: _patch(rivals_owner, subdomain=subdomain)
    )

    assert sorted(answer.status_code for answer in answers) == [200, 409]


def test_subdomain_can_be_changed_three_times(owner):
    suffix = _unique_suffix(owner)
    answers = [_patch(owner, subdomain=f"{name}-{suffix}") for name in ("one", "two", "two", "three", "four")]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 409]
    assert answers[-1].json["error"] == "subdomain_change_limit_reached"
    assert owner.get(URL).json["subdomainChangeCount"] == 3
    assert _patch(owner, subdomain=f"three-{suffix}", name="Still me").status_code == 200


def test_concurrent_changes_with_idempotency_keys_are_all_counted(owner):
    suffix = _unique_suffix(owner)

    answers = run_concurrently(
        *[
            lambda name=name: _patch(owner, subdomain=f"{name}-{suffix}", Idempotency_Key=name)
            for name in ("one", "two", "three", "four")
        ]
    )

    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 409]
    assert owner.get(URL).json["subdomainChangeCount"] == 3
