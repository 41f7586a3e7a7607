"""Pages and emails are written in the plain words of the field.

The words below are old-fashioned, vague, or names of our own code where the field has a word that every marketer knows.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support import trees

_WORDS = re.compile(
    r"\b(?:stands?|standing|told|whoever|whom|nobody|somebody|everybody|mend|mended|anew|besides|letters?|strangers?"
    r"|lead on|leads on|let in|lets in|are in again|what became|becomes of|take away|taken away|take it away|gives? out"
    r"|given out|hand(?:s|ed)? out|hands? in|handed in|gave up|given up|given back|taken back|for ever"
    r"|rails?|reckons?|minting|mint|looked at|look into|is asked|are asked|was asked|were asked|hold still|stays behind"
    r"|ticked|is made|are made|its end|end it|goes on)\b",
    re.IGNORECASE,
)
_MOMENT = re.compile(r"(?<!in )(?<!wait )\b(?:the|a|one) moment\b", re.IGNORECASE)
_CALL = re.compile(r"\b_\(\s*\"((?:[^\"\\]|\\.)*)\"|\bngettext\(\s*\"((?:[^\"\\]|\\.)*)\",\s*\"((?:[^\"\\]|\\.)*)\"")
_MARKUP = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<style.*?</style>|<script.*?</script>|<[^>]*>", re.DOTALL)
_TEMPLATES = ("pages/templates", "adapters/mail/templates")
_MODULES = (
    "pages",
    "pipelines/affiliates/status_emails.py",
    "pipelines/host_proofs/checks.py",
    "pipelines/imports/notification.py",
    "pipelines/invites/invite_email.py",
    "pipelines/organization/sign_in_emails.py",
    "pipelines/payouts/choose_account.py",
    "pipelines/payouts/propose.py",
    "pipelines/programs/network_listing.py",
    "pipelines/storefront/second_step.py",
    "domain/attribution",
    "domain/programs/terms_text.py",
)
# Labels that were replaced by the field's own words, whole texts.
_OLD_TEXTS = {
    *("Who earned the most", "Place", "The figures", "Where it is found", "What became of it", "How it is called"),
    *("Whom it credits", "Days that a visit counts", "First invoices that pay nothing", "It takes visits and sales"),
    *(
        "Leave it as it is",
        "At its head",
        "Who wants to be let in",
        "Let in all who are ticked",
        "A code wins over clicks",
    ),
    *(
        "May you pay?",
        "May this run go?",
        "Stays behind, and why",
        "Least payout",
        "Take in what was missed",
        "Its end",
    ),
    *("Nobody referred", "What one can do", "Well", "Hold still", "Its word", "How it looks", "For a camera", "End it"),
    *("Without one it is drawn.", "Take it as a CSV file", "Nothing to take away", "A word for your links"),
    *("Your other browsers", "Keep this logo", "Look into your mail", "There is something to mend"),
}
# Codes in our own code, and plain uses of these words.
_EXCEPTIONS = {
    ("pages/templates/screens/brand/switches/_preview.html", "Nobody is written to."),
    ("domain/attribution/origin.py", "Recorded by hand at the dashboard; the audit log says by whom."),
    ("pipelines/organization/sign_in_emails.py", "letter to "),
}
_PLAIN = re.compile(
    r"%\(\w+\)s|\b(?:dead|three|capital|lowercase)[- ]letters?\b|\bDiscard\b.*\bfor ever\b", re.IGNORECASE
)
# Its strings are codes of states, not texts.
_CODES = "pages/template_filters.py"


def test_pages_and_emails_use_plain_words():
    unplain_texts = [
        f"{name}: {text}"
        for name, text in (*_list_template_texts(), *_list_module_texts())
        if _is_unplain(text) and name != _CODES and (name, text) not in _EXCEPTIONS
    ]

    assert unplain_texts == []


def test_replaced_labels_are_gone():
    texts = (*_list_template_texts(), *_list_module_texts())

    assert [(name, text) for name, text in texts if text in _OLD_TEXTS] == []


def test_screens_use_the_words_of_the_field():
    texts = {text for name, text in _list_template_texts() if name.startswith("pages/templates/screens/")}

    assert texts >= {
        "You're all caught up. New applications, fraud flags and failed webhooks will show up here.",
        "Converted to %(currency)s at each day's rate. Amounts without a rate are listed separately.",
        "In %(currency)s, net of refunds.",
        "Top affiliates",
        "Attribution model",
        "Cookie window (days)",
        "Minimum payout",
        "Export CSV",
    }


def test_unplain_words_are_found():
    for text in ("Nobody waits", "It stands here", "Who is told", "A letter that says it", "One moment …"):
        assert _is_unplain(text)
    for text in ("Try again in a moment", "No dead letters", "Outstanding amount", "Wait a moment and try again"):
        assert not _is_unplain(text)


def _is_unplain(text: str) -> bool:
    checked = _PLAIN.sub("", text)
    return bool(_WORDS.search(checked) or _MOMENT.search(checked))


def _list_template_texts() -> Iterator[tuple[str, str]]:
    """Yield each text of each template, with the template's name."""
    for folder in _TEMPLATES:
        for path in sorted((trees.ROOT / folder).rglob("*.html")):
            name, source = trees.relative_name(path), path.read_text()
            for texts in _CALL.findall(source):
                yield from ((name, text) for text in texts if text)
            yield from ((name, text) for part in _MARKUP.split(source) if (text := " ".join(part.split())))


def _list_module_texts() -> Iterator[tuple[str, str]]:
    """Yield each string of the modules that write to people, without docstrings, with the module's name."""
    for place in _MODULES:
        paths = [trees.ROOT / place] if place.endswith(".py") else trees.list_files(place)
        for path in paths:
            yield from ((trees.relative_name(path), text) for text in _list_strings(path))


def _list_strings(path: Path) -> Iterator[str]:
    tree = trees.parse_file(path)
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
        if is_text and id(node) not in docstrings:
            yield node.value
