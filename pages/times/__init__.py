"""Times on pages: in whose zone they are shown, and which instants people mean by the days and times that they type.

zone        the time zone of the page that is being made
entered     days and times of forms and filters, as instants for the API

How an instant looks is in `pages.show`.
"""
