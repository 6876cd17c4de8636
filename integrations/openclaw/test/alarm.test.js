// Who is told, and how often, when no sidecar answers; with real sockets and real commands.
import assert from "node:assert/strict";
import fs from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";
import { guard } from "../alarm.js";
import { freshFolder, mode } from "./folders.js";

const told = (home) => (fs.existsSync(join(home, "told")) ? fs.readFileSync(join(home, "told"), "utf8").split("\n").slice(0, -1) : []);

/** A way to a person that writes down what it was given; `broken` ways come before it. */
function ways(home, ...broken) {
  const pen = ["bash", "-c", `echo "$LIMPET_ALARM_STATE $1" >> ${join(home, "told")}; [ "$1" = "$LIMPET_ALARM" ]`, "pen"];
  fs.writeFileSync(join(home, "ways.json"), JSON.stringify({ after_s: 0.5, ways: [...broken, pen] }));
}

/** A sidecar that answers, as far as the plugin can see. */
async function sidecar(t, home) {
  const server = net.createServer((caller) => caller.on("data", () => caller.end('{"ok":true}\n')));
  t.after(() => server.close());
  await new Promise((ready) => server.listen(join(home, "limpet.sock"), ready));
  return server;
}

async function until(holds, what) {
  for (let i = 0; i < 1_000 && !holds(); i += 1) await pause(10);
  assert.ok(holds(), what);
}

function guarded(t, home) {
  const stop = guard(home);
  t.after(stop);
  return stop;
}

test("a sidecar that does not answer is told once, on the first way that works, and so is its return", async (t) => {
  const home = freshFolder(t);
  ways(home, [join(home, "no-such-program")], ["false"]);
  guarded(t, home);
  await until(() => told(home).length > 0, "the alarm");
  await pause(1_500);
  assert.deepEqual(told(home), ["broken Limpet: the gateway runs and its plugin writes, but the sidecar does not answer. -> limpet doctor"]);
  await sidecar(t, home);
  await until(() => told(home).length > 1, "the all-clear");
  assert.deepEqual(told(home).slice(1), ["clear Limpet: all is well again. It was: the sidecar did not answer."]);
});

test("another start of the gateway does not tell it again", async (t) => {
  const home = freshFolder(t);
  ways(home);
  const stop = guarded(t, home);
  await until(() => fs.existsSync(join(home, "alarm-plugin.json")) && JSON.parse(fs.readFileSync(join(home, "alarm-plugin.json"))).told, "kept");
  stop();
  guarded(t, home);
  await pause(1_500);
  assert.equal(told(home).length, 1);
  assert.equal(mode(join(home, "alarm-plugin.json")), "600");
});

test("a sidecar that answers is no news", async (t) => {
  const home = freshFolder(t);
  ways(home);
  await sidecar(t, home);
  guarded(t, home);
  await pause(1_500);
  assert.deepEqual(told(home), []);
});

test("one that listens but says nothing is dead, too", async (t) => {
  const home = freshFolder(t);
  ways(home);
  const held = [], server = net.createServer((caller) => held.push(caller));
  t.after(() => { held.forEach((caller) => caller.destroy()); server.close(); });
  await new Promise((ready) => server.listen(join(home, "limpet.sock"), ready));
  guarded(t, home);
  await until(() => told(home).length === 1, "the alarm");
  assert.match(told(home)[0], /does not answer/);
});
