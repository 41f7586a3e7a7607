"""What people see of the service in a browser.

documents   a template as an answer, with the headers of every page
hosted      the pages that the public sees: /, /r/…, /lead/…, /door/…, /invites/…

A page shows what the api gives it, so it lies above it and asks no table by itself. Templates are in `templates/`, on
the path of the module that shows them; all stand in `page.html`, with one stylesheet.
"""

from pages import hosted

BLUEPRINTS = hosted.BLUEPRINTS
