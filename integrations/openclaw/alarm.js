// Has somebody told, once, when the sidecar is dead and cannot say so itself; and once that it lives again.
// Not for finding ways to a person: the sidecar leaves them in ways.json while it lives. Never throws, never waits.
import fs from "node:fs";
import net from "node:net";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { supervise } from "./supervise.js";
const LOOK_MS = 10_000;
const LOOKS = 5; // so many looks, at least, before somebody is told
const ANSWER_MS = 5_000;
const WAY_MS = 120_000; // a way that takes longer is ended, and the next one is taken
const FALLBACK = { after_s: 300, ways: [["openclaw", "system", "event", "--mode", "next-heartbeat", "--text"]] };
const BROKEN = "Limpet: the gateway runs and its plugin writes, but the sidecar does not answer. -> limpet doctor";
const WELL = "Limpet: all is well again. It was: the sidecar did not answer.";

/** Keeps the command, if there is one, running as the sidecar, and watches that one answers; returns what ends both. */
export function guard(home, command) {
  const stopSidecar = command && supervise(command, home);
  const state = { broken_ms: 0, well_ms: 0, told: false, ...read(join(home, "alarm-plugin.json")) };
  let timer, stopped = false, lookedAt = performance.now();
  const pause = () => Math.min(LOOK_MS, (ways(home).after_s * 1_000) / LOOKS || LOOK_MS);
  async function look() {
    const passed = Math.min(performance.now() - lookedAt, 2 * LOOK_MS);
    lookedAt = performance.now();
    await judge(home, state, await answers(home), passed).catch(() => {}); // a look that fails must not end the others
    if (!stopped) timer = setTimeout(look, pause()).unref();
  }
  timer = setTimeout(look, pause()).unref();
  return () => {
    stopped = true;
    clearTimeout(timer);
    stopSidecar?.();
  };
}

/** What was broken for long enough in all, without having been well for as long in between, is told once. */
async function judge(home, state, isWell, passed) {
  const before = JSON.stringify(state), { after_s: after, ways: found } = ways(home);
  if (isWell) state.well_ms += passed;
  else Object.assign(state, { broken_ms: state.broken_ms + passed, well_ms: 0 });
  const isLong = (ms) => after > 0 && ms >= after * 1_000;
  if (!isWell && !state.told && isLong(state.broken_ms)) state.told = await deliver(found, BROKEN, "broken");
  else if (state.told && isLong(state.well_ms)) state.told = !(await deliver(found, WELL, "clear"));
  if (!state.told && isLong(state.well_ms)) Object.assign(state, { broken_ms: 0, well_ms: 0 });
  if (JSON.stringify(state) !== before) await keep(join(home, "alarm-plugin.json"), state);
}

/** Whether a sidecar answers at its socket; where it lies is said in door.py. */
function answers(home) {
  const path = join(home, "limpet.sock"), name = createHash("sha256").update(path).digest("hex").slice(0, 16);
  const short = Buffer.byteLength(path) <= 100 ? path : `/tmp/limpet-${process.getuid()}/${name}.sock`;
  return new Promise((resolve) => {
    const socket = net.connect(short, () => socket.write('{"op":"hello"}\n')).unref();
    const done = (answer) => { socket.destroy(); resolve(answer); };
    socket.setTimeout(ANSWER_MS, () => done(false)).on("error", () => done(false)).on("data", () => done(true)).on("end", () => done(false));
  });
}

/** Takes the first way that works; returns whether one did. */
async function deliver(found, sentence, state) {
  const env = { ...process.env, NO_COLOR: "1", LIMPET_ALARM: sentence, LIMPET_ALARM_STATE: state };
  for (const [program, ...args] of found) {
    if (await run(program, [...args, sentence], env).catch(() => -1) === 0) return true;
  }
  return false;
}

function run(program, args, env) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { env, stdio: "ignore" });
    const timer = setTimeout(() => child.kill("SIGKILL"), WAY_MS).unref();
    for (const end of ["error", "exit"]) child.on(end, (how) => { clearTimeout(timer); resolve(how); });
    child.unref();
  });
}

function ways(home) {
  const { after_s = FALLBACK.after_s, ways: found = FALLBACK.ways } = read(join(home, "ways.json"));
  return { after_s, ways: found };
}

function read(file) {
  try { return JSON.parse(fs.readFileSync(file, "utf8")); } catch { return {}; }
}

async function keep(file, value) {
  await fs.promises.writeFile(`${file}.new`, JSON.stringify(value), { mode: 0o600 });
  await fs.promises.rename(`${file}.new`, file);
}
