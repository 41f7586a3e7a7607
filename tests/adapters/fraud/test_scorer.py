"""The operator's own scorer: what it is told, and what becomes of what it says."""

import http.server
import json
import threading
import time
from types import SimpleNamespace

import pytest

from adapters.fraud import scorer as fraud_scorer
from adapters.fraud.scorer import Scorer, ScorerAway
from commands.demo.prompt_handler import PromptHandler
from domain import fraud
from domain.fraud import ClickFacts, LeadFacts, Verdict

_CLICK = ClickFacts(agent="Ägent", query_names=frozenset({"gclid", "a"}), languages=("de",))
_LEAD = LeadFacts(email="a@example.com", affiliate_email="b@example.com", click=Verdict(10, ("burst",)))


class _Place(http.server.ThreadingHTTPServer):
    """A server that answers whatever `answer` writes; `heard` holds (path, headers, body) of each request."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.heard = []
        self.answer = _says({"score": 0, "reasons": []})
        self.url = f"http://127.0.0.1:{self.server_address[1]}/judge"


class _Handler(PromptHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append((self.path, dict(self.headers), body))
        self.server.answer(self)

    do_GET = do_POST


def _says(said, status=200, **headers):
    content = said if isinstance(said, bytes) else json.dumps(said).encode()

    def answer(handler):
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Wait longer than the product does for a server that is there: a busy machine is no slow scorer."""
    monkeypatch.setattr(fraud_scorer, "_WHOLE_CALL_S", 60.0)


@pytest.fixture
def place():
    place = _Place()
    thread = threading.Thread(target=place.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield place
    place.shutdown()
    place.server_close()
    thread.join()


def test_without_a_scorer_nothing_speaks_against_anything():
    assert fraud_scorer.judge(_CLICK) == Verdict(0, ())


def test_a_click_is_told_as_json_with_the_token(place):
    Scorer(place.url, "secret").judge(_CLICK)

    ((path, headers, body),) = place.heard
    assert (path, headers["Authorization"], headers["Content-Type"]) == ("/judge", "Bearer secret", "application/json")
    assert json.loads(body) == {
        "subject": "click",
        "agent": "Ägent",
        "is_bot": False,
        "is_from_data_centre": False,
        "referrer_host": None,
        "banned_referrers": [],
        "query_names": ["a", "gclid"],
        "network_clicks": 1,
        "device_links": 1,
        "ms_since_last": None,
        "languages": ["de"],
        "country": None,
    }


def test_a_lead_is_told_with_what_is_known_of_its_click_and_no_token_is_made_up(place):
    Scorer(place.url, None).judge(_LEAD)

    ((_, headers, body),) = place.heard
    said = json.loads(body)
    assert "Authorization" not in headers
    assert (said["subject"], said["email"], said["click"]) == (
        "lead",
        "a@example.com",
        {"score": 10, "reasons": ["burst"]},
    )


def test_its_answer_is_a_verdict_with_every_reason_once(place):
    place.answer = _says({"score": 100, "reasons": ["tor_exit", "seen_before", "tor_exit"]})

    assert Scorer(place.url, None).judge(_CLICK) == Verdict(100, ("tor_exit", "seen_before"))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", "not JSON"),
        (b"garbage", "not JSON"),
        (b'{"score": 1, "reasons": []', "not JSON"),
        (b'{"score": NaN, "reasons": []}', "not JSON"),
        (b"\xff\xfe", "not JSON"),
        ([], "not an object"),
        ({"score": 1}, "not an object"),
        ({"score": 1, "reasons": [], "more": 1}, "not an object"),
        ({"score": -1, "reasons": []}, "no whole number"),
        ({"score": 101, "reasons": []}, "no whole number"),
        ({"score": 10**18, "reasons": []}, "no whole number"),
        ({"score": 1.0, "reasons": []}, "no whole number"),
        ({"score": True, "reasons": []}, "no whole number"),
        ({"score": "1", "reasons": []}, "no whole number"),
        ({"score": None, "reasons": []}, "no whole number"),
        ({"score": 1, "reasons": "bad"}, "its reasons are not"),
        ({"score": 1, "reasons": None}, "its reasons are not"),
        ({"score": 1, "reasons": [1]}, "its reasons are not"),
        ({"score": 1, "reasons": [""]}, "its reasons are not"),
        ({"score": 1, "reasons": ["Bad Words"]}, "its reasons are not"),
        ({"score": 1, "reasons": ["nul\0"]}, "its reasons are not"),
        ({"score": 1, "reasons": ["line\n"]}, "its reasons are not"),
        ({"score": 1, "reasons": ["x" * 65]}, "its reasons are not"),
        ({"score": 1, "reasons": [f"r{number}" for number in range(21)]}, "its reasons are not"),
    ],
)
def test_an_answer_that_is_not_what_was_asked_for_is_none(place, said, why):
    place.answer = _says(said)

    with pytest.raises(ScorerAway, match=why):
        Scorer(place.url, None).judge(_CLICK)


@pytest.mark.parametrize("status", [201, 204, 400, 401, 429, 500, 503])
def test_another_status_is_no_answer(place, status):
    place.answer = _says({"score": 1, "reasons": []}, status)

    with pytest.raises(ScorerAway, match=f"it answers {status}"):
        Scorer(place.url, None).judge(_CLICK)


def test_a_redirect_is_not_followed(place):
    place.answer = _says(b"", 302, Location=place.url + "/elsewhere")

    with pytest.raises(ScorerAway, match="it answers 302"):
        Scorer(place.url, None).judge(_CLICK)

    assert len(place.heard) == 1


def test_a_flood_is_not_read_to_its_end(place):
    place.answer = _says(b" " * 10_000_000)

    with pytest.raises(ScorerAway, match="longer than 16384 bytes"):
        Scorer(place.url, None).judge(_CLICK)


def test_a_bad_answer_about_one_does_not_keep_the_next_from_being_asked_about(place):
    scorer = Scorer(place.url, None)
    place.answer = _says(b"garbage")
    with pytest.raises(ScorerAway):
        scorer.judge(_CLICK)
    place.answer = _says({"score": 7, "reasons": []})

    assert scorer.judge(_CLICK) == Verdict(7, ())


def _stays_silent(handler):
    time.sleep(60)


def _drips_its_head(handler):
    for _ in range(600):
        time.sleep(0.1)
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" if _ == 0 else b"X-More: 1\r\n")


def _drips_its_body(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _ in range(600):
        time.sleep(0.1)
        handler.wfile.write(b" ")


def _hangs_up(handler):
    handler.connection.close()


def test_who_does_not_answer_within_two_seconds_is_left_alone_for_five(place, monkeypatch):
    """Three kinds of slowness at once; each would last longer than the limit."""
    monkeypatch.setattr(fraud_scorer, "_WHOLE_CALL_S", 2.0)
    now = [0.0]
    took_s, left_alone = [], []

    def call(scorer):
        started = time.monotonic()
        with pytest.raises(ScorerAway):
            scorer.judge(_CLICK)
        took_s.append(time.monotonic() - started)
        with pytest.raises(ScorerAway, match="a moment ago"):
            scorer.judge(_CLICK)
        left_alone.append(scorer)

    slow = [_stays_silent, _drips_its_head, _drips_its_body]
    place.answer = lambda handler: slow[int(handler.path[-1])](handler)
    threads = [
        threading.Thread(target=call, args=(Scorer(f"{place.url}/{n}", None, clock=lambda: now[0]),)) for n in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    now[0] = 5.1
    monkeypatch.setattr(fraud_scorer, "_WHOLE_CALL_S", 60.0)
    place.answer = _says({"score": 3, "reasons": []})

    assert len(left_alone) == 3
    assert all(1.5 < seconds < 50 for seconds in took_s)
    assert [scorer.judge(_CLICK) for scorer in left_alone] == [Verdict(3, ())] * 3


def test_who_drips_is_left_alone_also_where_the_reader_is_late_before_who_waits(place, monkeypatch):
    moments = iter([0.0])
    monkeypatch.setattr(fraud_scorer, "time", SimpleNamespace(monotonic=lambda: next(moments, 1e9)))
    place.answer = _drips_its_body
    scorer = Scorer(place.url, None, clock=lambda: 0.0)

    for why in ("no complete answer", "a moment ago"):
        with pytest.raises(ScorerAway, match=why):
            scorer.judge(_CLICK)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_server_that_hangs_up_is_away(place):
    place.answer = _hangs_up

    with pytest.raises(ScorerAway, match="the call failed"):
        Scorer(place.url, None).judge(_CLICK)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://nowhere.invalid/", "https://127.0.0.1:1/"])
def test_nobody_there_is_away(url, monkeypatch):
    monkeypatch.setattr(fraud_scorer, "_WHOLE_CALL_S", 2.0)
    with pytest.raises(ScorerAway, match=r"the call failed|within 2 s"):
        Scorer(url, None).judge(_CLICK)


def test_no_more_than_some_calls_are_under_way_at_once(place, monkeypatch):
    monkeypatch.setattr(fraud_scorer, "_MOST_CALLS", 1)
    gate = threading.Event()
    place.answer = lambda handler: (gate.wait(60), _says({"score": 1, "reasons": []})(handler))
    scorer = Scorer(place.url, None)
    first = threading.Thread(target=scorer.judge, args=(_CLICK,))
    first.start()
    while not place.heard:
        time.sleep(0.01)

    with pytest.raises(ScorerAway, match="too many calls"):
        scorer.judge(_CLICK)
    gate.set()
    first.join()


def test_its_points_are_added_to_ours_up_to_a_hundred():
    ours = Verdict(60, ("banned_referrer",))

    assert fraud.add_verdicts(ours, Verdict(15, ("tor_exit",))) == Verdict(75, ("banned_referrer", "tor_exit"))
    assert fraud.add_verdicts(ours, Verdict(50, ("banned_referrer", "tor_exit"))) == Verdict(
        100, ("banned_referrer", "tor_exit")
    )
    assert fraud.add_verdicts(ours, Verdict(0, ())) == ours
