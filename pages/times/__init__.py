"""Times on pages: the zone in which they are shown, and the instants of typed days and times.

zone          the time zone of the current page
time_fields   days and times of forms and filters, as instants for the API

`pages.template_filters` formats instants.
"""
