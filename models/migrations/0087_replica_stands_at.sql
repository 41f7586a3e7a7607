-- What a transaction at a read replica begins with: it fails where the server is no replica, and where it has not yet
-- replayed the log up to a position, so that nobody is shown less than was committed before. In the round trip of the first
-- statement it costs none of its own, and it asks the very server that will answer, of however many behind one address.
create function replica_stands_at(wanted pg_lsn) returns void language plpgsql as $$
begin
  if not pg_is_in_recovery() then
    raise exception 'this server is no replica' using errcode = '57P03';
  elsif pg_last_wal_replay_lsn() < wanted then
    raise exception 'the replica has not replayed % yet', wanted using errcode = '55000';
  end if;
end $$;
