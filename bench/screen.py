"""Progress of a run: a bar on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

# A log needs an occasional line, not every update.
_PLAIN_EVERY_S = 10.0
# A log has no width, and the table must not be cut off in it.
_LOG_WIDTH = 120

#: Called with the progress so far.
Report = Callable[[int], None]


class Screen:
    """Shows progress and collects the notes to print below the table."""

    def __init__(self) -> None:
        self.console = Console()
        if not self.console.is_terminal:
            self.console.width = _LOG_WIDTH
        self.notes: list[str] = []

    def say(self, line: str) -> None:
        """Print one line now."""
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)

    def note(self, line: str) -> None:
        """Add a line below the table, such as the limit of a figure."""
        self.notes.append(line)

    @contextmanager
    def phase(self, title: str, *, total: int) -> Iterator[Report]:
        """Show the progress of a phase; the block reports how much of `total` is done."""
        if self.console.is_terminal:
            columns = (TextColumn("  {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            with Progress(*columns, console=self.console, transient=True) as progress:
                task = progress.add_task(title, total=total)
                yield lambda done: progress.update(task, completed=done)
        else:
            yield self._plain_report(title, total)

    def _plain_report(self, title: str, total: int) -> Report:
        self.say(f"  {title}: {total:,}")
        printed_at = time.monotonic()

        def report(done: int) -> None:
            nonlocal printed_at
            if time.monotonic() - printed_at >= _PLAIN_EVERY_S:
                printed_at = time.monotonic()
                self.say(f"  {title}: {done:,} of {total:,}")

        return report
