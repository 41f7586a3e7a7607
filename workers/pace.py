"""How many jobs of each queue this process did within the last minute."""

import threading
import time
from collections import Counter, deque

_MINUTE_S = 60


class DonePace:
    """Counts what is done, by the second."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._seconds: deque[tuple[int, Counter[str]]] = deque()

    def count(self, queue: str, number: int = 1) -> None:
        """Count jobs that are done."""
        now = int(time.monotonic())
        with self._turn:
            if not self._seconds or self._seconds[-1][0] != now:
                self._seconds.append((now, Counter()))
            self._seconds[-1][1][queue] += number
            self._forget(now)

    def last_minute(self) -> dict[str, int]:
        """Return how many there were within a minute, by queue."""
        with self._turn:
            self._forget(int(time.monotonic()))
            return dict(sum((counts for _, counts in self._seconds), Counter()))

    def _forget(self, now: int) -> None:
        while self._seconds and self._seconds[0][0] <= now - _MINUTE_S:
            self._seconds.popleft()


done = DonePace()
