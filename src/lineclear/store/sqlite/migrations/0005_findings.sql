-- What the radar found and what still holds, and which findings nobody wants to hear of.
CREATE TABLE "finding" (
  "id" INTEGER PRIMARY KEY,
  "key" TEXT NOT NULL,
  "kind" TEXT NOT NULL,
  "agents" TEXT NOT NULL,
  "files" TEXT NOT NULL,
  "symbol" TEXT NOT NULL,
  "old" TEXT NOT NULL,
  "new" TEXT NOT NULL,
  "detail" TEXT NOT NULL,
  "confidence" TEXT NOT NULL,
  "interrupts" INTEGER NOT NULL,
  "task" INTEGER NOT NULL,
  "since_ns" INTEGER NOT NULL,
  "told" TEXT NOT NULL
) STRICT;

CREATE TABLE "mute" (
  "kind" TEXT NOT NULL,
  "path" TEXT NOT NULL,
  "agent" TEXT NOT NULL,
  "position" INTEGER NOT NULL,
  PRIMARY KEY ("kind", "path")
) STRICT, WITHOUT ROWID;
