"""Notifications of a brand's people.

notifications  the list of a person, and the mark of what they have read
preferences    the switches of a person
unsubscribe    the link of an email that switches off its kind
"""

from api.notifications import notifications, preferences

BLUEPRINTS = (
    notifications.blueprint,
    preferences.blueprint,
)
