// What a power cut may take of the spool: only the clock is the test's, the files and their syncs are real.
import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openSpool } from "../spool.js";
import { freshFolder, segments } from "./folders.js";

/** Notes each sync with what it makes certain: the size of a file, or the name of a folder. */
function syncs(t) {
  const { fdatasync, fsync, open } = fs, seen = [], folders = new Map();
  fs.fdatasync = (fd, done) => { seen.push({ bytes: fs.fstatSync(fd).size }); fdatasync(fd, done); };
  fs.open = (path, done) => open(path, (error, fd) => { folders.set(fd, path); done(error, fd); });
  fs.fsync = (fd, done) => fsync(fd, (error) => { seen.push({ folder: folders.get(fd) }); done(error); });
  t.after(() => Object.assign(fs, { fdatasync, fsync, open }));
  return seen;
}

const body = (n) => ({ hook: "cron_changed", ctx: {}, event: { n } });
const size = (home) => segments(home).reduce((sum, { path }) => sum + fs.statSync(path).size, 0);

test("every record is synced to the disk 100 ms after it was written, and not at every one of them", (t) => {
  const home = freshFolder(t), seen = syncs(t);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const spool = openSpool(home);
  for (let round = 0; round < 20; round += 1) {
    for (let n = 0; n < 10; n += 1) {
      spool.append(body(n));
      t.mock.timers.tick(9); // the last one at 90 ms
    }
    t.mock.timers.tick(9);
    assert.equal(seen.filter(({ bytes }) => bytes).length, round, "99 ms after the first one");
    t.mock.timers.tick(1);
    assert.equal(seen.filter(({ bytes }) => bytes).at(-1).bytes, size(home), "100 ms after the first one");
  }
});

test("the folders of a new file are synced with it", async (t) => {
  const home = freshFolder(t), seen = syncs(t);
  const spool = openSpool(home);
  spool.append(body(1));
  const [producer] = fs.readdirSync(join(home, "spool"));
  const wanted = [home, join(home, "spool"), join(home, "spool", producer)];
  for (let i = 0; i < 500 && seen.filter(({ folder }) => folder).length < 3; i += 1) await new Promise((go) => setTimeout(go, 10));
  assert.deepEqual(seen.map(({ folder }) => folder).filter(Boolean).sort(), wanted.sort());
});

test("what a segment holds is synced before it is let go of", (t) => {
  const home = freshFolder(t), seen = syncs(t);
  const spool = openSpool(home);
  spool.append(body(1));
  spool.close();
  assert.deepEqual(seen.filter(({ bytes }) => bytes), [{ bytes: size(home) }]);
});
