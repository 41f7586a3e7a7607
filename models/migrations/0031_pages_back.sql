-- How many pages of a list were read again because its total fell: a source whose totals are wrong has a limit.
alter table switch_list add column pages_back int not null default 0;
