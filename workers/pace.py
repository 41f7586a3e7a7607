"""The number of jobs of each queue that this process completed within the last minute."""

import threading
import time
from collections import Counter, deque

_MINUTE_S = 60


class CompletedJobs:
    """Counts completed jobs, by the second."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds: deque[tuple[int, Counter[str]]] = deque()

    def count(self, queue: str, number: int = 1) -> None:
        """Count completed jobs."""
        now = int(time.monotonic())
        with self._lock:
            if not self._seconds or self._seconds[-1][0] != now:
                self._seconds.append((now, Counter()))
            self._seconds[-1][1][queue] += number
            self._drop_old(now)

    def last_minute(self) -> dict[str, int]:
        """Return how many were completed within a minute, by queue."""
        with self._lock:
            self._drop_old(int(time.monotonic()))
            return dict(sum((counts for _, counts in self._seconds), Counter()))

    def _drop_old(self, now: int) -> None:
        while self._seconds and self._seconds[0][0] <= now - _MINUTE_S:
            self._seconds.popleft()


#: The jobs of this process.
completed = CompletedJobs()
