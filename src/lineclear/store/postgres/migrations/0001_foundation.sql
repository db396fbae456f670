-- The log and the tables it folds into (see core/tables.py; a test compares the two).
-- Every key begins with the repo. COLLATE "C" orders by code point, as Python does.
CREATE TABLE "repo" (
  "repo" text COLLATE "C" NOT NULL,
  "head" bigint NOT NULL,
  "created_ns" bigint NOT NULL,
  PRIMARY KEY ("repo")
);

CREATE TABLE "log" (
  "repo" text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  "at_ns" bigint NOT NULL,
  "actor" text COLLATE "C" NOT NULL,
  "kind" text COLLATE "C" NOT NULL,
  "subject" text COLLATE "C" NOT NULL,
  "seen" bigint NOT NULL,
  "op" text COLLATE "C" NOT NULL,
  "body" text COLLATE "C" NOT NULL,
  PRIMARY KEY ("repo", "position")
);
CREATE INDEX "log_subject" ON "log" ("repo", "subject", "position");

CREATE TABLE "agent" (
  "repo" text COLLATE "C" NOT NULL,
  "name" text COLLATE "C" NOT NULL,
  "kind" text COLLATE "C" NOT NULL,
  "client" text COLLATE "C" NOT NULL,
  "tree" text COLLATE "C" NOT NULL,
  "session" text COLLATE "C" NOT NULL,
  "state" text COLLATE "C" NOT NULL,
  "incarnation" bigint NOT NULL,
  "bond" text COLLATE "C" NOT NULL,
  "joined" bigint NOT NULL,
  PRIMARY KEY ("repo", "name")
);
CREATE INDEX "agent_session" ON "agent" ("repo", "session");
CREATE INDEX "agent_tree" ON "agent" ("repo", "tree");

CREATE TABLE "claim" (
  "repo" text COLLATE "C" NOT NULL,
  "agent" text COLLATE "C" NOT NULL,
  "resource" text COLLATE "C" NOT NULL,
  "node" text COLLATE "C" NOT NULL,
  "mode" text COLLATE "C" NOT NULL,
  "fence" bigint NOT NULL,
  "tree" text COLLATE "C" NOT NULL,
  "note" text COLLATE "C" NOT NULL,
  "task" bigint NOT NULL,
  "ttl_ms" bigint NOT NULL,
  "bond" text COLLATE "C" NOT NULL,
  "until_ns" bigint NOT NULL,
  PRIMARY KEY ("repo", "agent", "resource")
);
CREATE INDEX "claim_node" ON "claim" ("repo", "node");

CREATE TABLE "fence" (
  "repo" text COLLATE "C" NOT NULL,
  "node" text COLLATE "C" NOT NULL,
  "resource" text COLLATE "C" NOT NULL,
  "fence" bigint NOT NULL,
  "agent" text COLLATE "C" NOT NULL,
  PRIMARY KEY ("repo", "node", "resource")
);

CREATE TABLE "wait" (
  "repo" text COLLATE "C" NOT NULL,
  "ticket" bigint NOT NULL,
  "agent" text COLLATE "C" NOT NULL,
  "resources" text COLLATE "C" NOT NULL,
  "mode" text COLLATE "C" NOT NULL,
  "tree" text COLLATE "C" NOT NULL,
  "note" text COLLATE "C" NOT NULL,
  "task" bigint NOT NULL,
  "ttl_ms" bigint NOT NULL,
  "bond" text COLLATE "C" NOT NULL,
  "until_ns" bigint NOT NULL,
  PRIMARY KEY ("repo", "ticket")
);

CREATE TABLE "task" (
  "repo" text COLLATE "C" NOT NULL,
  "id" bigint NOT NULL,
  "title" text COLLATE "C" NOT NULL,
  "body" text COLLATE "C" NOT NULL,
  "state" text COLLATE "C" NOT NULL,
  "priority" bigint NOT NULL,
  "unmet" bigint NOT NULL,
  "scope" text COLLATE "C" NOT NULL,
  "labels" text COLLATE "C" NOT NULL,
  "needs" text COLLATE "C" NOT NULL,
  "agent" text COLLATE "C" NOT NULL,
  "attempt" bigint NOT NULL,
  "attempts_max" bigint NOT NULL,
  "branch" text COLLATE "C" NOT NULL,
  "reason" text COLLATE "C" NOT NULL,
  "same_as" bigint NOT NULL,
  "created" bigint NOT NULL,
  "ttl_ms" bigint NOT NULL,
  "until_ns" bigint NOT NULL,
  PRIMARY KEY ("repo", "id")
);
CREATE INDEX "task_ready" ON "task" ("repo", "state", "unmet", "priority", "id");
-- Words of tasks, for the shortlist of likely duplicates; the cut keeps below the limit of a tsvector.
CREATE INDEX "task_words" ON "task" USING gin (to_tsvector('english', left("title" || ' ' || "body", 20000)));

CREATE TABLE "task_dep" (
  "repo" text COLLATE "C" NOT NULL,
  "task" bigint NOT NULL,
  "dep" bigint NOT NULL,
  PRIMARY KEY ("repo", "task", "dep")
);
CREATE INDEX "task_dep_dep" ON "task_dep" ("repo", "dep");

CREATE TABLE "value" (
  "repo" text COLLATE "C" NOT NULL,
  "key" text COLLATE "C" NOT NULL,
  "version" bigint NOT NULL,
  "json" text COLLATE "C" NOT NULL,
  "deleted" bigint NOT NULL,
  "agent" text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  PRIMARY KEY ("repo", "key")
);

CREATE TABLE "copy" (
  "repo" text COLLATE "C" NOT NULL,
  "copy" text COLLATE "C" NOT NULL,
  "key" text COLLATE "C" NOT NULL,
  "agent" text COLLATE "C" NOT NULL,
  "base_version" bigint NOT NULL,
  "base_json" text COLLATE "C" NOT NULL,
  "json" text COLLATE "C" NOT NULL,
  "deleted" bigint NOT NULL,
  PRIMARY KEY ("repo", "copy", "key")
);

CREATE TABLE "proposal" (
  "repo" text COLLATE "C" NOT NULL,
  "id" bigint NOT NULL,
  "resource" text COLLATE "C" NOT NULL,
  "author" text COLLATE "C" NOT NULL,
  "base_version" bigint NOT NULL,
  "payload" text COLLATE "C" NOT NULL,
  "note" text COLLATE "C" NOT NULL,
  "state" text COLLATE "C" NOT NULL,
  "decided_by" text COLLATE "C" NOT NULL,
  "reason" text COLLATE "C" NOT NULL,
  PRIMARY KEY ("repo", "id")
);
CREATE INDEX "proposal_resource" ON "proposal" ("repo", "resource", "id");

CREATE TABLE "message" (
  "repo" text COLLATE "C" NOT NULL,
  "id" bigint NOT NULL,
  "author" text COLLATE "C" NOT NULL,
  "audience" text COLLATE "C" NOT NULL,
  "urgent" bigint NOT NULL,
  "text" text COLLATE "C" NOT NULL,
  PRIMARY KEY ("repo", "id")
);
CREATE INDEX "message_audience" ON "message" ("repo", "audience", "id");

CREATE TABLE "reader" (
  "repo" text COLLATE "C" NOT NULL,
  "name" text COLLATE "C" NOT NULL,
  "cursor" bigint NOT NULL,
  "since" bigint NOT NULL,
  "topics" text COLLATE "C" NOT NULL,
  PRIMARY KEY ("repo", "name")
);

CREATE TABLE "read" (
  "repo" text COLLATE "C" NOT NULL,
  "reader" text COLLATE "C" NOT NULL,
  "message" bigint NOT NULL,
  PRIMARY KEY ("repo", "reader", "message")
);

CREATE TABLE "operation" (
  "repo" text COLLATE "C" NOT NULL,
  "key" text COLLATE "C" NOT NULL,
  "digest" text COLLATE "C" NOT NULL,
  "result" text COLLATE "C" NOT NULL,
  "at_ns" bigint NOT NULL,
  "position" bigint NOT NULL,
  PRIMARY KEY ("repo", "key")
);
CREATE INDEX "operation_age" ON "operation" ("repo", "at_ns");

-- Teach the planner what the tables will be like: the repo alone finds nothing, the rest of a key
-- does. Without numbers it takes the first index that begins with the repo, and reads all of it.
DO $$
DECLARE
  named text;
  cells text;
BEGIN
  FOREACH named IN ARRAY ARRAY['log', 'agent', 'claim', 'fence', 'wait', 'task', 'task_dep', 'value', 'copy', 'proposal',
    'message', 'reader', 'read', 'operation'] LOOP
    SELECT string_agg(CASE WHEN attname = 'repo' THEN quote_literal('') WHEN atttypid = 'text'::regtype THEN 'n::text'
      ELSE 'n' END, ', ' ORDER BY attnum) INTO cells
    FROM pg_attribute WHERE attrelid = named::regclass AND attnum > 0 AND NOT attisdropped;
    EXECUTE format('INSERT INTO %I SELECT %s FROM generate_series(1, 1000) AS n', named, cells);
    EXECUTE format('ANALYZE %I', named);
    EXECUTE format('DELETE FROM %I', named);
  END LOOP;
END $$;

-- Which history we are in, for the name of the epoch. A promoted replica begins a new timeline (the
-- WAL's own name knows it at once, the last checkpoint only some time later). A server that crashed may
-- have lost what others saw but nobody was promised yet: it empties this unlogged table. A dump put
-- back finds itself in another home.
CREATE UNLOGGED TABLE "witness" (
  "only" boolean PRIMARY KEY CHECK ("only"),
  "home" text NOT NULL,
  "mark" text NOT NULL
);
CREATE FUNCTION lineclear_history() RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  timeline text := '0';
  here text;
  found text;
BEGIN
  SELECT oid::text INTO here FROM pg_database WHERE datname = current_database();
  BEGIN
    SELECT "timeline_id"::text INTO timeline FROM pg_control_checkpoint();
    SELECT here || '/' || "system_identifier" INTO here FROM pg_control_system();
    timeline := ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer::text;
  EXCEPTION WHEN insufficient_privilege OR object_not_in_prerequisite_state THEN
    NULL;
  END;
  SELECT "mark" INTO found FROM "witness" WHERE "home" = here;
  IF found IS NULL THEN
    INSERT INTO "witness" AS w VALUES (true, here, left(gen_random_uuid()::text, 8))
    ON CONFLICT ("only") DO UPDATE SET "home" = excluded."home", "mark" = excluded."mark" WHERE w."home" <> excluded."home";
    SELECT "mark" INTO found FROM "witness";
  END IF;
  RETURN timeline || '.' || found;
EXCEPTION WHEN read_only_sql_transaction OR feature_not_supported OR insufficient_privilege THEN
  RETURN timeline; -- whoever cannot write begins no epoch
END $$;

-- The steps of a transaction whose facts were guessed (see speculation.py). They talk to each other
-- through two settings that end with the transaction: lineclear.head and lineclear.missed.

-- Wait for our turn, then say where the log ends and what the time is. The caller's own idea of the
-- time must be at most 2 s behind and never ahead. An advisory lock, not a row lock: a turn in which
-- nothing is written leaves nothing to flush to disk.
CREATE FUNCTION lineclear_begin(of_repo text, believed_ns bigint, to_write boolean, OUT head bigint, OUT now_ns bigint)
LANGUAGE plpgsql AS $$
BEGIN
  IF to_write THEN
    PERFORM pg_advisory_xact_lock('repo'::regclass::oid::integer, hashtext(of_repo));
  END IF;
  now_ns := extract(epoch FROM clock_timestamp()) * 1000000000;
  SELECT r."head" INTO head FROM "repo" r WHERE r."repo" = of_repo;
  PERFORM set_config('lineclear.head', head::text, true),
    set_config('lineclear.missed', CASE WHEN now_ns - believed_ns NOT BETWEEN 0 AND 2000000000 THEN 'yes' ELSE '' END, true);
END $$;

-- Nothing if the answer is the guessed one; else the answer, and nothing will be written.
CREATE FUNCTION lineclear_saw(answer text, guess_sha256 text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
  IF encode(sha256(convert_to(answer, 'UTF8')), 'hex') = guess_sha256 THEN
    RETURN NULL;
  END IF;
  PERFORM set_config('lineclear.missed', 'yes', true);
  RETURN answer;
END $$;

-- Rows to write, with the true positions in the place of their stand-ins; none after a miss.
CREATE FUNCTION lineclear_settled(row_texts text, stand_in bigint, offsets integer[]) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
  head CONSTANT bigint := current_setting('lineclear.head');
  step integer;
BEGIN
  IF current_setting('lineclear.missed') = 'yes' THEN
    RETURN NULL;
  END IF;
  FOREACH step IN ARRAY offsets LOOP
    row_texts := replace(row_texts, (stand_in + step)::text, (head + step)::text);
  END LOOP;
  RETURN row_texts::jsonb;
END $$;

-- Move the head; nothing after a miss. With `flush_later` the next writer need not wait for the disk:
-- whoever calls promises nothing to anybody before lineclear_flush, in a transaction of its own, has
-- brought all that was written until then to the disk, for all who wait for it at once.
CREATE FUNCTION lineclear_end(of_repo text, growth bigint, flush_later boolean) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  before CONSTANT bigint := current_setting('lineclear.head');
BEGIN
  IF current_setting('lineclear.missed') = 'yes' THEN
    RETURN NULL;
  END IF;
  IF growth > 0 THEN
    UPDATE "repo" SET "head" = before + growth WHERE "repo" = of_repo AND "head" = before;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the head of the log moved although we hold the lock';
    END IF;
  END IF;
  IF flush_later THEN
    PERFORM set_config('synchronous_commit', 'off', true);
  END IF;
  RETURN before + growth;
END $$;

CREATE FUNCTION lineclear_flush() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_logical_emit_message(true, 'lineclear', '');
END $$;
