-- The log and the tables it folds into (see core/tables.py; a test compares the two).
CREATE TABLE "log" (
  "position" INTEGER PRIMARY KEY,
  "at_ns" INTEGER NOT NULL,
  "actor" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "subject" TEXT NOT NULL,
  "seen" INTEGER NOT NULL,
  "op" TEXT NOT NULL,
  "body" TEXT NOT NULL
) STRICT;
CREATE INDEX "log_subject" ON "log" ("subject", "position");

CREATE TABLE "agent" (
  "name" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "client" TEXT NOT NULL,
  "tree" TEXT NOT NULL,
  "session" TEXT NOT NULL,
  "state" TEXT NOT NULL,
  "incarnation" INTEGER NOT NULL,
  "bond" TEXT NOT NULL,
  "joined" INTEGER NOT NULL,
  PRIMARY KEY ("name")
) STRICT, WITHOUT ROWID;
CREATE INDEX "agent_session" ON "agent" ("session");
CREATE INDEX "agent_tree" ON "agent" ("tree");

CREATE TABLE "claim" (
  "agent" TEXT NOT NULL,
  "resource" TEXT NOT NULL,
  "node" TEXT NOT NULL,
  "mode" TEXT NOT NULL,
  "fence" INTEGER NOT NULL,
  "tree" TEXT NOT NULL,
  "note" TEXT NOT NULL,
  "task" INTEGER NOT NULL,
  "ttl_ms" INTEGER NOT NULL,
  "bond" TEXT NOT NULL,
  "until_ns" INTEGER NOT NULL,
  PRIMARY KEY ("agent", "resource")
) STRICT, WITHOUT ROWID;
CREATE INDEX "claim_node" ON "claim" ("node");

CREATE TABLE "fence" (
  "node" TEXT NOT NULL,
  "resource" TEXT NOT NULL,
  "fence" INTEGER NOT NULL,
  "agent" TEXT NOT NULL,
  PRIMARY KEY ("node", "resource")
) STRICT, WITHOUT ROWID;

CREATE TABLE "wait" (
  "ticket" INTEGER PRIMARY KEY,
  "agent" TEXT NOT NULL,
  "resources" TEXT NOT NULL,
  "mode" TEXT NOT NULL,
  "tree" TEXT NOT NULL,
  "note" TEXT NOT NULL,
  "task" INTEGER NOT NULL,
  "ttl_ms" INTEGER NOT NULL,
  "bond" TEXT NOT NULL,
  "until_ns" INTEGER NOT NULL
) STRICT;

CREATE TABLE "task" (
  "id" INTEGER PRIMARY KEY,
  "title" TEXT NOT NULL,
  "body" TEXT NOT NULL,
  "state" TEXT NOT NULL,
  "priority" INTEGER NOT NULL,
  "unmet" INTEGER NOT NULL,
  "scope" TEXT NOT NULL,
  "labels" TEXT NOT NULL,
  "needs" TEXT NOT NULL,
  "agent" TEXT NOT NULL,
  "attempt" INTEGER NOT NULL,
  "attempts_max" INTEGER NOT NULL,
  "branch" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "same_as" INTEGER NOT NULL,
  "created" INTEGER NOT NULL,
  "ttl_ms" INTEGER NOT NULL,
  "until_ns" INTEGER NOT NULL
) STRICT;
CREATE INDEX "task_ready" ON "task" ("state", "unmet", "priority", "id");

-- Words of tasks, for the shortlist of likely duplicates; kept by triggers, never read as truth.
CREATE VIRTUAL TABLE "task_words" USING fts5("title", "body", content='task', content_rowid='id', tokenize='porter unicode61');
CREATE TRIGGER "task_words_added" AFTER INSERT ON "task" BEGIN
  INSERT INTO "task_words"(rowid, "title", "body") VALUES (new."id", new."title", new."body");
END;
CREATE TRIGGER "task_words_changed" AFTER UPDATE OF "title", "body" ON "task"
WHEN old."title" <> new."title" OR old."body" <> new."body" BEGIN
  INSERT INTO "task_words"("task_words", rowid, "title", "body") VALUES ('delete', old."id", old."title", old."body");
  INSERT INTO "task_words"(rowid, "title", "body") VALUES (new."id", new."title", new."body");
END;

CREATE TABLE "task_dep" (
  "task" INTEGER NOT NULL,
  "dep" INTEGER NOT NULL,
  PRIMARY KEY ("task", "dep")
) STRICT, WITHOUT ROWID;
CREATE INDEX "task_dep_dep" ON "task_dep" ("dep");

CREATE TABLE "value" (
  "key" TEXT PRIMARY KEY NOT NULL,
  "version" INTEGER NOT NULL,
  "json" TEXT NOT NULL,
  "deleted" INTEGER NOT NULL,
  "agent" TEXT NOT NULL,
  "position" INTEGER NOT NULL
) STRICT;

CREATE TABLE "copy" (
  "copy" TEXT NOT NULL,
  "key" TEXT NOT NULL,
  "agent" TEXT NOT NULL,
  "base_version" INTEGER NOT NULL,
  "base_json" TEXT NOT NULL,
  "json" TEXT NOT NULL,
  "deleted" INTEGER NOT NULL,
  PRIMARY KEY ("copy", "key")
) STRICT;

CREATE TABLE "proposal" (
  "id" INTEGER PRIMARY KEY,
  "resource" TEXT NOT NULL,
  "author" TEXT NOT NULL,
  "base_version" INTEGER NOT NULL,
  "payload" TEXT NOT NULL,
  "note" TEXT NOT NULL,
  "state" TEXT NOT NULL,
  "decided_by" TEXT NOT NULL,
  "reason" TEXT NOT NULL
) STRICT;
CREATE INDEX "proposal_resource" ON "proposal" ("resource", "id");

CREATE TABLE "message" (
  "id" INTEGER PRIMARY KEY,
  "author" TEXT NOT NULL,
  "audience" TEXT NOT NULL,
  "urgent" INTEGER NOT NULL,
  "text" TEXT NOT NULL
) STRICT;
CREATE INDEX "message_audience" ON "message" ("audience", "id");

CREATE TABLE "reader" (
  "name" TEXT NOT NULL,
  "cursor" INTEGER NOT NULL,
  "since" INTEGER NOT NULL,
  "topics" TEXT NOT NULL,
  PRIMARY KEY ("name")
) STRICT, WITHOUT ROWID;

CREATE TABLE "read" (
  "reader" TEXT NOT NULL,
  "message" INTEGER NOT NULL,
  PRIMARY KEY ("reader", "message")
) STRICT, WITHOUT ROWID;

CREATE TABLE "operation" (
  "key" TEXT PRIMARY KEY NOT NULL,
  "digest" TEXT NOT NULL,
  "result" TEXT NOT NULL,
  "at_ns" INTEGER NOT NULL,
  "position" INTEGER NOT NULL
) STRICT;
CREATE INDEX "operation_age" ON "operation" ("at_ns");
