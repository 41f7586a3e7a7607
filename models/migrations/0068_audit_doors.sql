-- Through which door a change came where that is not the plain interface, and what the program calls itself.

alter table audit_entry add column via text;
alter table audit_entry add column client text check (length(client) <= 100);
