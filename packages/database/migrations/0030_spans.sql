create schema if not exists agent;

-- Free-form JSON is the caller's own text: nothing on the way re-serialises it. `data` is a log of JSON texts
-- separated by U+001E, which patches append to; readers fold it.
create table agent.spans (
  account_id text collate "C" not null,
  id text collate "C" not null,
  trace_id text collate "C" not null,
  parent_id text collate "C",
  task_id text collate "C",
  name text not null,
  start_time timestamptz not null,
  end_time timestamptz,
  input text,
  output text,
  data text,
  input_bytes integer generated always as (octet_length(input)) stored,
  output_bytes integer generated always as (octet_length(output)) stored,
  data_bytes integer generated always as (octet_length(data)) stored,
  created_at timestamptz not null default now(),
  primary key (account_id, id),
  constraint spans_end_after_start check (end_time >= start_time)
) with (fillfactor = 60);

-- end_time and the payloads stay out of every index, so that completing a span is a heap-only update.
create index spans_by_trace on agent.spans (account_id, trace_id, start_time, id);
create index spans_by_time on agent.spans (account_id, start_time, id);
create index spans_by_task on agent.spans (account_id, task_id, start_time, id) where task_id is not null;
create index spans_by_age on agent.spans using brin (created_at);

-- lz4 halves the CPU of large payloads, but a server may be built without it.
do $$ begin
  alter table agent.spans
    alter column input set compression lz4, alter column output set compression lz4, alter column data set compression lz4;
exception when feature_not_supported then null;
end $$;
