-- Whose account a connection is of: what the gateway knows it by, then the app that its webhooks come from. Empty where the
-- gateway does not tell.
alter table gateway_connection add column identity text[] not null default '{}';
-- What the ids of its payments begin with here, so that they are other ones than those of another account or mode.
alter table gateway_connection add column id_prefix text not null default '';
