"""Live parts: a piece of a page that asks for itself again and changes only when there is something new.

The address that a part asks carries the version of what it shows. An answer of the same version would change nothing,
so it is a 204 and the page is left alone: what somebody types, where they are and what they opened stay as they are.
"""

from typing import Any

from flask import Response, request

from pages import screens


def show(template: str, **shown: Any) -> Response:
    """Return a part alone; 204 when the page that asks has this very version.

    `template` is what the whole page includes as well, and holds one part made by the macro `live`.
    """
    answer = screens.show(template, **shown)
    seen = request.args.get("seen", "")
    if seen.isalnum() and f'seen={seen}"' in answer.get_data(as_text=True):
        return screens.unchanged()
    return answer
