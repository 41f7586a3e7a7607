"""Words of the pages of a switch."""

import re

import pytest


@pytest.fixture
def read_text():
    """Return a function that returns the text of an answer, with single spaces."""
    return lambda answer: re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", answer.text))
