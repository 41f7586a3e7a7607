-- A discarded job of money whose loss an operator accepted: the ledger check no longer names it. Both are null until then.

alter table discarded_job add column accepted_at timestamptz;
alter table discarded_job add column accepted_why text;
