"""The cost of discarding a job, for every kind: the undone work, its remedy, and the ledger rule that notices it.

A rule test holds the table complete. Statements find the row of a job by its arguments; a job whose arguments are not
UUIDs has no known row.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from domain import jobs
from domain.jobs import Job

#: Rules of the ledger check about work that a job has to do.
UNSETTLED_SALE = "an accepted sale has its conversion, an uncredited row or a job that settles it"
DISCARDED_WORK = "work on money whose job was discarded is done, asked for again or accepted as lost"
UNCASCADED_REFUND = "a refund of a sale has reached its override, or a job takes it there"
_UNPAID_PAYOUT = "a payout that may be sent has a job that sends it"
_UNASKED_DEAL = "a charge or refund on its way has a job that asks its source"


@dataclass(frozen=True, slots=True)
class Loss:
    """What a discard of a kind of job costs.

    `leaves` is the undone work, `remedy` how to get it done after all, each for people. `is_kept`: a dead letter of the
    kind is never deleted by age, since money or a promise would be lost without a decision. `rule` is the rule of the
    ledger check that reports the undone work. `is_revived`: sending the same sale or event again gets it done. `facts`
    selects external event id, amount in minor units and currency of the row of a job `j`, and no row if no work is
    left. `is_traced`: a discard stores the arguments in `discarded_job`, so that the loss is listed until it is made up
    for or accepted.
    """

    leaves: str
    remedy: str
    is_kept: bool = True
    rule: str | None = None
    is_revived: bool = False
    facts: str | None = None
    is_traced: bool = False


@dataclass(frozen=True, slots=True)
class UnfinishedWork:
    """The work that a discard of one job leaves undone, with its amount in minor units (None: it has none)."""

    kind: str
    external_event_id: str | None
    amount_cents: int | None
    currency: str | None

    @property
    def text(self) -> str:
        """The undone work, for people."""
        return loss_of(self.kind).leaves

    @property
    def remedy(self) -> str:
        """How to get it done after all, for people."""
        return loss_of(self.kind).remedy


def uuid_argument(argument: str, job: str = "j") -> str:
    """Return the expression for an id among the arguments of a job, null unless it is a UUID."""
    value = f"{job}.args ->> '{argument}'"
    return f"(case when {value} ~ '^[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}$' then ({value})::uuid end)"


def _from_row(table: str, alias: str, argument: str) -> str:
    id = uuid_argument(argument)
    return f"from {table} {alias} where {alias}.organization_id = j.organization_id and {alias}.id = {id}"


_SALE = f"""select s.external_event_id, s.amount_cents, s.currency {_from_row("sale", "s", "sale_id")}
  and s.settled_at is null"""
# Half to even, as the share itself is rounded (`domain.conversions.override`).
_SHARE = f"""select p.external_event_id, (floor(share.exact) + case when share.exact - floor(share.exact) > 0.5
    or share.exact - floor(share.exact) = 0.5 and mod(floor(share.exact), 2) = 1 then 1 else 0 end)::bigint, p.currency
  from conversion p
  cross join lateral (select p.commission_cents * (j.args ->> 'percent')::numeric / 100 as exact) share
  where p.organization_id = j.organization_id and p.id = {uuid_argument("conversion_id")} and share.exact > 0.5
  and not exists (
    select from conversion c where c.organization_id = p.organization_id and c.parent_id = p.id)"""
_REFUNDS = f"""select p.external_event_id, (select sum(r.amount_cents)::bigint from refund r
    where r.organization_id = p.organization_id and r.conversion_id = p.id and not exists (
      select from reversal v join conversion c on c.organization_id = v.organization_id and c.id = v.conversion_id
      where v.organization_id = r.organization_id and v.refund_id = r.id and c.parent_id = p.id)), p.currency
  {_from_row("conversion", "p", "conversion_id")}"""
_EVENT = f"""select coalesce(e.gateway_event_id, e.event_key),
    (jsonb_path_query_first(e.facts::jsonb, '$[*].amount_cents ? (@.type() == "number")'))::bigint,
    jsonb_path_query_first(e.facts::jsonb, '$[*].currency') #>> '{{}}'
  {_from_row("gateway_event", "e", "event_id")} and e.status not in ('Processed', 'Ignored')"""
_LOOKUP = f"""select p.external_id, p.paid_cents, p.currency from gateway_payment p
  where (p.organization_id, p.id) = (
    select l.organization_id, l.payment_id {_from_row("platform_lookup", "l", "lookup_id")})"""
_UNSENT, _OPEN = "('Pending', 'Processing')", "('intent', 'unknown', 'accepted')"
_PAYOUT = f"select null, p.amount_cents, 'USD' {_from_row('payout', 'p', 'payout_id')} and p.status in {_UNSENT}"
_REQUEST = (
    f"select null, r.amount_cents, r.currency {_from_row('deal_request', 'r', 'request_id')} and r.state in {_OPEN}"
)
_MILESTONE = f"""select null, m.amount_cents, d.currency from deal_milestone m
  join deal d on d.organization_id = m.organization_id and d.id = m.deal_id
  where m.organization_id = j.organization_id and m.id = {uuid_argument("milestone_id")}"""
# A click earns, or may, where the organization pays for clicks.
_CLICK = """select null, null::bigint, null from (
    select from program p where p.organization_id = j.organization_id
    and (p.default_commission_model = 'Cpc' or p.click_reward_cents is not null) limit 1) paying"""
_CLICKS = """select null, null::bigint, null from (select from click c where c.organization_id = j.organization_id
    and c.outcome = 'unscored' and c.id in (select (regexp_matches(j.args ->> 'clicks',
      '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'g'))[1]::uuid) limit 1) waiting"""

_NEXT_TICK = "Nothing to do: the schedule asks for it again."


def _stopped_switch() -> Loss:
    return Loss("a switch that stands still", "Resume the switch: `flask switch resume ID`.", is_kept=False)


def _tick(leaves: str, *, is_kept: bool = False) -> Loss:
    return Loss(leaves, _NEXT_TICK, is_kept=is_kept)


def _lost_lead() -> Loss:
    return Loss(
        "a lead that is not recorded; it names its sender and cannot be read here",
        "The person can send the form again.",
        rule=DISCARDED_WORK,
        is_traced=True,
    )


def _lost_click() -> Loss:
    return Loss(
        "a click that is not counted and may have earned",
        "None: the arguments stay in the audit log.",
        rule=DISCARDED_WORK,
        facts=_CLICK,
        is_traced=True,
    )


def _lost_notification() -> Loss:
    return Loss("a notification that the brand's people do not get", "Look at the dashboard's overview.", is_kept=False)


LOSSES: Mapping[Job, Loss] = {
    jobs.SALE_SETTLE: Loss(
        "an accepted sale that credits no one",
        "Send the same sale again.",
        rule=UNSETTLED_SALE,
        is_revived=True,
        facts=_SALE,
        is_traced=True,
    ),
    jobs.OVERRIDE_WRITE: Loss(
        "a recruiter's override that is not written",
        "Send the sale it belongs to again.",
        rule=DISCARDED_WORK,
        is_revived=True,
        facts=_SHARE,
        is_traced=True,
    ),
    jobs.REFUND_CASCADE: Loss(
        "refunds that are not taken from the recruiter's override",
        "Send the sale it belongs to again, or refund the rest of it.",
        rule=UNCASCADED_REFUND,
        is_revived=True,
        facts=_REFUNDS,
        is_traced=True,
    ),
    jobs.WEBHOOK_DELIVER: Loss(
        "a webhook delivery that is marked Failed", "The brand can redeliver it from the delivery log.", is_kept=False
    ),
    jobs.PAYOUT_TRANSFER: Loss(
        "a payout that no one sends or asks about",
        "Settle or void the payout: docs/payouts.md.",
        rule=_UNPAID_PAYOUT,
        facts=_PAYOUT,
    ),
    jobs.GATEWAY_EVENT: Loss(
        "a gateway event that is not booked; the connection's inbox lists it as Failed",
        "Replay the event from the connection's inbox, or have the gateway send it again.",
        rule=DISCARDED_WORK,
        is_revived=True,
        facts=_EVENT,
        is_traced=True,
    ),
    jobs.GATEWAY_RECONCILE: Loss(
        "payments that the gateway lists and that never arrived", "The next nightly run covers the last days again."
    ),
    jobs.GATEWAY_CHECK: _tick("a connection whose credentials are in doubt", is_kept=True),
    jobs.GATEWAYS_CHECK: _tick("checks of connections in doubt that are not started"),
    jobs.WEB_PIXEL_SETTLE: Loss("a store's web pixel that is not as it should be", "Reconnect the store."),
    jobs.GATEWAYS_RECONCILE: _tick("reconciliation runs that are not started"),
    jobs.GATEWAYS_POLL: _tick("polls of gateways that are not started"),
    jobs.COUPON_MAKE: Loss("a coupon that was promised and may not exist at its gateway", "Create the coupon again."),
    jobs.COUPON_DELETE: Loss("a coupon that may still be valid at its gateway", "Delete it at the gateway."),
    jobs.CODE_MINT: Loss("an affiliate's code that may not exist at its gateway", "Create the code again."),
    jobs.CODE_SWITCH_OFF: Loss("an affiliate's code that may still be valid", "Switch it off at the gateway."),
    jobs.PLATFORM_LOOKUP: Loss(
        "a payment that stays uncredited, because no platform was asked who brought its buyer",
        "Credit the payment by hand from the list of uncredited sales.",
        facts=_LOOKUP,
    ),
    jobs.DEAL_ASK: Loss(
        "a charge or refund of a deal that no one asks about",
        "Settle it with `flask deal answer`: docs/deals.md.",
        rule=_UNASKED_DEAL,
        facts=_REQUEST,
    ),
    jobs.DEALS_RELEASE: _tick("releases of due milestones that are not started", is_kept=True),
    jobs.DEAL_RELEASE: Loss("a milestone that is due and not paid", _NEXT_TICK, facts=_MILESTONE),
    jobs.PAYOUT_CADENCE: _tick("automatic payouts that are not proposed", is_kept=True),
    jobs.PAYOUT_PROPOSE: Loss(
        "an automatic payout proposal that is not made", "The next daily look proposes it until its period ends."
    ),
    jobs.MAIL_SEND: Loss(
        "an email that stays Queued and is not sent", "Write to its recipient yourself.", is_kept=False
    ),
    jobs.SIGN_IN_LETTER: Loss("a sign-in link that is not sent", "The person can request another.", is_kept=False),
    jobs.COPILOT_ASK: Loss("a question to the co-pilot without an answer", "The person can ask again.", is_kept=False),
    jobs.APPLICATION_LETTER: Loss(
        "an email that asks an applicant for more details", "The applicant can apply again.", is_kept=False
    ),
    jobs.NOTIFICATION_SALE: _lost_notification(),
    jobs.NOTIFICATION_ADD: _lost_notification(),
    jobs.NOTIFICATION_EMAIL: Loss(
        "emails about a notification that are not sent", "Look at the dashboard's notifications.", is_kept=False
    ),
    jobs.IMPORT_NOTIFY: Loss(
        "emails to imported affiliates that are not written", "Write to them yourself.", is_kept=False
    ),
    jobs.SWITCH_READ: _stopped_switch(),
    jobs.SWITCH_JUDGE: _stopped_switch(),
    jobs.SWITCH_WRITE: _stopped_switch(),
    jobs.SWITCH_UNDO: _stopped_switch(),
    jobs.SWITCH_FORGET: _tick("keys and staging of ended switches"),
    jobs.FORGET: _tick("rows past their time"),
    jobs.WEBHOOKS_FAILING: _tick("warnings about failing endpoints"),
    jobs.DOMAINS_CHECK: _tick("checks of domains that are not started"),
    jobs.DOMAIN_CHECK: _tick("a domain that is not checked"),
    jobs.INVITES_EXPIRE: _tick("invites past their time"),
    jobs.HOLDS_RENEW: Loss(
        "pending conversions that keep their former hold", "Save the organization's grace days again."
    ),
    jobs.HOLD_RELEASE: _tick("conversions past their hold that are not approved yet"),
    jobs.LEAD_CAPTURE: _lost_lead(),
    jobs.LEAD_RECORD: _lost_lead(),
    jobs.LEADS_EXPIRE: _tick("leads past their time"),
    jobs.CLICKS_RESCORE: Loss(
        "clicks that wait for their fraud score and earn nothing",
        "None: the arguments stay in the audit log.",
        rule=DISCARDED_WORK,
        facts=_CLICKS,
        is_traced=True,
    ),
    jobs.CLICK_UNREADABLE: _lost_click(),
    jobs.CLICK_LATE: _lost_click(),
    jobs.CLICKS_FORGET: _tick("hashes of visitors past their time"),
    jobs.RETENTION: _tick("rows past their time"),
    jobs.RETENTION_SLICE: _tick("rows past their time"),
    jobs.PARTITIONS: _tick("partitions of coming months"),
    jobs.LEDGER_CHECK: _tick("ledger checks that are not started"),
    jobs.LEDGER_CHECK_ONE: _tick("a ledger check that is not made"),
    jobs.DAYS_FOLD: _tick("daily figures that are not up to date"),
    jobs.DAYS_RECKON: _tick("daily owed totals that are not up to date"),
    jobs.DAYS_RECKON_ONE: _tick("daily owed totals that are not up to date"),
    jobs.FX_REFRESH: _tick("exchange rates of the day"),
}

#: The names of kinds whose dead letters are deleted by age; not those that this release does not know.
EXPIRING_KINDS = tuple(job.name for job, loss in LOSSES.items() if not loss.is_kept)
#: The same as a list of SQL.
EXPIRING_NAMES = "({})".format(", ".join(f"'{name}'" for name in EXPIRING_KINDS))
#: The queues that have any of these.
ENDING_QUEUES = tuple(
    queue for queue in jobs.QUEUES if any(job.queue == queue and job.name in EXPIRING_KINDS for job in LOSSES)
)
#: The names of kinds whose arguments a discard stores.
TRACED = tuple(job.name for job, loss in LOSSES.items() if loss.is_traced)
_BY_NAME = {job.name: loss for job, loss in LOSSES.items()}
_UNKNOWN = Loss("work of a kind that this release does not know", "Start a release that knows it before you discard.")


def loss_of(name: str) -> Loss:
    """Return what a discard of a job of this name costs."""
    return _BY_NAME.get(name, _UNKNOWN)


def unfinished_work(name: str, fact: tuple[bool | None, str | None, int | None, str | None]) -> UnfinishedWork | None:
    """Return the work that a job of this name leaves undone, by its row of `FACTS`; None if it is done or gone."""
    is_found, external_event_id, amount_cents, currency = fact
    if loss_of(name).facts is not None and not is_found:
        return None
    return UnfinishedWork(name, external_event_id, amount_cents, currency)


#: The select list and the join, after `from … j` (jobs), that `unfinished_work` reads.
FACT_COLUMNS = "fact.is_found, fact.external_event_id, fact.amount_cents, fact.currency"
FACTS = """left join lateral (
  select true as is_found, * from (select null::text, null::bigint, null::text where false{})
    fact (external_event_id, amount_cents, currency) limit 1
) fact on true""".format(
    "".join(
        " union all select facts.* from (select) one"
        f" cross join lateral ({loss.facts}) facts where j.name = '{job.name}'"
        for job, loss in LOSSES.items()
        if loss.facts
    )
)

_FACTLESS = ", ".join(f"'{job.name}'" for job, loss in LOSSES.items() if loss.is_traced and loss.facts is None)
#: Whether a job `j`, joined with `FACTS`, has anything left to do.
IS_LEFT = f"fact.is_found or j.name in ({_FACTLESS})"
