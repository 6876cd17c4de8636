// How supervise.js treats a real process.
import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";
import { supervise } from "../supervise.js";
import { freshFolder, mode } from "./folders.js";

const read = (file) => (fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "");

async function until(holds, what) {
  for (let i = 0; i < 1_000 && !holds(); i += 1) await pause(10);
  assert.ok(holds(), what);
}

test("a sidecar that ends badly is started again", async (t) => {
  const home = freshFolder(t);
  const stop = supervise(["bash", "-c", 'echo started >> "$LIMPET_HOME/starts"; echo trouble >&2; exit 3'], home, 10);
  await until(() => read(join(home, "starts")).split("\n").length > 3, "three starts");
  stop();
  assert.match(read(join(home, "sidecar.log")), /^(trouble\n)+$/);
  assert.equal(mode(join(home, "sidecar.log")), "600");
});

test("a sidecar that says one runs already is left alone for a minute", async (t) => {
  const home = freshFolder(t);
  const stop = supervise(["bash", "-c", 'echo started >> "$LIMPET_HOME/starts"'], home, 10);
  await until(() => read(join(home, "starts")) !== "", "a start");
  await pause(300);
  stop();
  assert.equal(read(join(home, "starts")), "started\n");
});

test("a sidecar that cannot be started harms nobody", async (t) => {
  const home = freshFolder(t);
  const stop = supervise([join(home, "no-such-program")], home, 10);
  await pause(100);
  stop();
  assert.equal(read(join(home, "sidecar.log")), "");
});

test("stopping closes the sidecar's input", async (t) => {
  const home = freshFolder(t);
  const stop = supervise(["bash", "-c", 'echo up > "$LIMPET_HOME/up"; cat; echo eof > "$LIMPET_HOME/end"'], home);
  await until(() => read(join(home, "up")) !== "", "up");
  stop();
  await until(() => read(join(home, "end")) === "eof\n", "eof seen");
  assert.equal(read(join(home, "end")), "eof\n");
});

test("a sidecar that does not mind its input is ended after 2 s", async (t) => {
  const home = freshFolder(t);
  const script = 'trap "echo term > $LIMPET_HOME/end; exit" TERM; echo up > "$LIMPET_HOME/up"; while :; do sleep 0.05; done';
  const stop = supervise(["bash", "-c", script], home);
  await until(() => read(join(home, "up")) !== "", "up");
  stop();
  await until(() => read(join(home, "end")) === "term\n", "term seen");
  assert.equal(read(join(home, "end")), "term\n");
});

test("a log past its bound begins anew", async (t) => {
  const home = freshFolder(t);
  fs.writeFileSync(join(home, "sidecar.log"), "x".repeat((1 << 20) + 1));
  const stop = supervise(["bash", "-c", "echo trouble >&2; cat"], home);
  await until(() => read(join(home, "sidecar.log")) === "trouble\n", "a new log");
  stop();
  assert.equal(read(join(home, "sidecar.log")), "trouble\n");
});
