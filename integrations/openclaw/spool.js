// Appends records to <home>/spool/<producer>/<n>.jsonl and counts what it could not write; never throws, never waits.
import fs from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";

const SEGMENT_BYTES = 1 << 20;
const SEGMENT_MS = 60_000;
const FULL_MS = 1_000; // how often a full spool is measured again
const SYNC_MS = 100;
const NEW_FILE = fs.constants.O_WRONLY | fs.constants.O_APPEND | fs.constants.O_CREAT | fs.constants.O_EXCL;
const fail = (code) => { throw Object.assign(new Error(code), { code }); };
const ignore = () => {}; // a written line is in its file; only a power cut could take it before the sync

export function openSpool(home, limitBytes = 1 << 30, now = Date.now) {
  const producer = uuid7(Date.now()), root = join(home, "spool"), folder = join(root, producer);
  let seq = 0, dropped = 0, untold = null; // untold: the drops that no record has told of yet
  let fd = null, segment = 0, size = 0, openedAt = 0, timer = null, unsynced = [];
  let used = 0, measuredAt = -Infinity; // bytes in the whole spool when last measured, and ours since
  function append(body) {
    try {
      if (isFull()) fail("limit");
      if (untold) write({ hook: "limpet_dropped", ctx: {}, event: untold });
      untold = null;
      write(body);
    } catch (error) {
      drop(error); // tried again with the next record, and in another segment after a minute
    }
  }
  function drop(error) {
    dropped += 1;
    untold ??= { dropped: 0, since_ms: now(), reason: error?.code ?? "unreadable" };
    untold = { ...untold, dropped: untold.dropped + 1, until_ms: now() };
  }
  function write(body) {
    const ts = now();
    const head = { v: 1, id: uuid7(ts), producer, seq: seq + 1, ts };
    const line = Buffer.from(`${JSON.stringify({ ...head, ...body })}\n`);
    if (!put(line) && !put(line)) fail("short write");
    seq += 1; // a dropped record uses no number
  }
  function put(line) {
    if (fd !== null && isSpent()) close();
    if (fd === null) open();
    const written = fs.writeSync(fd, line);
    size += written;
    used += written;
    timer ??= setTimeout(sync, SYNC_MS).unref();
    if (written < line.length) close(); // a torn line may only be the last of its segment
    return written === line.length;
  }
  const isSpent = () =>
    size >= SEGMENT_BYTES || Math.abs(now() - openedAt) >= SEGMENT_MS || fs.fstatSync(fd).nlink === 0;
  function open() {
    const about = join(folder, "producer.json");
    if (!fs.existsSync(about)) {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      fs.writeFileSync(`${about}.new`, JSON.stringify({ v: 1, producer, ...thisProcess() }), { mode: 0o600 });
      fs.renameSync(`${about}.new`, about); // a reader sees all of it or none
    }
    fd = fs.openSync(join(folder, `${(segment += 1)}.jsonl`), NEW_FILE, 0o600);
    [size, openedAt, unsynced] = [0, now(), [home, root, folder]];
  }
  function sync() {
    timer = null;
    if (fd !== null) fs.fdatasync(fd, ignore);
    for (const one of unsynced.splice(0)) fs.open(one, (error, dir) => error || fs.fsync(dir, () => fs.close(dir, ignore)));
  }
  function close() {
    const old = fd;
    fd = null;
    if (old !== null) fs.fdatasync(old, () => fs.close(old, ignore));
  }
  function isFull() {
    if (Math.abs(now() - measuredAt) >= (used < limitBytes ? SEGMENT_MS : FULL_MS)) {
      measuredAt = now();
      folderBytes(root).then((bytes) => { used = bytes; });
    }
    return used >= limitBytes;
  }
  return { append, drop, close, counts: () => ({ written: seq, dropped }) };
}

async function folderBytes(root) {
  let total = 0;
  for (const name of await fs.promises.readdir(root, { recursive: true }).catch(() => [])) {
    total += (await fs.promises.stat(join(root, name)).catch(() => null))?.size ?? 0; // null: drained meanwhile
  }
  return total;
}

/** A process id alone is given again, and means another process in another container: hence the rest. */
function thisProcess() {
  const read = (get) => { try { return get(); } catch { return ""; } }; // "": a system without /proc
  const start = read(() => fs.readFileSync("/proc/self/stat", "utf8").replace(/.*\) /s, "").split(" ")[19]);
  const boot = read(() => fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  return { pid: process.pid, start, boot, ns: read(() => fs.readlinkSync("/proc/self/ns/pid")) };
}

/** A UUID version 7 (RFC 9562, 5.7) of this instant. */
function uuid7(atMs) {
  const time = atMs.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
