-- With which job's pointer a worker took a call along that was not handed out: the two are one thread's work, so only
-- the first takes room there. Null for what the relay handed out.

alter table job add column taken_with bigint;
