// What spool.js leaves on a real disk, with and without trouble.
import assert from "node:assert/strict";
import fs from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";
import { openSpool } from "../spool.js";
import { freshFolder, mode, records, segments } from "./folders.js";

const body = (n) => ({ hook: "after_tool_call", ctx: { n }, event: { text: "x" } });

test("a record is in the file once append has returned", (t) => {
  const home = freshFolder(t);
  openSpool(home, 1 << 30, () => 1_700_000_000_000).append(body(1));
  const [line] = records(home);
  assert.deepEqual(Object.keys(line), ["v", "id", "producer", "seq", "ts", "hook", "ctx", "event"]);
  assert.match(line.id, /^018bcfe5-6800-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual([line.v, line.seq, line.ts, line.hook, line.ctx.n], [1, 1, 1_700_000_000_000, "after_tool_call", 1]);
});

test("folders are 0700 and files 0600 under any umask", (t) => {
  const home = join(freshFolder(t), "limpet");
  const before = process.umask(0);
  openSpool(home).append(body(1));
  process.umask(before);
  const [{ path }] = segments(home);
  const about = join(path, "..", "producer.json");
  assert.deepEqual([home, join(home, "spool"), join(path, ".."), path, about].map(mode), ["700", "700", "700", "600", "600"]);
});

test("the folder says which process writes there", (t) => {
  const home = freshFolder(t);
  openSpool(home).append(body(1));
  const about = JSON.parse(fs.readFileSync(join(segments(home)[0].path, "..", "producer.json")));
  assert.deepEqual(
    [about.producer, about.pid, about.start, about.boot, about.ns],
    [
      records(home)[0].producer,
      process.pid,
      fs.readFileSync("/proc/self/stat", "utf8").split(") ").at(-1).split(" ")[19],
      fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
      fs.readlinkSync("/proc/self/ns/pid"),
    ],
  );
});

test("nothing is made before there is something to write", (t) => {
  const home = freshFolder(t);
  openSpool(home);
  assert.deepEqual(fs.readdirSync(home), []);
});

test("a segment ends at 1 MiB and numbers go on", (t) => {
  const home = freshFolder(t);
  const spool = openSpool(home);
  for (let n = 1; n <= 3; n += 1) spool.append({ ...body(n), event: { text: "x".repeat(700_000) } });
  assert.deepEqual(segments(home).map(({ lines }) => lines.length), [2, 1]);
  assert.deepEqual(records(home).map(({ seq }) => seq), [1, 2, 3]);
});

test("a segment ends after 60 s, and when the clock is set back by as much", (t) => {
  const home = freshFolder(t);
  let at = 1_700_000_000_000;
  const spool = openSpool(home, 1 << 30, () => at);
  for (const step of [0, 59_999, 1, -60_000]) {
    at += step;
    spool.append(body(step));
  }
  assert.deepEqual(segments(home).map(({ lines }) => lines.length), [2, 1, 1]);
});

test("a file that was unlinked meanwhile is not written to again", (t) => {
  const home = freshFolder(t);
  const spool = openSpool(home);
  spool.append(body(1));
  fs.rmSync(segments(home)[0].path);
  spool.append(body(2));
  assert.deepEqual(records(home).map(({ seq }) => seq), [2]);
});

test("a folder that vanished is made again, with its description", (t) => {
  const home = freshFolder(t);
  const spool = openSpool(home);
  spool.append(body(1));
  fs.rmSync(join(home, "spool"), { recursive: true });
  spool.append(body(2));
  assert.deepEqual(records(home).map(({ seq }) => seq), [2]);
  assert.ok(fs.existsSync(join(segments(home)[0].path, "..", "producer.json")));
  assert.deepEqual(spool.counts(), { written: 2, dropped: 0 });
});

test("where nothing can be written events are counted, and told of once writing works again", (t) => {
  const home = join(freshFolder(t), "limpet");
  let at = 1_000;
  const spool = openSpool(home, 1 << 30, () => (at += 1));
  fs.writeFileSync(home, "a file where the folder should be");
  spool.append(body(1));
  spool.append(body(2));
  fs.rmSync(home);
  spool.append(body(3));
  const [told, third] = records(home);
  assert.deepEqual([told.hook, told.seq, told.event.dropped, told.event.reason], ["limpet_dropped", 1, 2, "ENOTDIR"]);
  assert.ok(1_000 < told.event.since_ms && told.event.since_ms < told.event.until_ms && told.event.until_ms < third.ts);
  assert.deepEqual([third.seq, third.ctx.n], [2, 3]);
  assert.deepEqual(spool.counts(), { written: 2, dropped: 2 });
});

test("past the limit on the whole spool events are dropped until a reader has made room", async (t) => {
  const home = freshFolder(t);
  fs.mkdirSync(join(home, "spool", "another"), { recursive: true });
  const backlog = join(home, "spool", "another", "1.jsonl");
  fs.writeFileSync(backlog, "x".repeat(100_000));
  let at = 1_000;
  const spool = openSpool(home, 50_000, () => at);
  spool.append(body(1)); // the first measure is only under way
  await until(() => { spool.append(body(2)); return spool.counts().dropped > 0; });
  fs.rmSync(backlog);
  await until(() => { at += 1_000; spool.append(body(3)); return records(home).at(-1).ctx.n === 3; });
  const told = records(home).find(({ hook }) => hook === "limpet_dropped");
  assert.equal(told.event.reason, "limit");
  assert.equal(told.event.dropped, spool.counts().dropped);
});

test("after a short write the line stands whole in a new segment, under the same number", (t) => {
  const home = freshFolder(t);
  const script = `
    import { openSpool } from ${JSON.stringify(new URL("../spool.js", import.meta.url).href)};
    const spool = openSpool(${JSON.stringify(home)});
    for (const n of [1, 2, 3]) spool.append({ hook: "x", ctx: { n }, event: { text: "x".repeat(3_000) } });`;
  // A limit on the size of a file (8 units of 1 KiB) makes the kernel write the third line in part.
  const run = spawnSync("bash", ["-c", 'ulimit -f 8; exec "$0" --input-type=module -e "$1"', process.execPath, script]);
  assert.equal(run.status, 0, run.stderr.toString());
  const [first, second] = segments(home);
  assert.deepEqual(first.lines.map((line) => JSON.parse(line).seq), [1, 2]);
  assert.ok(!first.text.endsWith("\n"));
  assert.deepEqual(second.lines.map((line) => JSON.parse(line).seq), [3]);
});

test("what a killed process has appended is there", (t) => {
  const home = freshFolder(t);
  const script = `
    import { openSpool } from ${JSON.stringify(new URL("../spool.js", import.meta.url).href)};
    const spool = openSpool(${JSON.stringify(home)});
    for (let n = 1; n <= 500; n += 1) spool.append({ hook: "x", ctx: { n }, event: {} });
    process.kill(process.pid, "SIGKILL");`;
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", script]);
  assert.equal(run.signal, "SIGKILL");
  assert.equal(records(home).length, 500);
});

async function until(holds) {
  for (let i = 0; i < 500 && !holds(); i += 1) await pause(10);
  assert.ok(holds());
}
