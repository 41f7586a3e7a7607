"""Count the round trips and statements of reads and writes, and compare them with the budgets in docstrings."""

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

from api.service import health
from models import db
from tests.support.api.lists import count_round_trips
from tests.support.outside.visitor import Visitor
from tests.support.rows.brands import Brand
from tests.support.running.trips import record_round_trips

#: A tenant, an opening and a commit are part of a round trip; `begin` with its settings counts as one statement.
SEPARATOR = b";\n"


def count_statements(round_trips: Sequence[bytes]) -> int:
    """Return how many statements these round trips carried."""
    return sum(trip.count(SEPARATOR) + 1 for trip in round_trips)


def read_docstring(function: Callable[..., object]) -> str:
    """Return a function's docstring on one line."""
    return " ".join((function.__doc__ or "").split())


def in_one_transaction(brand: Brand, work: Callable[[], object]) -> Callable[[], None]:
    """Return a call that does the work in a transaction of the brand."""

    def call() -> None:
        with db.unit_of_work(brand.id):
            work()

    return call


@contextmanager
def count_trips() -> Iterator[list[bytes]]:
    """Yield a list that holds the round trips once the block has ended, except those that prepare a statement."""
    round_trips: list[bytes] = []
    with record_round_trips() as all_trips:
        yield round_trips
    round_trips += [trip for trip in all_trips if b"prepare hot_" not in trip]


@dataclass(frozen=True, slots=True)
class HotPath:
    """A path through the service with its cost and the budgets in the docstrings of its functions.

    `arrange` takes the brand and the fixtures that its parameters name; it returns or yields the calls to measure.
    `rows` is a query with the value that it returns at the end.
    """

    arrange: Callable[..., Iterable[Callable[[], object]]]
    trips: int
    statements: int | None = None
    stated: Mapping[Callable[..., object], str] = field(default_factory=dict)
    rows: tuple[str, object] | None = None

    def assert_budget(self, brand, request):
        """Assert that every call costs exactly the budget."""
        _, *parameters = inspect.signature(self.arrange).parameters.values()
        names = [
            parameter.name
            for parameter in parameters
            if (parameter.kind, parameter.default) == (parameter.POSITIONAL_OR_KEYWORD, parameter.empty)
        ]
        fixtures = {name: request.getfixturevalue(name) for name in names}
        costs = []
        for call in self.arrange(brand, **fixtures):
            with count_trips() as round_trips:
                call()
            costs.append((len(round_trips), self.statements and count_statements(round_trips)))
        assert set(costs) == {(self.trips, self.statements)}, f"round trips and statements of each call: {costs}"
        for function, sentence in self.stated.items():
            assert sentence in read_docstring(function), function
        assert self.rows is None or brand.rows(self.rows[0]) == [(self.rows[1],)]


class Reads(ABC):
    """Addresses of one caller with their round trips, measured again after `grow` adds rows.

    `costs` is by address; a name in braces is an id that `grow` returns. All callers but API callers are signed in, in
    a process that caches sessions. `never` lists texts that no statement may contain.
    """

    costs: ClassVar[Mapping[str, int]]
    never: ClassVar[Sequence[bytes]] = ()
    #: Whether each view has to state its budget; one that does states the number in `costs` in any case.
    must_state = False
    caller: ClassVar[Sequence[str]] = ("owner",)

    def __init__(self, app, brand, flask, stack):
        self.app, self.flask, self.stack, self.visitor = app, flask, stack, Visitor(app)
        self.brand = self.prepare(app, brand)
        organization = ("--org", self.brand.id) if self.caller == ("owner",) else ()
        self.visitor.open(flask.json("sign-in", *self.caller, *organization)["url"])

    def prepare(self, app, brand):
        """Insert the first rows; return the brand of the signed-in caller."""
        brand.program()
        return brand

    @abstractmethod
    def grow(self, number: int) -> Mapping[str, object]:
        """Add rows; return the ids of the newest ones."""

    def open(self, address):
        return self.visitor.open(address)

    def assert_costs_stay(self):
        """Assert that each address costs its round trips with few rows and with many."""
        counts = {path: [] for path in self.costs}
        addresses = {}
        for number in range(3):
            ids = self.grow(number)
            for path, path_counts in counts.items():
                addresses[path] = address = path.format(**ids)
                self.open(address)  # A connection prepares a statement when it first sends it.
                health.readiness.forget()
                path_counts.append(count_round_trips(lambda address=address: self.open(address), never=self.never))

        differing = {path: path_counts for path, path_counts in counts.items() if path_counts != [self.costs[path]] * 3}
        assert differing == {}, f"costs differ from the table: {differing}"
        self._compare_docstrings(addresses)

    def _compare_docstrings(self, addresses):
        """Assert that each stated budget of a view equals the cost of its most expensive address."""
        urls, costs = self.app.url_map.bind("127.0.0.1:8000"), {}
        for path, address in addresses.items():
            endpoint, _ = urls.match(address.partition("?")[0], method="GET")
            costs[endpoint] = max(costs.get(endpoint, 0), self.costs[path])
        for endpoint, cost in costs.items():
            stated = re.search(r"Budget: (\d+) round trip", read_docstring(self.app.view_functions[endpoint]))
            assert stated or not self.must_state, endpoint
            assert stated is None or int(stated[1]) == cost, f"{endpoint} states {stated[1]} and costs {cost}"
