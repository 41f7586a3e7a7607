"""One example in several languages, of which a page shows one: by radio buttons, so that it works without scripts."""

import re
from collections.abc import Sequence

from markupsafe import Markup, escape

_LABELS = {"sh": "curl", "python": "Python", "js": "JavaScript"}
_FIRST_TAB = Markup('<label><input type="radio" name="code-{}" value="{}" checked>{}</label>')
_OTHER_TAB = Markup('<label><input type="radio" name="code-{}" value="{}">{}</label>')
# Rendered code has no "<": it is escaped.
_CODE = re.compile(r'<pre><code class="language-(sh|python|js)">([^<]*)</code></pre>\n')
_GROUP = re.compile(r'(?:<pre><code class="language-(?:sh|python|js)">[^<]*</code></pre>\n){2,}')


def render_tabs(name: str, samples: Sequence[tuple[str, str]]) -> Markup:
    """Return the samples, each a language and its code; `name` is unique on the page."""
    return _render(name, [(language, escape(code)) for language, code in samples])


def join_neighbours(html: Markup) -> Markup:
    """Return HTML in which code blocks of several languages that follow each other are one example."""
    count = 0

    def join(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        samples = [(language, Markup(code)) for language, code in _CODE.findall(match[0])]  # noqa: S704  # escaped
        return _render(f"example-{count}", samples)

    return Markup(_GROUP.sub(join, html))  # noqa: S704  # made of escaped parts


def _render(name: str, samples: Sequence[tuple[str, Markup]]) -> Markup:
    tabs = Markup("").join(
        (_OTHER_TAB if place else _FIRST_TAB).format(name, language, _LABELS[language])
        for place, (language, _) in enumerate(samples)
    )
    codes = Markup("").join(
        Markup('<pre data-language="{}"><code>{}</code></pre>').format(language, code) for language, code in samples
    )
    legend = Markup('<legend class="unseen">Example request</legend>')
    return Markup('<fieldset class="code">{}{}{}</fieldset>\n').format(legend, tabs, codes)
