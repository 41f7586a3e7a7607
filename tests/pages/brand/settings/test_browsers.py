"""Sessions are shown with the names of browsers, not with their User-Agent."""

import pytest

from pages.brand.settings import browsers

_WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        (f"Mozilla/5.0 (X11; Linux x86_64) {_WEBKIT} Chrome/126.0.0.0 Safari/537.36", "Chrome on Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0) {_WEBKIT} Chrome/126.0.0.0 Safari/537.36 Edg/126.0", "Edge on Windows"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:127.0) Gecko/20100101 Firefox/127.0", "Firefox on macOS"),
        (f"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) {_WEBKIT} Safari/604.1", "Safari on iPhone"),
        (f"Mozilla/5.0 (Linux; Android 14) {_WEBKIT} Chrome/126.0.0.0 Mobile Safari/537.36", "Chrome on Android"),
        ("curl/8.5.0", "curl"),
        ("Mozilla/5.0 (unknown)", None),
        ("", None),
        (None, None),
    ],
)
def test_user_agent_is_described_by_browser_and_system(user_agent, words):
    assert browsers.describe_browser(user_agent) == words
