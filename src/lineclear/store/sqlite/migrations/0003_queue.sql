-- The queue: candidates, landings under way, checks, and the phase.
CREATE TABLE "candidate" (
  "id" INTEGER PRIMARY KEY,
  "branch" TEXT NOT NULL,
  "tip" TEXT NOT NULL,
  "base" TEXT NOT NULL,
  "agent" TEXT NOT NULL,
  "task" INTEGER NOT NULL,
  "attempt" INTEGER NOT NULL,
  "priority" INTEGER NOT NULL,
  "rank" INTEGER NOT NULL,
  "after" TEXT NOT NULL,
  "state" TEXT NOT NULL,
  "reason" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "others" TEXT NOT NULL,
  "review" TEXT NOT NULL,
  "reviewer" TEXT NOT NULL,
  "commit" TEXT NOT NULL,
  "submitted" INTEGER NOT NULL,
  "submitted_ns" INTEGER NOT NULL,
  "ended_ns" INTEGER NOT NULL
) STRICT;
CREATE INDEX "candidate_state" ON "candidate" ("state", "id");
CREATE INDEX "candidate_branch" ON "candidate" ("branch", "id");
CREATE INDEX "candidate_task" ON "candidate" ("task", "id");

CREATE TABLE "landing" (
  "id" INTEGER PRIMARY KEY,
  "old" TEXT NOT NULL,
  "new" TEXT NOT NULL,
  "ids" TEXT NOT NULL,
  "commits" TEXT NOT NULL,
  "hows" TEXT NOT NULL
) STRICT;

CREATE TABLE "verdict" (
  "key" TEXT NOT NULL,
  "tree" TEXT NOT NULL,
  "position" INTEGER NOT NULL,
  PRIMARY KEY ("key")
) STRICT, WITHOUT ROWID;

CREATE TABLE "check_record" (
  "command" TEXT NOT NULL,
  "runs" INTEGER NOT NULL,
  "reds" INTEGER NOT NULL,
  "flakes" INTEGER NOT NULL,
  "took_ms" INTEGER NOT NULL,
  "last_ms" INTEGER NOT NULL,
  PRIMARY KEY ("command")
) STRICT, WITHOUT ROWID;

CREATE TABLE "mode" (
  "name" TEXT NOT NULL,
  "value" TEXT NOT NULL,
  "note" TEXT NOT NULL,
  "agent" TEXT NOT NULL,
  "since" INTEGER NOT NULL,
  PRIMARY KEY ("name")
) STRICT, WITHOUT ROWID;
