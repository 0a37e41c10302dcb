-- Refuses what builds on a deleted checkpoint, for many at once. Locks are taken in one order, so that statements that
-- share threads never wait in a circle; the query sees what was committed while it waited for them.
create function agent.admit_all(accounts text[], threads text[], namespaces text[], built_on text[]) returns boolean language plpgsql as $$ begin
  perform pg_advisory_xact_lock_shared(account, thread) from (
    select distinct hashtext(named.account) as account, hashtext(named.thread) as thread
    from unnest(accounts, threads) as named (account, thread)
    order by 1, 2) as ordered;
  if exists (
    select from unnest(accounts, threads, namespaces, built_on) as named (account, thread, ns, id)
    join agent.threads as t on t.account_id = named.account and t.thread_id = named.thread and named.id <= t.deleted_through
    where not exists (
      select from agent.checkpoints as c
      where c.account_id = named.account and c.thread_id = named.thread and c.checkpoint_ns = named.ns and c.checkpoint_id = named.id))
  then return agent.refuse('thread_deleted');
  end if;
  return true;
end $$;
