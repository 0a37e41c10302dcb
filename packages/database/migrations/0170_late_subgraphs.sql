-- Refuses puts that build on what is not there: on a deleted checkpoint, and on any while a deleted thread has none. The
-- first put of a subgraph has no parent and builds on `root`, the checkpoint of the root graph that it came from; one that no
-- deletion has seen may still be under way. What is there may be put again, whatever became of its parent, and is looked for
-- last: hardly any put comes so far.
create function agent.admit_puts(accounts text[], threads text[], namespaces text[], ids text[], parents text[], roots text[]) returns boolean
language plpgsql set plan_cache_mode = force_generic_plan as $$ begin
  perform pg_advisory_xact_lock_shared(account, thread) from (
    select distinct hashtext(named.account) as account, hashtext(named.thread) as thread
    from unnest(accounts, threads) as named (account, thread)
    order by 1, 2) as ordered;
  if exists (
    select from unnest(accounts, threads, namespaces, ids, parents, roots) as named (account, thread, ns, id, parent, root), lateral (
      select * from agent.threads as t
      where t.account_id = named.account and t.thread_id = named.thread offset 0) as t
    where t.deleted_through is not null and case case
      when named.parent <= t.deleted_through then not exists (
        select from agent.checkpoints as c
        where c.account_id = t.account_id and c.thread_id = t.thread_id and c.checkpoint_ns = named.ns and c.checkpoint_id = named.parent offset 0)
      when named.parent is not null then not exists (
        select from agent.checkpoints as c where c.account_id = t.account_id and c.thread_id = t.thread_id offset 0)
      when named.root <= t.deleted_through then not exists (
        select from agent.checkpoints as c
        where c.account_id = t.account_id and c.thread_id = t.thread_id and c.checkpoint_ns = '' and c.checkpoint_id = named.root offset 0)
      end
    when true then not exists (
      select from agent.checkpoints as c
      where c.account_id = t.account_id and c.thread_id = t.thread_id and c.checkpoint_ns = named.ns and c.checkpoint_id = named.id offset 0)
    end)
  then return agent.refuse('thread_deleted');
  end if;
  return true;
end $$;
