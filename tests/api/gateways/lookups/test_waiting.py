"""Platforms that do not know the person yet, are slow or away: they are asked again for two hours, the sale stands."""

import pytest

from domain.platforms import schedule
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.platforms.platform_connections import USUAL_BUDGET_S
from tests.support.settings_overrides import override_settings

ANN = "ann@example.com"


def _until_the_end(shop, until_next):
    """Let time pass until platforms are not asked again; return the pauses in seconds, less what passes by itself."""
    pauses = []
    while (pause := until_next()) is not None:
        pauses.append(pause)
        drain()
    return pauses


def _dead(shop):
    return shop.brand.rows("select queue, last_error from job where name = 'platform.lookup' and failed_at is not null")


def test_a_person_who_appears_later_is_found_by_the_schedule(shop, platform, until_next):
    shop.sell(slug=None)
    assert round(until_next() / 60) == 1
    drain()
    assert round(until_next() / 60) == 5
    platform.add_person(ANN, slug="jane")
    drain()
    assert shop.conversions("attribution_method") == [("crm_lookup:kit",)]
    assert (platform.count_lookups(), until_next()) == (3, None)


def test_a_person_who_never_appears_is_asked_for_six_times_in_121_minutes(shop, platform, until_next):
    sale = shop.stage.pay(Purchase(slug=None))
    shop.hear(*sale.notifications)
    pauses = _until_the_end(shop, until_next)
    assert [round(pause / 60) for pause in pauses] == [1, 5, 15, 40, 60]
    assert platform.count_lookups() == 6
    assert shop.brand.rows("select count(*) from platform_lookup") == [(0,)]
    assert (_dead(shop), shop.conversions()) == ([], [])

    shop.hear(*sale.notifications)  # what is told again is no new sale
    assert platform.count_lookups() == 6


def test_the_schedule_is_a_setting(shop, platform, until_next, monkeypatch):
    override_settings(monkeypatch, platforms={"lookup_retry_at_s": (500, 900)})
    shop.sell(slug=None)
    pauses = _until_the_end(shop, until_next)
    assert [round(pause / 100) for pause in pauses] == [5, 4]
    assert platform.count_lookups() == 3


def test_a_person_of_whom_no_slug_is_known_is_not_asked_for_again(shop, platform, until_next):
    platform.add_person(ANN)
    shop.sell(slug=None)
    assert (platform.count_lookups(), until_next()) == (1, None)
    assert shop.brand.rows("select count(*) from platform_lookup") == [(0,)]


def test_who_is_known_at_one_platform_may_appear_at_another(shop, connect, until_next):
    first, second = connect("kit"), connect("hubspot")
    first.add_person(ANN)
    shop.sell(slug=None)
    second.add_person(ANN, slug="jane")
    until_next()
    drain()
    assert shop.conversions("attribution_method") == [("crm_lookup:hubspot",)]


@pytest.mark.parametrize("fault", ["fail", "busy", "cut", "html"])
def test_a_platform_that_is_away_for_two_hours_leaves_the_sale_and_a_dead_letter(
    shop, platform, until_next, flask, fault
):
    platform.add_person(ANN, slug="jane")
    platform.faults.extend([fault] * 100)
    shop.sell(slug=None)
    assert [round(pause / 60) for pause in _until_the_end(shop, until_next)] == [1, 5, 15, 40, 60]
    assert shop.events()[0] == ("invoice.paid", "Processed", "nobody_referred")
    ((queue, error),) = _dead(shop)
    assert (queue, "kit: " in error, ANN in error) == ("lookups", True, False)

    platform.faults.clear()
    shop.change("update job set failed_at = null, run_at = now(), max_attempts = attempt + 20 where queue = 'lookups'")
    drain()
    assert shop.conversions("attribution_method") == [("crm_lookup:kit",)]
    assert _dead(shop) == []


def test_a_platform_that_is_slow_is_not_waited_for(shop, platform, until_next, monkeypatch):
    platform.add_person(ANN, slug="jane")
    platform.faults.append("hang")
    with monkeypatch.context() as prompt:
        prompt.setattr(schedule, "BUDGET_S", USUAL_BUDGET_S)
        shop.sell(slug=None)
    assert shop.conversions() == []
    assert until_next() is not None
    drain()
    assert len(shop.conversions()) == 1


def test_a_platform_that_has_enough_of_us_is_left_alone_as_long_as_it_asks(shop, platform, until_next):
    platform.busy_s = 200
    platform.faults.append("busy")
    shop.sell(slug=None)
    assert until_next() in range(150, 201)  # it was told so a moment ago, or a while, on a busy machine


def test_a_platform_that_names_somebody_need_not_wait_for_one_that_is_away(shop, connect):
    first, second = connect("kit"), connect("hubspot")
    second.add_person(ANN, slug="jane")
    first.faults.append("fail")
    shop.sell(slug=None)
    assert shop.conversions("attribution_method") == [("crm_lookup:hubspot",)]


def test_somebody_who_cannot_earn_waits_for_who_can_until_the_end(shop, connect, until_next):
    shop.brand.affiliate("rob", status="Paused")
    first, second = connect("kit"), connect("hubspot")
    first.add_person(ANN, slug="rob")
    shop.sell(slug=None)
    second.add_person(ANN, slug="jane")
    until_next()
    drain()
    assert shop.conversions("attribution_method") == [("crm_lookup:hubspot",)]
    assert shop.brand.get("/api/v1/uncredited-conversions").json == []
