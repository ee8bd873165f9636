-- The study file. Times in seconds; settings as canonical JSON; raw = zlib of little-endian int64 nanoseconds.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE launch (
  id INTEGER PRIMARY KEY,
  setting TEXT NOT NULL,  -- the launch-scope part
  nodes INTEGER NOT NULL,
  ppn INTEGER NOT NULL,
  round INTEGER NOT NULL,
  status TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  started TEXT NOT NULL,
  seconds REAL NOT NULL DEFAULT 0,
  command TEXT NOT NULL,
  oversubscribed INTEGER NOT NULL DEFAULT 0,
  stderr TEXT NOT NULL DEFAULT '',
  hello TEXT  -- where every rank was, by its own report
);
CREATE TABLE sample (
  id INTEGER PRIMARY KEY,
  launch INTEGER NOT NULL REFERENCES launch (id),
  collective TEXT NOT NULL,
  size INTEGER NOT NULL,
  setting TEXT NOT NULL,  -- launch-scope and call-scope parts together
  repetitions INTEGER NOT NULL,
  discarded INTEGER NOT NULL,
  sync TEXT NOT NULL,
  minimum REAL NOT NULL,
  q1 REAL NOT NULL,
  median REAL NOT NULL,
  q3 REAL NOT NULL,
  p95 REAL NOT NULL,
  mean REAL NOT NULL,
  trimmed REAL NOT NULL,
  correct INTEGER,  -- NULL: not checked in this launch
  state REAL,  -- nanoseconds of an exchange by flags when it was measured
  raw BLOB NOT NULL,
  condition TEXT NOT NULL DEFAULT '',  -- canonical JSON of what of a program was replayed; '': nothing
  inside REAL,  -- mean time of a rank in the call
  UNIQUE (launch, collective, size, setting, condition)
);
CREATE TABLE refusal (
  launch INTEGER NOT NULL REFERENCES launch (id),
  collective TEXT NOT NULL,
  size INTEGER NOT NULL,
  setting TEXT NOT NULL,
  reason TEXT NOT NULL,
  UNIQUE (launch, collective, size, setting)
);
CREATE TABLE limits (nodes INTEGER NOT NULL, ppn INTEGER NOT NULL, launch INTEGER NOT NULL, value TEXT NOT NULL);
CREATE TABLE note (text TEXT PRIMARY KEY) WITHOUT ROWID;
