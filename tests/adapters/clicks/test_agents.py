"""User agents that count as bots."""

import time

import pytest

from adapters.clicks import agents

_CHROME = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
)
_IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5"
    " Mobile/15E148 Safari/604.1"
)


@pytest.mark.parametrize(
    "agent",
    [
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        "Mozilla/5.0 (iPhone) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120 (compatible; bingbot/2.0)",
        "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
        "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
        "WhatsApp/2.23.20.0 A",
        "GPTBot/1.0",
        "curl/8.1.2",
        "python-requests/2.32",
        "Go-http-client/1.1",
    ],
)
def test_robot_user_agent_is_a_bot(agent):
    assert agents.is_bot(agent)


@pytest.mark.parametrize("agent", ["", "   ", "\t"])
def test_blank_user_agent_is_a_bot(agent):
    assert agents.is_bot(agent)


@pytest.mark.parametrize(
    "agent",
    [
        _CHROME,
        _IPHONE,
        "Mozilla/5.0 (Linux; Android 10; CUBOT_X19) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/99.0 Mobile",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 13_6) AppleWebKit/605.1.15 Mobile/15E148 Instagram 142.0.0.22.109",
        "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0",
        "Überbrowser/1.0 ☃",
        "a\0b\ud800",
    ],
)
def test_browser_user_agent_is_not_a_bot(agent):
    assert not agents.is_bot(agent)


@pytest.mark.parametrize("agent", [_CHROME.replace("Chrome/", "HeadlessChrome/"), "HeadlessChrome/120", "headless"])
def test_headless_browser_is_not_a_bot(agent):
    assert not agents.is_bot(agent)


@pytest.mark.parametrize("piece", ["a", "-", "bo", "a1-_", "http", " "])
def test_hostile_user_agent_is_checked_within_200_ms(piece):
    """A pattern that backtracks from every character would take a second for each of these."""
    agents.is_bot(_CHROME)
    started = time.process_time()

    agents.is_bot("+" + piece * 100_000)

    assert time.process_time() - started < 0.2


def test_bot_name_beyond_the_maximum_length_is_ignored():
    assert not agents.is_bot(_CHROME + " " * agents.MAX_LENGTH + "Googlebot/2.1")
