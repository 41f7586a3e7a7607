-- Why a job was put off by the work itself, for example because a gateway is away; null where it was not.

alter table job add column waits_for text;
