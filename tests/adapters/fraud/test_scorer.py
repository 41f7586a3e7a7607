"""The operator's own scorer: what it receives, and how its responses are used."""

import http.server
import json
import threading
import time
from types import SimpleNamespace

import pytest

from adapters.fraud import scorer as fraud_scorer
from adapters.fraud.scorer import Scorer, ScorerUnavailable
from commands.demo.no_delay_handler import NoDelayHandler
from domain import fraud
from domain.fraud import ClickFacts, LeadFacts, Verdict

_CLICK = ClickFacts(agent="Ägent", query_names=frozenset({"gclid", "a"}), languages=("de",))
_LEAD = LeadFacts(email="a@example.com", affiliate_email="b@example.com", click=Verdict(10, ("burst",)))


class _ScorerServer(http.server.ThreadingHTTPServer):
    """A server whose response `answer` writes; `requests` holds (path, headers, body) of each request."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests = []
        self.answer = _respond_with({"score": 0, "reasons": []})
        self.url = f"http://127.0.0.1:{self.server_address[1]}/judge"


class _Handler(NoDelayHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, dict(self.headers), body))
        self.server.answer(self)

    do_GET = do_POST


def _respond_with(response_body, status=200, **headers):
    content = response_body if isinstance(response_body, bytes) else json.dumps(response_body).encode()

    def answer(handler):
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


@pytest.fixture(autouse=True)
def long_timeout(monkeypatch):
    """Use a longer timeout than the product, because a busy machine may respond late."""
    monkeypatch.setattr(fraud_scorer, "_WHOLE_CALL_S", 60.0)


@pytest.fixture
def scorer_server():
    server = _ScorerServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_verdict_is_empty_without_a_scorer():
    assert fraud_scorer.judge(_CLICK) == Verdict(0, ())


def test_click_is_sent_as_json_with_the_token(scorer_server):
    Scorer(scorer_server.url, "secret").judge(_CLICK)

    ((path, headers, body),) = scorer_server.requests
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


def test_lead_is_sent_with_its_click_verdict_and_without_a_token(scorer_server):
    Scorer(scorer_server.url, None).judge(_LEAD)

    ((_, headers, body),) = scorer_server.requests
    payload = json.loads(body)
    assert "Authorization" not in headers
    assert (payload["subject"], payload["email"], payload["click"]) == (
        "lead",
        "a@example.com",
        {"score": 10, "reasons": ["burst"]},
    )


def test_response_is_a_verdict_with_unique_reasons(scorer_server):
    scorer_server.answer = _respond_with({"score": 100, "reasons": ["tor_exit", "seen_before", "tor_exit"]})

    assert Scorer(scorer_server.url, None).judge(_CLICK) == Verdict(100, ("tor_exit", "seen_before"))


@pytest.mark.parametrize(
    ("response_body", "reason"),
    [
        (b"", "not JSON"),
        (b"garbage", "not JSON"),
        (b'{"score": 1, "reasons": []', "not JSON"),
        (b'{"score": NaN, "reasons": []}', "not JSON"),
        (b"\xff\xfe", "not JSON"),
        ([], "not an object"),
        ({"score": 1}, "not an object"),
        ({"score": 1, "reasons": [], "more": 1}, "not an object"),
        ({"score": -1, "reasons": []}, "not a whole number"),
        ({"score": 101, "reasons": []}, "not a whole number"),
        ({"score": 10**18, "reasons": []}, "not a whole number"),
        ({"score": 1.0, "reasons": []}, "not a whole number"),
        ({"score": True, "reasons": []}, "not a whole number"),
        ({"score": "1", "reasons": []}, "not a whole number"),
        ({"score": None, "reasons": []}, "not a whole number"),
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
def test_malformed_response_raises_scorer_away(scorer_server, response_body, reason):
    scorer_server.answer = _respond_with(response_body)

    with pytest.raises(ScorerUnavailable, match=reason):
        Scorer(scorer_server.url, None).judge(_CLICK)


@pytest.mark.parametrize("status", [201, 204, 400, 401, 429, 500, 503])
def test_unexpected_status_raises_scorer_away(scorer_server, status):
    scorer_server.answer = _respond_with({"score": 1, "reasons": []}, status)

    with pytest.raises(ScorerUnavailable, match=f"it responded {status}"):
        Scorer(scorer_server.url, None).judge(_CLICK)


def test_redirect_is_not_followed(scorer_server):
    scorer_server.answer = _respond_with(b"", 302, Location=scorer_server.url + "/elsewhere")

    with pytest.raises(ScorerUnavailable, match="it responded 302"):
        Scorer(scorer_server.url, None).judge(_CLICK)

    assert len(scorer_server.requests) == 1


def test_oversized_response_raises_scorer_away(scorer_server):
    scorer_server.answer = _respond_with(b" " * 10_000_000)

    with pytest.raises(ScorerUnavailable, match="longer than 16384 bytes"):
        Scorer(scorer_server.url, None).judge(_CLICK)


def test_malformed_response_does_not_suspend_the_scorer(scorer_server):
    scorer = Scorer(scorer_server.url, None)
    scorer_server.answer = _respond_with(b"garbage")
    with pytest.raises(ScorerUnavailable):
        scorer.judge(_CLICK)
    scorer_server.answer = _respond_with({"score": 7, "reasons": []})

    assert scorer.judge(_CLICK) == Verdict(7, ())


def _stay_silent(handler):
    time.sleep(60)


def _drip_headers(handler):
    for _ in range(600):
        time.sleep(0.1)
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" if _ == 0 else b"X-More: 1\r\n")


def _drip_body(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _ in range(600):
        time.sleep(0.1)
        handler.wfile.write(b" ")


def _hang_up(handler):
    handler.connection.close()


def test_slow_scorer_is_suspended_for_five_seconds(scorer_server, monkeypatch):
    """Three slow servers run at once; each would take longer than the limit."""
    monkeypatch.setattr(fraud_scorer, "_WHOLE_CALL_S", 2.0)
    now = [0.0]
    took_s, suspended = [], []

    def call(scorer):
        started = time.monotonic()
        with pytest.raises(ScorerUnavailable):
            scorer.judge(_CLICK)
        took_s.append(time.monotonic() - started)
        with pytest.raises(ScorerUnavailable, match="a moment ago"):
            scorer.judge(_CLICK)
        suspended.append(scorer)

    slow = [_stay_silent, _drip_headers, _drip_body]
    scorer_server.answer = lambda handler: slow[int(handler.path[-1])](handler)
    threads = [
        threading.Thread(target=call, args=(Scorer(f"{scorer_server.url}/{n}", None, clock=lambda: now[0]),))
        for n in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    now[0] = 5.1
    monkeypatch.setattr(fraud_scorer, "_WHOLE_CALL_S", 60.0)
    scorer_server.answer = _respond_with({"score": 3, "reasons": []})

    assert len(suspended) == 3
    assert all(1.5 < seconds < 50 for seconds in took_s)
    assert [scorer.judge(_CLICK) for scorer in suspended] == [Verdict(3, ())] * 3


def test_slow_body_suspends_the_scorer_even_if_it_is_read_late(scorer_server, monkeypatch):
    times = iter([0.0])
    monkeypatch.setattr(fraud_scorer, "time", SimpleNamespace(monotonic=lambda: next(times, 1e9)))
    scorer_server.answer = _drip_body
    scorer = Scorer(scorer_server.url, None, clock=lambda: 0.0)

    for reason in ("no complete response", "a moment ago"):
        with pytest.raises(ScorerUnavailable, match=reason):
            scorer.judge(_CLICK)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_dropped_connection_raises_scorer_away(scorer_server):
    scorer_server.answer = _hang_up

    with pytest.raises(ScorerUnavailable, match="the call failed"):
        Scorer(scorer_server.url, None).judge(_CLICK)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://nowhere.invalid/", "https://127.0.0.1:1/"])
def test_unreachable_server_raises_scorer_away(url, monkeypatch):
    monkeypatch.setattr(fraud_scorer, "_WHOLE_CALL_S", 2.0)
    with pytest.raises(ScorerUnavailable, match=r"the call failed|within 2 s"):
        Scorer(url, None).judge(_CLICK)


def test_concurrent_calls_are_limited(scorer_server, monkeypatch):
    monkeypatch.setattr(fraud_scorer, "_MAX_CALLS", 1)
    gate = threading.Event()
    scorer_server.answer = lambda handler: (gate.wait(60), _respond_with({"score": 1, "reasons": []})(handler))
    scorer = Scorer(scorer_server.url, None)
    first = threading.Thread(target=scorer.judge, args=(_CLICK,))
    first.start()
    while not scorer_server.requests:
        time.sleep(0.01)

    with pytest.raises(ScorerUnavailable, match="too many calls"):
        scorer.judge(_CLICK)
    gate.set()
    first.join()


def test_scores_are_added_up_to_a_hundred():
    own_verdict = Verdict(60, ("banned_referrer",))

    assert fraud.add_verdicts(own_verdict, Verdict(15, ("tor_exit",))) == Verdict(75, ("banned_referrer", "tor_exit"))
    assert fraud.add_verdicts(own_verdict, Verdict(50, ("banned_referrer", "tor_exit"))) == Verdict(
        100, ("banned_referrer", "tor_exit")
    )
    assert fraud.add_verdicts(own_verdict, Verdict(0, ())) == own_verdict
