-- Removes blobs that stand in the way of a put though no checkpoint names them: those of a deleted thread that the deletion
-- has not come to. False when nothing of the thread was ever deleted, so that they are what they seem.
create function agent.remove_unnamed_blobs(account text, thread text, ns text, blob_channels text[], blob_versions text[]) returns boolean
language plpgsql as $$ begin
  perform from agent.threads as t where t.account_id = account and t.thread_id = thread and t.deleted_through is not null;
  if not found then return false; end if;
  perform pg_advisory_xact_lock(hashtext(account), hashtext(thread));
  delete from agent.checkpoint_blobs as b where b.account_id = account and b.ctid = any (array(
    select v.ctid
    from (
      select * from unnest(blob_channels, blob_versions)
      except
      select named.channel, named.version
      from agent.checkpoints as c, unnest(c.channels, c.versions) as named (channel, version)
      where c.account_id = account and c.thread_id = thread and c.checkpoint_ns = ns and c.versions && blob_versions
    ) as unnamed (channel, version), lateral (
      select ctid from agent.checkpoint_blobs as v where v.account_id = account and v.thread_id = thread
        and v.checkpoint_ns = ns and v.channel = unnamed.channel and v.version = unnamed.version offset 0) as v));
  return true;
end $$;
