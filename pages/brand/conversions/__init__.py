"""Conversions at the dashboard.

desk         the list with its filters, and as a file
detail       one of them: when it is payable, why it is credited, what to decide
corrections  what to correct about its money: refunds, refunds undone, another commission
why          the six steps in words
by_hand      one that nobody sent
"""

from pages.brand.conversions import by_hand, desk, detail

BLUEPRINTS = (desk.blueprint, by_hand.blueprint, detail.blueprint)
