-- Pages in a row without a new row: a list that repeats itself has no end.
alter table switch_list add column idle_pages int not null default 0;
