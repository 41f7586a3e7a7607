-- Blocked clicks of a link with the same reasons within an hour are one event that counts them: whoever clicks a thousand
-- times must not fill the list. Every other event stands for one click or lead.

alter table fraud_event add column occurrences int not null default 1 check (occurrences > 0);
