"""Times on pages: the zone in which they are shown, and the instants of typed days and times.

zone          the time zone of the current page
date_ranges   the range of days that a page shows, by its address
day_words     days and ranges of days in words
time_fields   days and times of forms and filters, as instants for the API

`pages.template_filters` formats instants.
"""
