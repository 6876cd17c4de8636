// What the plugin registers, and that its handlers never reach the host. The host here is the smallest that can call it.
import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import plugin from "../index.js";
import { freshFolder, records } from "./folders.js";

let versions = 0;

/** A host with one plugin registered in both modes, as the gateway does it; each has its own version, so its own spool. */
function host(t, pluginConfig = {}) {
  const home = freshFolder(t);
  const handlers = new Map(), options = new Map(), services = [];
  const api = {
    version: `test-${(versions += 1)}`,
    pluginConfig: { home, ...pluginConfig },
    on: (hook, handler, opts) => { handlers.set(hook, [...(handlers.get(hook) ?? []), handler]); options.set(hook, opts); },
    registerService: (service) => services.push(service),
  };
  plugin.register({ ...api, registrationMode: "full" });
  plugin.register({ ...api, registrationMode: "discovery" });
  return { home, handlers, options, services, fire: (hook, event, ctx) => handlers.get(hook)[0](event, ctx) };
}

test("every hook is registered in every mode, and none writes by itself", (t) => {
  const { home, handlers } = host(t);
  assert.equal(handlers.size, 19);
  assert.ok([...handlers.values()].every((both) => both.length === 2));
  assert.deepEqual(fs.readdirSync(home), []);
});

test("both instances write one numbered spool", (t) => {
  const { home, handlers } = host(t);
  for (const handler of handlers.get("session_start")) handler({ sessionId: "s" }, {});
  assert.deepEqual(records(home).map(({ seq, hook }) => [seq, hook]), [[1, "session_start"], [2, "session_start"]]);
});

test("a handler returns nothing, and hostile payloads do not reach the host", (t) => {
  const { home, fire } = host(t);
  const hostile = new Proxy({}, { get() { throw 1; }, ownKeys() { throw 2; } });
  const cyclic = {};
  cyclic.self = cyclic;
  const payloads = [hostile, cyclic, null, undefined, 5n, "x".repeat(5_000_000), { params: { n: 5n } }];
  assert.deepEqual(payloads.map((payload) => fire("before_tool_call", payload, hostile)), payloads.map(() => undefined));
  assert.equal(records(home).length, payloads.length);
});

test("a call is seen before other plugins may block it, a message after they changed it", (t) => {
  const { options } = host(t);
  assert.deepEqual([options.get("before_tool_call"), options.get("before_message_write")], [{ priority: 1_000 }, { priority: -1_000 }]);
});

test("a message gets the session and run that other hooks of its session told last", (t) => {
  const { home, fire } = host(t);
  fire("model_call_started", { runId: "r1", sessionId: "s1", sessionKey: "k" }, {});
  fire("before_message_write", { message: { role: "assistant" } }, { sessionKey: "k" });
  fire("before_message_write", { message: { role: "user" } }, { sessionKey: "k" });
  fire("agent_end", { runId: "r1" }, { sessionKey: "k", sessionId: "s1" });
  fire("before_message_write", { message: { role: "assistant" } }, { sessionKey: "k" });
  fire("before_message_write", { message: { role: "assistant" } }, { sessionKey: "other" });
  assert.deepEqual(records(home).filter(({ hook }) => hook === "before_message_write").map(({ ctx }) => ctx), [
    { sessionKey: "k", sessionIdSeen: "s1", runIdSeen: "r1" },
    { sessionKey: "k", sessionIdSeen: "s1" },
    { sessionKey: "k", sessionIdSeen: "s1" },
    { sessionKey: "other" },
  ]);
});

test("what the host says about a message is never overwritten", (t) => {
  const { home, fire } = host(t);
  fire("model_call_started", { runId: "r1", sessionId: "s1", sessionKey: "k" }, {});
  fire("before_message_write", { message: { role: "assistant" } }, { sessionKey: "k", sessionId: "s2", runId: "r2" });
  assert.deepEqual(records(home)[1].ctx, { sessionKey: "k", sessionId: "s2", runId: "r2" });
});

test("the service tells of its start and stop and how much was written and dropped", (t) => {
  const { home, services } = host(t);
  services[0].start();
  services[0].stop();
  const [start, stop] = records(home);
  assert.deepEqual([start.hook, start.event.pid, start.event.written, start.event.dropped], ["limpet_start", process.pid, 0, 0]);
  assert.deepEqual([stop.hook, stop.event.written], ["limpet_stop", 1]);
});

test("the service beats once a minute", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { home, services } = host(t);
  services[0].start();
  t.mock.timers.tick(120_000);
  services[0].stop();
  assert.deepEqual(records(home).map(({ hook }) => hook), ["limpet_start", "limpet_beat", "limpet_beat", "limpet_stop"]);
});

test("a stop without a start and a second start do no harm", (t) => {
  const { home, services } = host(t);
  services[0].stop();
  services[0].start();
  services[0].stop();
  assert.deepEqual(records(home).map(({ seq }) => seq), [1, 2, 3]);
});

test("Limpet's folder is the configured one, else LIMPET_HOME, else OpenClaw's state folder", (t) => {
  const folders = [freshFolder(t), freshFolder(t), freshFolder(t)];
  const before = { ...process.env };
  t.after(() => Object.assign(process.env, { LIMPET_HOME: before.LIMPET_HOME ?? "", OPENCLAW_STATE_DIR: before.OPENCLAW_STATE_DIR ?? "" }));
  Object.assign(process.env, { LIMPET_HOME: folders[1], OPENCLAW_STATE_DIR: folders[2] });
  host(t, { home: folders[0] }).fire("session_start", {}, {});
  host(t, { home: undefined }).fire("session_start", {}, {});
  process.env.LIMPET_HOME = "";
  host(t, { home: undefined }).fire("session_start", {}, {});
  assert.deepEqual([folders[0], folders[1], join(folders[2], "limpet")].map((folder) => records(folder).length), [1, 1, 1]);
});
