"""Reference model: who is credited for a customer's payments, their numbers, commission and ledger.

It ignores how payments arrive: a gateway is a name, and a payment without one is an import, a signed sale or one
recorded manually.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from domain import emails
from domain.conversions.recurring import window_end

#: The amount of every payment. Refunds are quarters of it, so that every share of a commission is a whole number.
AMOUNT_CENTS = 10_000
_LEADS_COUNT = timedelta(days=90)


@dataclass(eq=False)
class Payment:
    """A payment as reported; `type` and `earns` are set if its source specifies them."""

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
    refunded_cents: int = 0
    affiliate: str | None = None
    number: int | None = None
    commission: int | None = None

    @property
    def inbox(self) -> str | None:
        return emails.normalize(self.email) if self.email else None

    @property
    def taken_back_cents(self) -> int:
        return AMOUNT_CENTS if self.is_cancelled else self.refunded_cents

    @property
    def ledger_cents(self) -> int:
        """The sum of its ledger entries. Locked history was paid elsewhere: only what was taken back is there."""
        commission = self.commission or 0
        return (0 if self.is_locked else commission) - commission * self.taken_back_cents // AMOUNT_CENTS


@dataclass(frozen=True)
class Lead:
    """A person who signed up through an affiliate."""

    at: datetime
    inbox: str
    slug: str


@dataclass(eq=False)
class Person:
    """A customer as a program knows them."""

    customer: str | None
    gateway: str | None
    email: str | None = None
    payments: int = 0
    first: datetime | None = None

    def merge(self, other: "Person") -> None:
        """Count another person's payments as this one's first."""
        self.payments += other.payments
        self.first = min(filter(None, (self.first, other.first)), default=None)


@dataclass
class Reference:
    """The expected result of payments in booking order, at 20 % of 100.00."""

    months: int | None
    delay: int
    booked: list[Payment] = field(default_factory=list)
    waiting: list[Payment] = field(default_factory=list)
    leads: list[Lead] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)
    inboxes: dict[str, Person] = field(default_factory=dict)
    # Persons of whom imports knew only the subscription, until a payment of it joins them.
    subscribers: dict[str, Person] = field(default_factory=dict)

    def book(self, payment: Payment) -> None:
        payment.affiliate = payment.slug or self._find_affiliate(payment)
        if payment.affiliate is None:
            self.waiting.append(payment)
            return
        person = self._find_person(payment)
        if person:
            person.payments += 1
            person.first = min(person.first or payment.at, payment.at)
        number, first = (person.payments, person.first) if person else (1, payment.at)
        payment.number = number
        is_in = self.months is None or payment.at < window_end(first_paid_at=first, months=self.months)
        payment.type = payment.type or ("OneTime" if number == 1 else "Recurring")
        payment.commission = (2_000 if is_in and number > self.delay else 0) if payment.earns is None else payment.earns
        self.booked.append(payment)
        later = [other for other in self.waiting if other.at >= payment.at and self._find_affiliate(other)]
        for other in sorted(later, key=lambda other: other.at):
            if other in self.waiting:
                self.waiting.remove(other)
                self.book(other)

    def list_payers(self) -> list[Person]:
        """Return the customers who have paid, each once, under whatever names."""
        by_email_alone = [person for person in self.inboxes.values() if person.customer is None]
        payers = dict.fromkeys((*self.people, *by_email_alone, *self.subscribers.values()))
        return [person for person in payers if person.payments]

    def _find_affiliate(self, payment: Payment) -> str | None:
        for is_same in (self._is_same_subscription, self._is_same_customer, self._is_same_inbox):
            earlier = [other for other in self.booked if other.at <= payment.at and is_same(payment, other)]
            if earlier:
                return max(earlier, key=lambda other: other.at).affiliate
        times_paid_before = [other.at for other in (*self.booked, *self.waiting) if self._is_same_buyer(payment, other)]
        leads = [
            lead
            for lead in self.leads
            if lead.inbox == payment.inbox
            and lead.at <= payment.at < lead.at + _LEADS_COUNT
            and not any(at < lead.at for at in times_paid_before)
        ]
        return max(leads, key=lambda lead: lead.at).slug if leads else None

    def _is_same_buyer(self, payment: Payment, other: Payment) -> bool:
        """Return whether two payments are of one buyer: an email is the same person at every gateway."""
        has_same_inbox = bool(payment.inbox) and payment.inbox == other.inbox
        has_same_id = self._is_same_subscription(payment, other) or self._is_same_customer(payment, other)
        return has_same_inbox or has_same_id

    def _is_same_subscription(self, payment: Payment, earlier: Payment) -> bool:
        return bool(payment.subscription) and payment.subscription == earlier.subscription

    def _is_same_customer(self, payment: Payment, earlier: Payment) -> bool:
        if (
            payment.customer is None
            or payment.customer != earlier.customer
            or earlier.gateway not in (None, payment.gateway)
        ):
            return False
        is_apart = earlier.gateway is None and payment.customer.isdigit() and None not in (payment.inbox, earlier.inbox)
        return not is_apart or payment.inbox == earlier.inbox

    def _is_same_inbox(self, payment: Payment, earlier: Payment) -> bool:
        return bool(payment.inbox) and payment.inbox == earlier.inbox and earlier.gateway in (None, payment.gateway)

    def _find_person(self, payment: Payment) -> Person | None:
        if payment.gateway is None and payment.subscription and not payment.customer and not payment.inbox:
            return self.subscribers.setdefault(payment.subscription, Person(None, None))
        person = self._find_by_id_or_inbox(payment)
        subscriber = self.subscribers.get(payment.subscription or "")
        if payment.gateway and person and subscriber and subscriber is not person:
            person.merge(subscriber)
            self.subscribers[payment.subscription or ""] = person
        return person

    def _find_by_id_or_inbox(self, payment: Payment) -> Person | None:
        by_email = self.inboxes.get(payment.inbox or "")
        if payment.customer is None:
            if payment.inbox and by_email is None:
                by_email = self.inboxes[payment.inbox] = Person(None, None)
            if by_email:
                by_email.email = payment.inbox
            return by_email
        same_id = [known_person for known_person in self.people if known_person.customer == payment.customer]
        person = next((known_person for known_person in same_id if known_person.gateway == payment.gateway), None)
        if person is None and same_id and None in (same_id[0].gateway, payment.gateway):
            is_apart = (
                payment.customer.isdigit() and same_id[0].email and payment.inbox and same_id[0].email != payment.inbox
            )
            person = None if is_apart else same_id[0]
        if person is None:
            person = Person(payment.customer, payment.gateway)
            self.people.append(person)
        person.gateway, person.email = person.gateway or payment.gateway, payment.inbox or person.email
        if by_email and by_email.customer is None:
            person.merge(by_email)
            for subscription, subscriber in self.subscribers.items():
                if subscriber is by_email:
                    self.subscribers[subscription] = person
        if payment.inbox and (by_email is None or by_email.customer is None):
            self.inboxes[payment.inbox] = person
        return person
