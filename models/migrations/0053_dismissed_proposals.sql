-- A prepared payout may be dismissed: nothing is paid, and the cadence proposes again when it comes round.
alter table payout_proposal drop constraint payout_proposal_status_check;
alter table payout_proposal add constraint payout_proposal_status_check
  check (status in ('Open', 'Confirmed', 'Replaced', 'Dismissed', 'Empty'));
