"""The notifications of a person at the dashboard.

listing      /dashboard/notifications: the list, and the button that marks all as read
preferences  /dashboard/settings/notifications: what a person is notified of, and from which amount a sale is large
"""

from pages.brand.notifications import listing, preferences

BLUEPRINTS = (listing.blueprint, preferences.blueprint)
