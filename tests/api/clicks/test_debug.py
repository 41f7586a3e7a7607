"""Debug output of a click, returned only to testers from the program's organization."""

import pytest

from tests.support.rows.click_rows import consume_stream
from tests.support.rows.link_visits import BROWSER, CLICK, list_stream_clicks, new_slug, visit

_HEADLESS = "Mozilla/5.0 HeadlessChrome/140.0"


def _post_click(app, slug, caller=None, *, query="debug=1", agent=BROWSER, **fields):
    headers = {"User-Agent": agent} | ({"Authorization": f"Bearer {caller}"} if caller else {})
    return visit(app, f"{CLICK}?{query}", method="POST", json={"slug": slug} | fields, headers=headers)


def _get_debug(answer):
    assert answer.status_code == 200
    return answer.json.get("debug")


def test_counted_click_is_explained_as_recorded(app, brand, slug):
    answer = _post_click(app, slug, brand.api_key)

    assert _get_debug(answer) == {"recorded": True, "outcome": "recorded", "score": 0, "reasons": []}
    assert answer.json["clickId"]
    assert len(list_stream_clicks()) == 1


def test_blocked_click_is_explained_and_in_the_fraud_list(app, brand, slug):
    answer = _post_click(app, slug, brand.person("Viewer").api_key, agent=_HEADLESS)
    consume_stream()

    assert _get_debug(answer) == {"recorded": False, "outcome": "blocked", "score": 80, "reasons": ["headless"]}
    (listed,) = brand.get("/api/v1/fraud-events").json
    assert (listed["subjectId"], listed["action"], listed["reasons"], listed["score"]) == (
        answer.json["clickId"],
        "blocked",
        ["headless"],
        80,
    )


def test_repeated_visit_is_explained_as_duplicate(app, brand, slug):
    _post_click(app, slug, brand.api_key)
    consume_stream()

    debug = _get_debug(_post_click(app, slug, brand.api_key))

    assert (debug["recorded"], debug["outcome"]) == (False, "duplicate")
    assert "duplicate" in debug["reasons"]


def test_explained_outcome_equals_the_written_outcome(app, brand):
    brand.program(click_reward_cents=10)
    slug = new_slug()
    brand.affiliate(slug)

    outcomes = [
        _get_debug(_post_click(app, slug, brand.api_key, agent=agent))["outcome"] for agent in (BROWSER, _HEADLESS)
    ]
    consume_stream()

    written = brand.rows("select outcome from click order by occurred_at")
    assert outcomes == [outcome for (outcome,) in written] == ["earned", "blocked"]


def test_uncounted_request_is_explained(app, brand, slug):
    program_id = str(brand.programs[0])
    brand.affiliate("paused-one", status="Paused")

    assert _get_debug(_post_click(app, slug, brand.api_key, agent=f"Googlebot {BROWSER}"))["reasons"] == ["no_visit"]
    assert _get_debug(_post_click(app, "paused-one", brand.api_key, programId=program_id))["reasons"] == [
        "affiliate_not_approved"
    ]
    assert _get_debug(_post_click(app, "nobody-here", brand.api_key, programId=program_id))["reasons"] == [
        "unknown_slug"
    ]
    brand.rows("update program set is_active = false returning id")
    assert _get_debug(_post_click(app, slug, brand.api_key))["reasons"] == ["program_not_open"]
    assert list_stream_clicks() == []


def test_click_without_a_body_is_explained(app, brand, slug):
    headers = {"Authorization": f"Bearer {brand.api_key}"}

    answer = visit(app, f"{CLICK}?slug={slug}&debug=1", headers=headers)

    assert _get_debug(answer)["recorded"] is True


def _strip_id(answer):
    payload = dict(answer.json)
    payload.pop("clickId", None)
    return payload, sorted(name for name, _ in answer.headers)


def test_other_callers_get_no_debug_output(app, brand, rival, slug):
    rival.program()
    ordinary = _post_click(app, slug, query="")
    others = (None, "wrong", "a.b.c", rival.api_key, rival.person("Owner").api_key)

    for caller in others:
        answer = _post_click(app, slug, caller)
        assert _strip_id(answer) == _strip_id(ordinary), caller
        assert len(answer.data) == len(ordinary.data)


def test_debug_does_not_reveal_other_tenants_slugs(app, brand, rival, slug):
    rival.program()
    brand.rows("update program set is_active = false returning id")

    for text in (slug, "nobody-has-this"):
        assert _post_click(app, text, rival.api_key).json == {"ok": True}
        assert _post_click(app, text, rival.api_key, programId=str(brand.programs[0])).json == {"ok": True}


@pytest.mark.parametrize("query", ["debug=0", "debug=", "debug=true", "debug=1&debug=0", "debug=%00"])
def test_only_debug_1_requests_debug_output(app, brand, slug, query):
    answer = _post_click(app, slug, brand.api_key, query=query)

    assert answer.status_code == 200
    assert ("debug" in answer.json) is (query == "debug=1&debug=0")
