-- As before (0171), and refuses to copy over what a deletion has not come to yet: its writes would be those of the copy.
create or replace function agent.admit_copy(account text, source text, target text) returns boolean language plpgsql as $$ begin
  perform pg_advisory_xact_lock(hashtext(account), hashtext(target));
  if not exists (select from agent.checkpoints as c where c.account_id = account and c.thread_id = source) then
    return agent.refuse('not_found');
  elsif exists (select from agent.checkpoints as c where c.account_id = account and c.thread_id = target) then
    return agent.refuse('thread_exists');
  elsif exists (
    select from agent.threads as t
    where t.account_id = account and t.thread_id = target and t.deleted_through is not null and (
      exists (
        select from agent.checkpoint_writes as w
        where w.account_id = t.account_id and w.thread_id = t.thread_id and w.checkpoint_id <= t.deleted_through)
      or exists (select from agent.checkpoint_blobs as b where b.account_id = t.account_id and b.thread_id = t.thread_id)))
  then return agent.refuse('thread_deleted');
  end if;
  return true;
end $$;
