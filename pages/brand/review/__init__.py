"""Cases to review in one queue: fraud events, held conversions, uncredited sales.

cases           the open cases, newest first
fraud_reasons   the reasons of fraud events in words
queue           the screen, and the decisions on it
"""

from pages.brand.review import queue

BLUEPRINTS = (queue.blueprint,)
