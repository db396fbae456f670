-- Worktrees, runs, and what a task must produce.
ALTER TABLE "task" ADD COLUMN "produces" TEXT NOT NULL DEFAULT '';

CREATE TABLE "worktree" (
  "name" TEXT NOT NULL,
  "path" TEXT NOT NULL,
  "branch" TEXT NOT NULL,
  "base" TEXT NOT NULL,
  "agent" TEXT NOT NULL,
  "task" INTEGER NOT NULL,
  "origin" TEXT NOT NULL,
  "port_first" INTEGER NOT NULL,
  "port_count" INTEGER NOT NULL,
  "made" INTEGER NOT NULL,
  PRIMARY KEY ("name")
) STRICT, WITHOUT ROWID;
CREATE INDEX "worktree_agent" ON "worktree" ("agent");

CREATE TABLE "run" (
  "id" INTEGER PRIMARY KEY,
  "agent" TEXT NOT NULL,
  "task" INTEGER NOT NULL,
  "attempt" INTEGER NOT NULL,
  "client" TEXT NOT NULL,
  "model" TEXT NOT NULL,
  "tree" TEXT NOT NULL,
  "branch" TEXT NOT NULL,
  "base" TEXT NOT NULL,
  "bond" TEXT NOT NULL,
  "token_hash" TEXT NOT NULL,
  "session" TEXT NOT NULL,
  "state" TEXT NOT NULL,
  "asked" TEXT NOT NULL,
  "how" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "exit_code" INTEGER NOT NULL,
  "tokens_in" INTEGER NOT NULL,
  "tokens_out" INTEGER NOT NULL,
  "cost_micros" INTEGER NOT NULL,
  "snapshot" TEXT NOT NULL,
  "started_ns" INTEGER NOT NULL,
  "ended_ns" INTEGER NOT NULL
) STRICT;
CREATE INDEX "run_state" ON "run" ("state", "id");
CREATE INDEX "run_task" ON "run" ("task", "id");
