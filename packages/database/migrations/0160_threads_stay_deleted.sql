-- Refuses puts that build on what is not there: on a deleted checkpoint, and on any while a deleted thread has none. What
-- a running graph puts next has an id that no deletion has seen yet, so its parent tells that it is late. Like `admit_all`,
-- which stays for writes: they may come before their checkpoint, so of a new id nobody can tell which life it is of.
create function agent.admit_puts(accounts text[], threads text[], namespaces text[], parents text[]) returns boolean
language plpgsql set plan_cache_mode = force_generic_plan as $$ begin
  perform pg_advisory_xact_lock_shared(account, thread) from (
    select distinct hashtext(named.account) as account, hashtext(named.thread) as thread
    from unnest(accounts, threads) as named (account, thread)
    order by 1, 2) as ordered;
  if exists (
    select from unnest(accounts, threads, namespaces, parents) as named (account, thread, ns, parent), lateral (
      select * from agent.threads as t
      where t.account_id = named.account and t.thread_id = named.thread offset 0) as t
    where named.parent is not null and t.deleted_through is not null and not case
      when named.parent <= t.deleted_through then exists (
        select from agent.checkpoints as c
        where c.account_id = t.account_id and c.thread_id = t.thread_id and c.checkpoint_ns = named.ns and c.checkpoint_id = named.parent offset 0)
      else exists (
        select from agent.checkpoints as c where c.account_id = t.account_id and c.thread_id = t.thread_id offset 0) end)
  then return agent.refuse('thread_deleted');
  end if;
  return true;
end $$;

-- Refuses the writes of a put that was refused as well, while its thread is still deleted: those that came before it are
-- removed, and those to come are of an id that was deleted.
create function agent.refuse_writes(account text, thread text, ns text, id text) returns void language plpgsql as $$ begin
  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  update agent.threads as t set deleted_through = greatest(t.deleted_through, id), deleted_at = now()
    where t.account_id = account and t.thread_id = thread and t.deleted_through is not null and not exists (
      select from agent.checkpoints as c where c.account_id = account and c.thread_id = thread);
  if not found then return; end if;
  delete from agent.checkpoint_writes as w
    where w.account_id = account and w.thread_id = thread and w.checkpoint_ns = ns and w.checkpoint_id = id;
end $$;

-- Forgets a deletion of `seconds` ago with what came for it since, so much as one short lock allows: of a thread that is
-- gone everything, of one that began anew the writes of deleted checkpoints. True when some is left. A thread that was
-- written to lately may be about to begin anew, and stays.
create function agent.drop_tombstone(account text, thread text, part integer, seconds integer) returns boolean language plpgsql as $$
declare
  before timestamptz := now() - make_interval(secs => seconds);
  is_alive boolean;
  last text collate "C";
  removed bigint;
  is_left boolean := false;
begin
  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  is_alive := exists (select from agent.checkpoints as c where c.account_id = account and c.thread_id = thread);
  select t.deleted_through into last from agent.threads as t
    where t.account_id = account and t.thread_id = thread and t.deleted_at < before and (is_alive or t.updated_at < before);
  if not found then return false; end if;
  delete from agent.checkpoint_writes as w where w.account_id = account and w.ctid = any (array(
    select v.ctid from agent.checkpoint_writes as v
    where v.account_id = account and v.thread_id = thread and (not is_alive or v.checkpoint_id <= last)
      and (v.checkpoint_ns, v.checkpoint_id) not in (
        select c.checkpoint_ns, c.checkpoint_id from agent.checkpoints as c where c.account_id = account and c.thread_id = thread)
    limit part));
  get diagnostics removed = row_count;
  is_left := removed = part;
  if is_alive then
    if not is_left then
      update agent.threads as t set deleted_through = null, deleted_at = null where t.account_id = account and t.thread_id = thread;
    end if;
    return is_left;
  end if;
  delete from agent.checkpoint_blobs as b where b.account_id = account and b.ctid = any (array(
    select v.ctid from agent.checkpoint_blobs as v where v.account_id = account and v.thread_id = thread limit part));
  get diagnostics removed = row_count;
  is_left := is_left or removed = part;
  if not is_left then
    delete from agent.threads as t where t.account_id = account and t.thread_id = thread;
  end if;
  return is_left;
end $$;
