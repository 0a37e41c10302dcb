-- Puts that were refused for being late: what builds on them is late as well, and its parent was never deleted, nor there.
alter table agent.threads add column refused text[] collate "C" not null default '{}';

-- As before (0170). Refuses also what builds on a checkpoint that was refused itself, or is only kept for others.
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
    where t.deleted_through is not null and case case
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
    when true then not exists (
      select from agent.checkpoints as c
      where c.account_id = t.account_id and c.thread_id = t.thread_id and c.checkpoint_ns = named.ns and c.checkpoint_id = named.id offset 0)
    end)
  then return agent.refuse('thread_deleted');
  end if;
  return true;
end $$;

-- As before (0140). Refuses also the writes of puts that were refused.
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
    where t.deleted_through is not null and (named.id <= t.deleted_through or named.id = any (t.refused)) and not exists (
      select from agent.checkpoints as c
      where c.account_id = t.account_id and c.thread_id = t.thread_id and c.checkpoint_ns = named.ns and c.checkpoint_id = named.id offset 0))
  then return agent.refuse('thread_deleted');
  end if;
  return true;
end $$;

-- Refuses the writes of a put that was refused as well, and what will build on it: those that came before are removed. Of a
-- thread that is still deleted its tombstone says so, of one that began anew the last thousand that were refused.
create or replace function agent.refuse_writes(account text, thread text, ns text, id text) returns void language plpgsql as $$
declare
  is_alive boolean;
begin
  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  is_alive := exists (select from agent.checkpoints as c where c.account_id = account and c.thread_id = thread);
  if is_alive then
    update agent.threads as t set refused = (id || array_remove(t.refused, id))[:1000]
      where t.account_id = account and t.thread_id = thread and t.deleted_through is not null and not exists (
        select from agent.checkpoints as c
        where c.account_id = account and c.thread_id = thread and c.checkpoint_ns = ns and c.checkpoint_id = id);
  else
    update agent.threads as t set deleted_through = greatest(t.deleted_through, id), deleted_at = now()
      where t.account_id = account and t.thread_id = thread and t.deleted_through is not null;
  end if;
  if not found then return; end if;
  delete from agent.checkpoint_writes as w
    where w.account_id = account and w.thread_id = thread and w.checkpoint_ns = ns and w.checkpoint_id = id;
end $$;
