"""Cases to review in one queue: fraud events, held conversions, uncredited sales.

cases   the open cases, newest first
queue   the screen, and the decisions on it
"""

from pages.brand.review import queue

BLUEPRINTS = (queue.blueprint,)
