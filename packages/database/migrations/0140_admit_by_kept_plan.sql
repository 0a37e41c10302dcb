-- Admits with a plan that is kept: Postgres thought one for the very arrays of a call cheaper, and made it anew at every
-- call, a quarter of what puts took. What is kept looks everything up by its key, however few threads there were.
create or replace function agent.admit_all(accounts text[], threads text[], namespaces text[], built_on text[]) returns boolean
language plpgsql set plan_cache_mode = force_generic_plan as $$ begin
  perform pg_advisory_xact_lock_shared(account, thread) from (
    select distinct hashtext(named.account) as account, hashtext(named.thread) as thread
    from unnest(accounts, threads) as named (account, thread)
    order by 1, 2) as ordered;
  if exists (
    select from unnest(accounts, threads, namespaces, built_on) as named (account, thread, ns, id), lateral (
      select * from agent.threads as t
      where t.account_id = named.account and t.thread_id = named.thread offset 0) as t
    where named.id <= t.deleted_through and not exists (
      select from agent.checkpoints as c
      where c.account_id = t.account_id and c.thread_id = t.thread_id and c.checkpoint_ns = named.ns and c.checkpoint_id = named.id offset 0))
  then return agent.refuse('thread_deleted');
  end if;
  return true;
end $$;
