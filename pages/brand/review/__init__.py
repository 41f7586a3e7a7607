"""What somebody has to look at: fraud, what is held, sales that credited nobody; in one queue.

cases   what waits, the newest first
queue   the screen, and decisions on it
"""

from pages.brand.review import queue

BLUEPRINTS = (queue.blueprint,)
