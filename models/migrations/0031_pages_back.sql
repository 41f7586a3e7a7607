-- How many pages of a list were read again because its total fell, or how often a list by cursor was begun again because
-- the row of its cursor is gone: both have a limit, as a source may be wrong.
alter table switch_list add column pages_back int not null default 0;
