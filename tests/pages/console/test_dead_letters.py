"""Dead letters on their screen. Source: the pages' interface, "Dead letters"."""

import html
import re

from domain import jobs
from models import db
from tests.support.outside.console import list_audit_entries, stage_failed_job


def _list_dead_letters():
    with db.any_org_work():
        return [number for (number,) in db.db.run("select id from job where failed_at is not null order by id")]


def _shown_letters(html_text):
    return [int(number) for number in re.findall(r'<details class="card dead" id="dead-(\d+)"', html_text)]


def test_dead_letter_shows_its_details(operator, brand):
    letter = stage_failed_job(brand)
    html = operator.open("/console/dead").text
    (details,) = re.findall(r"<details.*?</details>", html.partition("<main")[2], re.DOTALL)

    assert re.search(rf"<summary><b[^>]*>{letter}</b> sale.settle", details)
    assert "LookupError: no &lt;such&gt; sale" in details
    assert str(brand.id) in details
    assert "a-sale" in details
    assert f'<label for="dead-{letter}-why">Or discard, because</label>' in details
    assert "Replay" in details
    assert "Discard for ever" in details
    assert 'data-hold aria-pressed="false"' in html


def test_full_error_has_its_own_page(operator, brand):
    html = operator.open(f"/console/dead/{stage_failed_job(brand)}").text

    assert "Traceback (most recent call last)" in html
    assert "no &lt;such&gt; sale" in html
    assert operator.open("/console/dead/99999999999").status_code == 404


def test_open_dead_letter_is_replayed_with_one_click(operator, brand):
    letter, remaining = stage_failed_job(brand), stage_failed_job(brand)
    answer = operator.send(f"/console/dead/{letter}/replay", {"_key": "a"})

    assert (answer.status_code, answer.headers["Location"]) == (303, "/console/dead")
    assert _list_dead_letters() == [remaining]
    assert operator.send(f"/console/dead/{letter}/replay", {"_key": "a"}).status_code == 303
    assert operator.send(f"/console/dead/{letter}/replay", {"_key": "b"}).status_code == 404


def test_discard_without_a_reason_is_a_422_without_live_parts(operator, brand):
    letter = stage_failed_job(brand)
    answer = operator.send(f"/console/dead/{letter}/discard", {"why": "", "_key": "a"})

    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert f'href="#dead-{letter}-why"' in answer.text
    assert f'id="dead-{letter}" open>' in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert 'id="dead" data-live' not in answer.text
    assert _list_dead_letters() == [letter]


def test_discard_with_a_reason_is_final_and_recorded(operator, brand):
    letter = stage_failed_job(brand)
    answer = operator.send(f"/console/dead/{letter}/discard", {"why": "paid by hand", "_key": "a"})

    assert answer.status_code == 303
    assert _list_dead_letters() == []
    ((actor, actor_name, organization_id, after),) = list_audit_entries("job.discarded", letter)
    assert (actor, actor_name, organization_id, after["why"]) == (
        "operator",
        "operator@example.com",
        brand.id,
        "paid by hand",
    )


def test_filter_is_kept_in_address_and_live_part(operator, brand, rival):
    sale, refund, rivals_letter = (
        stage_failed_job(brand),
        stage_failed_job(brand, job=jobs.REFUND_CASCADE),
        stage_failed_job(rival),
    )
    everything = operator.open("/console/dead").text
    filtered = operator.open(f"/console/dead?queue=sales&organizationId={brand.id}&name=").text
    part = html.unescape(re.search(r'id="dead" data-live hx-get="([^"]*)"', filtered)[1])

    assert _shown_letters(everything) == [rivals_letter, refund, sale]
    assert _shown_letters(filtered) == [sale]
    assert operator.open(part).status_code == 204
    assert 'value="sales" selected' in filtered
    assert operator.open("/console/dead?queue=none").status_code == 200
    assert operator.open("/console/dead?organizationId=none").status_code == 400


def test_older_dead_letters_keep_the_filter(operator, brand):
    letters = [stage_failed_job(brand) for _ in range(22)][::-1]
    first = operator.open("/console/dead?queue=sales").text
    address = html.unescape(re.search(r'href="([^"]*)" rel="next"', first)[1])

    assert _shown_letters(first) == letters[:20]
    assert _shown_letters(operator.open(address).text) == letters[20:]
    assert "queue=sales" in address


def test_filtered_letters_are_replayed_after_confirming_their_count(operator, brand, rival):
    stage_failed_job(brand), stage_failed_job(brand)
    rivals_letter = stage_failed_job(rival)
    confirmation = operator.open(f"/console/dead/replay?organizationId={brand.id}").text
    form = {"organizationId": str(brand.id), "count": "2", "why": "mended", "_key": "a"}
    answer = operator.send("/console/dead/replay", form)

    assert "Replay 2 dead letters" in confirmation
    assert '<input type="hidden" name="count" value="2">' in confirmation
    assert answer.status_code == 303
    assert _list_dead_letters() == [rivals_letter]


def test_replay_with_a_changed_count_replays_nothing_and_shows_the_count(operator, brand):
    stage_failed_job(brand)
    answer = operator.send("/console/dead/replay", {"count": "2", "why": "typed", "_key": "a"})

    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert "Replay 1 dead letter" in answer.text
    assert 'value="typed"' in answer.text
    assert len(_list_dead_letters()) == 1
    for count in ("", "many", "-1", "9" * 40):
        assert operator.send("/console/dead/replay", {"count": count, "_key": count or "b"}).status_code == 422


def test_empty_dead_letter_list_shows_a_message(operator, page_text):
    assert "No dead letters" in page_text(operator.open("/console/dead"))
    assert "No dead letters match this filter" in page_text(operator.open("/console/dead?queue=sales"))


def test_filtered_letters_are_discarded_after_typing_their_count(operator, brand, rival, page_text):
    stage_failed_job(brand), stage_failed_job(brand, job=jobs.REFUND_CASCADE)
    rivals_letter = stage_failed_job(rival)
    filtered = operator.open(f"/console/dead?organizationId={brand.id}").text
    address = html.unescape(re.search(r'href="(/console/dead/discard[^"]*)"', filtered)[1])
    confirmation = operator.open(address)
    form = {"organizationId": str(brand.id), "typed": "2", "why": "a test shop", "_key": "a"}
    answer = operator.send("/console/dead/discard", form)

    assert "2 dead letters will be deleted permanently" in page_text(confirmation)
    assert "refund.cascade 1" in page_text(confirmation) and "sale.settle 1" in page_text(confirmation)
    assert "an accepted sale that credits no one" in page_text(confirmation)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/console/dead")
    assert _list_dead_letters() == [rivals_letter]


def test_bulk_discard_with_wrong_number_or_no_reason_discards_nothing(operator, brand):
    letter = stage_failed_job(brand)
    for number, (typed, why) in enumerate([("2", "w"), ("", "w"), ("many", "w"), ("1", " "), ("9" * 40, "w")]):
        form = {"typed": typed, "why": why, "_key": str(number)}
        answer = operator.send("/console/dead/discard", form)

        assert answer.status_code == 422
        assert 'role="alert"' in answer.text
        assert _list_dead_letters() == [letter]


def test_error_filter_narrows_list_and_bulk_pages(operator, brand):
    matching, other = stage_failed_job(brand), stage_failed_job(brand)
    with db.any_org_work():
        db.db.run("update job set last_error = 'ValueError: Odd' where id = %s", (other,))

    assert _shown_letters(operator.open("/console/dead?error=lookuperror").text) == [matching]
    assert "Discard 1 dead letter for ever" in operator.open("/console/dead/discard?error=odd").text


def test_dead_letter_page_explains_a_discard(operator, brand, page_text):
    brand.program()
    brand.affiliate("ben")
    brand.sale(externalEventId="order-a", amountCents=12_345)
    with db.any_org_work():
        ((number,),) = db.db.run("update job set failed_at = now() where name = 'sale.settle' returning id")

    for path in (f"/console/dead/{number}", "/console/dead"):
        text = page_text(operator.open(path))
        assert "If discarded, this remains undone: an accepted sale that credits no one, order-a , 123.45 USD" in text
