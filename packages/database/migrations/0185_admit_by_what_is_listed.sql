-- As before (0183). What is only kept for others is never built on: also in a copy, and when the deletion is forgotten, where
-- nothing says any more that something was deleted. Nor is it put again.
create or replace function agent.admit_puts(accounts text[], threads text[], namespaces text[], ids text[], parents text[], roots text[]) returns boolean
language plpgsql set plan_cache_mode = force_generic_plan as $$ begin
  perform pg_advisory_xact_lock_shared(account, thread) from (
    select distinct hashtext(named.account) as account, hashtext(named.thread) as thread
    from unnest(accounts, threads) as named (account, thread)
    order by 1, 2) as ordered;
  if exists (
    select from unnest(accounts, threads, namespaces, ids, parents, roots) as named (account, thread, ns, id, parent, root), lateral (
      select * from agent.threads as t
      where t.account_id = named.account and t.thread_id = named.thread offset 0) as t
    where case when case
      when t.deleted_through is null then exists (
        select from agent.checkpoints as c
        where c.account_id = t.account_id and c.thread_id = t.thread_id and c.kept_for is not null
          and c.checkpoint_ns = case when named.parent is null then '' else named.ns end
          and c.checkpoint_id = coalesce(named.parent, named.root) offset 0)
      when named.parent <= t.deleted_through or named.parent = any (t.refused) then not exists (
        select from agent.checkpoints as c
        where c.account_id = t.account_id and c.thread_id = t.thread_id and c.checkpoint_ns = named.ns and c.checkpoint_id = named.parent
          and c.kept_for is null offset 0)
      when named.parent is not null then not exists (
        select from agent.checkpoints as c where c.account_id = t.account_id and c.thread_id = t.thread_id offset 0)
      when named.root <= t.deleted_through or named.root = any (t.refused) then not exists (
        select from agent.checkpoints as c
        where c.account_id = t.account_id and c.thread_id = t.thread_id and c.checkpoint_ns = '' and c.checkpoint_id = named.root
          and c.kept_for is null offset 0)
      end
    then not exists (
      select from agent.checkpoints as c
      where c.account_id = t.account_id and c.thread_id = t.thread_id and c.checkpoint_ns = named.ns and c.checkpoint_id = named.id
        and c.kept_for is null offset 0)
    end)
  then return agent.refuse('thread_deleted');
  end if;
  return true;
end $$;

-- As before (0183). Refuses also writes to what is only kept for others, whose readers would see them. Takes those for the
-- next checkpoint of a namespace that lives, though something newer was deleted in another: they come before their put.
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
    where case
      when t.deleted_through is null then exists (
        select from agent.checkpoints as c
        where c.account_id = t.account_id and c.thread_id = t.thread_id and c.checkpoint_ns = named.ns and c.checkpoint_id = named.id
          and c.kept_for is not null offset 0)
      when named.id = any (t.refused) then not exists (
        select from agent.checkpoints as c
        where c.account_id = t.account_id and c.thread_id = t.thread_id and c.checkpoint_ns = named.ns and c.checkpoint_id = named.id
          and c.kept_for is null offset 0)
      when named.id <= t.deleted_through then not exists (
        select from (
          select c.checkpoint_id from agent.checkpoints as c
          where c.account_id = t.account_id and c.thread_id = t.thread_id and c.checkpoint_ns = named.ns and c.kept_for is null
          order by c.checkpoint_id desc limit 1) as head
        where head.checkpoint_id < named.id or exists (
          select from agent.checkpoints as c
          where c.account_id = t.account_id and c.thread_id = t.thread_id and c.checkpoint_ns = named.ns and c.checkpoint_id = named.id
            and c.kept_for is null offset 0))
      end)
  then return agent.refuse('thread_deleted');
  end if;
  return true;
end $$;
