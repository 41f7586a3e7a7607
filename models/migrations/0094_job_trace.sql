-- Under which span of which request a job was asked for, where somebody looks: every statement that asks for one leaves
-- it, by the setting of its transaction. Null where nobody looks.

alter table job add column trace text default nullif(current_setting('app.trace', true), '');
