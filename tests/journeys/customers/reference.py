"""Who is credited for the payments of one person, which payment it is and what it earns: by the rules alone.

It knows nothing of how payments come: a gateway is a name, and what has none is an import, a signed sale or one that
somebody recorded by hand.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from domain import emails
from domain.conversions.recurring import window_end

_LEADS_COUNT = timedelta(days=90)


@dataclass(eq=False)
class Payment:
    """A payment as it is told; `type` and `earns` are given where its source says them itself."""

    id: str
    at: datetime
    gateway: str | None = None
    customer: str | None = None
    subscription: str | None = None
    email: str | None = None
    slug: str | None = None
    type: str | None = None
    earns: int | None = None
    is_locked: bool = False
    is_cancelled: bool = False
    affiliate: str | None = None
    commission: int | None = None
    is_refunded: bool = False

    @property
    def inbox(self) -> str | None:
        return emails.normalize(self.email) if self.email else None

    @property
    def is_owed_nothing(self) -> bool:
        return self.is_refunded or self.is_cancelled or self.is_locked


@dataclass(frozen=True)
class Lead:
    """Somebody who signed up through an affiliate."""

    at: datetime
    inbox: str
    slug: str


@dataclass(eq=False)
class Person:
    """Somebody as a program knows them."""

    customer: str | None
    gateway: str | None
    email: str | None = None
    payments: int = 0
    first: datetime | None = None


@dataclass
class Reference:
    """What is to come of payments in the order in which they are booked, at 20 % of 100.00."""

    months: int | None
    delay: int
    booked: list[Payment] = field(default_factory=list)
    waiting: list[Payment] = field(default_factory=list)
    leads: list[Lead] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)
    inboxes: dict[str, Person] = field(default_factory=dict)

    def book(self, paid: Payment) -> None:
        paid.affiliate = paid.slug or self._known(paid)
        if paid.affiliate is None:
            self.waiting.append(paid)
            return
        person = self._person(paid)
        if person:
            person.payments += 1
            person.first = min(person.first or paid.at, paid.at)
        number, first = (person.payments, person.first) if person else (1, paid.at)
        is_in = self.months is None or paid.at < window_end(first_paid_at=first, months=self.months)
        paid.type = paid.type or ("OneTime" if number == 1 else "Recurring")
        paid.commission = (2_000 if is_in and number > self.delay else 0) if paid.earns is None else paid.earns
        self.booked.append(paid)
        later = [one for one in self.waiting if one.at >= paid.at and self._known(one)]
        for one in sorted(later, key=lambda one: one.at):
            if one in self.waiting:
                self.waiting.remove(one)
                self.book(one)

    def _known(self, paid: Payment) -> str | None:
        for is_same in (self._is_same_subscription, self._is_same_customer, self._is_same_inbox):
            earlier = [one for one in self.booked if one.at <= paid.at and is_same(paid, one)]
            if earlier:
                return max(earlier, key=lambda one: one.at).affiliate
        seen = [one.at for one in (*self.booked, *self.waiting) if paid.inbox and one.inbox == paid.inbox]
        leads = [
            one
            for one in self.leads
            if one.inbox == paid.inbox
            and one.at <= paid.at < one.at + _LEADS_COUNT
            and not any(at < one.at for at in seen)
        ]
        return max(leads, key=lambda one: one.at).slug if leads else None

    def _is_same_subscription(self, paid: Payment, earlier: Payment) -> bool:
        return bool(paid.subscription) and paid.subscription == earlier.subscription

    def _is_same_customer(self, paid: Payment, earlier: Payment) -> bool:
        if paid.customer is None or paid.customer != earlier.customer or earlier.gateway not in (None, paid.gateway):
            return False
        is_apart = earlier.gateway is None and paid.customer.isdigit() and None not in (paid.inbox, earlier.inbox)
        return not is_apart or paid.inbox == earlier.inbox

    def _is_same_inbox(self, paid: Payment, earlier: Payment) -> bool:
        return bool(paid.inbox) and paid.inbox == earlier.inbox and earlier.gateway in (None, paid.gateway)

    def _person(self, paid: Payment) -> Person | None:
        by_email = self.inboxes.get(paid.inbox or "")
        if paid.customer is None:
            if paid.inbox and by_email is None:
                by_email = self.inboxes[paid.inbox] = Person(None, None)
            return by_email
        same = [one for one in self.people if one.customer == paid.customer]
        person = next((one for one in same if one.gateway == paid.gateway), None)
        if person is None and same and None in (same[0].gateway, paid.gateway):
            is_apart = paid.customer.isdigit() and same[0].email and paid.inbox and same[0].email != paid.inbox
            person = None if is_apart else same[0]
        if person is None:
            person = Person(paid.customer, paid.gateway)
            self.people.append(person)
        person.gateway, person.email = person.gateway or paid.gateway, paid.inbox or person.email
        if by_email and by_email.customer is None:
            person.payments += by_email.payments
            person.first = min(filter(None, (person.first, by_email.first)), default=None)
        if paid.inbox and (by_email is None or by_email.customer is None):
            self.inboxes[paid.inbox] = person
        return person
