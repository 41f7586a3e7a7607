"""Platforms that do not know the person yet, are slow or unavailable: look-ups are retried for two hours."""

import pytest

from domain.platforms import schedule
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import drain
from tests.support.platforms.platform_connections import USUAL_BUDGET_S
from tests.support.settings_overrides import override_settings

ANN = "ann@example.com"


def _run_all_retries(shop, skip_to_next_lookup):
    """Move time on until no look-up is left; return the pauses in seconds."""
    pauses = []
    while (pause := skip_to_next_lookup()) is not None:
        pauses.append(pause)
        drain()
    return pauses


def _list_failed_jobs(shop):
    return shop.brand.rows("select queue, last_error from job where name = 'platform.lookup' and failed_at is not null")


def test_person_added_later_is_found_by_a_scheduled_retry(shop, platform, skip_to_next_lookup):
    shop.sell(slug=None)
    assert round(skip_to_next_lookup() / 60) == 1
    drain()
    assert round(skip_to_next_lookup() / 60) == 5
    platform.add_person(ANN, slug="jane")
    drain()
    assert shop.conversions("attribution_method") == [("crm_lookup:kit",)]
    assert (platform.count_lookups(), skip_to_next_lookup()) == (3, None)


def test_unknown_person_is_looked_up_six_times_in_121_minutes(shop, platform, skip_to_next_lookup):
    sale = shop.stage.pay(Purchase(slug=None))
    shop.receive(*sale.notifications)
    pauses = _run_all_retries(shop, skip_to_next_lookup)
    assert [round(pause / 60) for pause in pauses] == [1, 5, 15, 40, 60]
    assert platform.count_lookups() == 6
    assert shop.brand.rows("select count(*) from platform_lookup") == [(0,)]
    assert (_list_failed_jobs(shop), shop.conversions()) == ([], [])

    shop.receive(*sale.notifications)  # a repeated event is no new sale
    assert platform.count_lookups() == 6


def test_retry_schedule_follows_its_setting(shop, platform, skip_to_next_lookup, monkeypatch):
    override_settings(monkeypatch, platforms={"lookup_retry_at_s": (500, 900)})
    shop.sell(slug=None)
    pauses = _run_all_retries(shop, skip_to_next_lookup)
    assert [round(pause / 100) for pause in pauses] == [5, 4]
    assert platform.count_lookups() == 3


def test_known_person_without_slug_is_not_looked_up_again(shop, platform, skip_to_next_lookup):
    platform.add_person(ANN)
    shop.sell(slug=None)
    assert (platform.count_lookups(), skip_to_next_lookup()) == (1, None)
    assert shop.brand.rows("select count(*) from platform_lookup") == [(0,)]


def test_person_without_slug_at_one_platform_is_found_at_another(shop, connect, skip_to_next_lookup):
    first, second = connect("kit"), connect("hubspot")
    first.add_person(ANN)
    shop.sell(slug=None)
    second.add_person(ANN, slug="jane")
    skip_to_next_lookup()
    drain()
    assert shop.conversions("attribution_method") == [("crm_lookup:hubspot",)]


@pytest.mark.parametrize("fault", ["fail", "busy", "cut", "html"])
def test_unavailable_platform_leaves_sale_uncredited_and_a_failed_job(
    shop, platform, skip_to_next_lookup, flask, fault
):
    platform.add_person(ANN, slug="jane")
    platform.faults.extend([fault] * 100)
    shop.sell(slug=None)
    assert [round(pause / 60) for pause in _run_all_retries(shop, skip_to_next_lookup)] == [1, 5, 15, 40, 60]
    assert shop.events()[0] == ("invoice.paid", "Processed", "nobody_referred")
    ((queue, error),) = _list_failed_jobs(shop)
    assert (queue, "kit: " in error, ANN in error) == ("lookups", True, False)

    platform.faults.clear()
    shop.change("update job set failed_at = null, run_at = now(), max_attempts = attempt + 20 where queue = 'lookups'")
    drain()
    assert shop.conversions("attribution_method") == [("crm_lookup:kit",)]
    assert _list_failed_jobs(shop) == []


def test_slow_platform_is_retried_later(shop, platform, skip_to_next_lookup, monkeypatch):
    platform.add_person(ANN, slug="jane")
    platform.faults.append("hang")
    with monkeypatch.context() as patch:
        patch.setattr(schedule, "BUDGET_S", USUAL_BUDGET_S)
        shop.sell(slug=None)
    assert shop.conversions() == []
    assert skip_to_next_lookup() is not None
    drain()
    assert len(shop.conversions()) == 1


def test_rate_limited_platform_is_not_called_before_its_retry_after(shop, platform, skip_to_next_lookup):
    platform.busy_s = 200
    platform.faults.append("busy")
    shop.sell(slug=None)
    assert skip_to_next_lookup() in range(150, 201)  # less the time since its response


def test_known_buyer_is_credited_while_another_platform_is_unavailable(shop, connect):
    first, second = connect("kit"), connect("hubspot")
    second.add_person(ANN, slug="jane")
    first.faults.append("fail")
    shop.sell(slug=None)
    assert shop.conversions("attribution_method") == [("crm_lookup:hubspot",)]


def test_look_up_naming_a_paused_affiliate_waits_for_an_earning_one(shop, connect, skip_to_next_lookup):
    shop.brand.affiliate("rob", status="Paused")
    first, second = connect("kit"), connect("hubspot")
    first.add_person(ANN, slug="rob")
    shop.sell(slug=None)
    second.add_person(ANN, slug="jane")
    skip_to_next_lookup()
    drain()
    assert shop.conversions("attribution_method") == [("crm_lookup:hubspot",)]
    assert shop.brand.get("/api/v1/uncredited-conversions").json == []
