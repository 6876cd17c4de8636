// Keeps one sidecar process running for as long as the gateway lives. Not for talking to it.
import fs from "node:fs";
import { spawn } from "node:child_process";
import { join } from "node:path";
const MINUTE_MS = 60_000, LOG_BYTES = 1 << 20;
const ignore = () => {};

/** Starts the command, and again whenever it ended; returns what stops it. Never throws, never waits. */
export function supervise([program, ...args], home, firstDelayMs = 1_000) {
  let child = null, timer = null, stopped = false, delayMs = firstDelayMs;
  function start() {
    const startedAt = Date.now(), log = openLog(join(home, "sidecar.log"));
    try {
      child = spawn(program, args, { stdio: ["pipe", "ignore", log], env: { ...process.env, LIMPET_HOME: home } });
      child.on("exit", (code) => ended(code, startedAt)).on("error", () => child?.pid ?? ended(1, startedAt)).unref();
      child.stdin?.on("error", ignore).unref();
    } catch { ended(1, startedAt); } // the system has no room for another process now
    if (log !== "ignore") fs.close(log, ignore);
  }
  function ended(code, startedAt) {
    child = null;
    if (Date.now() - startedAt >= MINUTE_MS) delayMs = firstDelayMs;
    if (!stopped) timer = setTimeout(start, code === 0 ? MINUTE_MS : delayMs).unref(); // 0: one runs already, elsewhere
    if (code !== 0) delayMs = Math.min(2 * delayMs, MINUTE_MS);
  }
  start();
  return () => {
    stopped = true;
    clearTimeout(timer);
    child?.stdin?.end();
    setTimeout(() => child?.kill("SIGTERM"), 2_000).unref();
  };
}

/** Opens the log for appending; one that has grown past its bound begins anew. */
function openLog(file) {
  try {
    const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    return fs.openSync(file, size > LOG_BYTES ? "w" : "a", 0o600);
  } catch { return "ignore"; } // a sidecar without a log is better than none
}
