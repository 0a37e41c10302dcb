-- Refuses to copy what is not there, or over what is. Only the target is held: a copy is one statement, and what it reads of
-- the source is of one moment, before or after each of the deletions that others make.
create or replace function agent.admit_copy(account text, source text, target text) returns boolean language plpgsql as $$ begin
  perform pg_advisory_xact_lock(hashtext(account), hashtext(target));
  if not exists (select from agent.checkpoints as c where c.account_id = account and c.thread_id = source) then
    return agent.refuse('not_found');
  elsif exists (select from agent.checkpoints as c where c.account_id = account and c.thread_id = target) then
    return agent.refuse('thread_exists');
  end if;
  return true;
end $$;
