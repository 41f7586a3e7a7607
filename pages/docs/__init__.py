"""The documentation at /docs: an index, guides, one page per group of operations, events, error codes.

documentation   the routes; each page is rendered at its first request and stored compressed
contents        the chapters and their addresses
code_tabs       one example in several languages
"""

from pages.docs import documentation

BLUEPRINTS = (documentation.blueprint,)
