-- For how many seconds a job waited, ask by ask, for a worker whose release knows its kind.

alter table job add column unknown_s int not null default 0;
