-- A few rows that change every second: with room in their pages, an update touches no index and leaves nothing to clean.
ALTER TABLE payments_sweep SET (fillfactor = 20);
ALTER TABLE payments_workerprocess SET (fillfactor = 20);
