// The memory tools: what they register, whom they ask for what, and that the agent always gets a sentence in time.
import assert from "node:assert/strict";
import fs from "node:fs";
import net from "node:net";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { test } from "node:test";
import { addressOf, ask, offerTools } from "../recall.js";
import { freshFolder } from "./folders.js";

const ROOT = join(import.meta.dirname, "..");
const OWNER = { agentId: "main", sessionKey: "agent:main:main", senderIsOwner: true };

/** The tools as a run gets them from the factory that was registered. */
function offered(home, ctx = OWNER) {
  let factory, options;
  offerTools({ rootDir: ROOT, registerTool: (made, opts) => { [factory, options] = [made, opts]; } }, home);
  return { tools: factory(ctx), options };
}

/** A sidecar that says what `answer` returns for a line, then closes; undefined: it never says anything. */
function sidecar(t, answer) {
  const home = freshFolder(t), asked = [], open = new Set();
  const server = net.createServer((caller) => {
    open.add(caller);
    caller.on("error", () => {}).setEncoding("utf8").on("data", (line) => {
      asked.push(line);
      const said = answer(line);
      if (said !== undefined) caller.end(said);
    });
  });
  t.after(() => { for (const caller of open) caller.destroy(); server.close(); });
  return new Promise((resolve) => server.listen(join(home, "limpet.sock"), () => resolve({ home, asked })));
}

const words = (result) => result.content.map(({ text }) => text).join();

test("the four tools of the data file are registered as direct ones, under names that the manifest claims", (t) => {
  const { tools, options } = offered(freshFolder(t));
  const data = JSON.parse(fs.readFileSync(join(ROOT, "tools.json"), "utf8"));
  const manifest = JSON.parse(fs.readFileSync(join(ROOT, "openclaw.plugin.json"), "utf8"));
  assert.deepEqual(tools.map(({ execute, catalogMode, ...rest }) => rest), data);
  assert.deepEqual(tools.map(({ catalogMode }) => catalogMode), data.map(() => "direct-only"));
  assert.deepEqual([options.names, manifest.contracts.tools, Object.keys(manifest.toolMetadata)], Array(3).fill(data.map(({ name }) => name)));
});

test("the sidecar's words are handed on, and it is told who asks for what", async (t) => {
  const { home, asked } = await sidecar(t, () => '{"text":"three events","code":""}\n');
  const result = await offered(home).tools[0].execute("id", { question: "errors" });
  assert.deepEqual(result, { content: [{ type: "text", text: "three events" }], details: { ok: true } });
  assert.deepEqual(asked.map((line) => JSON.parse(line)), [
    { op: "tool", name: "memory_ask", arguments: { question: "errors" }, agent: "main", session_key: "agent:main:main", whole: true },
  ]);
});

test("a refusal is handed on with its code", async (t) => {
  const { home } = await sidecar(t, () => '{"text":"not understood","code":"not_understood"}');
  const result = await offered(home).tools[0].execute("id", {});
  assert.deepEqual([words(result), result.details], ["not understood", { ok: false, error: "not_understood" }]);
});

const CRON = "agent:main:cron:job-1:run:1";
for (const [who, ctx, whole] of [
  ["the owner", OWNER, true],
  ["a stranger in a group", { ...OWNER, sessionKey: "agent:main:telegram:group:5", senderIsOwner: false, requesterSenderId: "7" }, false],
  ["a subagent", { ...OWNER, sessionKey: "agent:main:subagent:1", senderIsOwner: false }, false],
  ["nobody known", { agentId: "main", sessionKey: "agent:main:main" }, false],
  ["a cron job", { agentId: "main", sessionKey: CRON }, true],
  ["a stranger in what looks like a job", { agentId: "main", sessionKey: CRON, requesterSenderId: "7" }, false],
  ["a word for the owner", { ...OWNER, senderIsOwner: "true" }, false],
  ["a run without any context", null, false],
]) {
  test(`${who} may see ${whole ? "all of the agent's" : "no more than this conversation"}`, async (t) => {
    const { home, asked } = await sidecar(t, () => '{"text":"x"}');
    await offered(home, ctx).tools[1].execute("id", { agent: "other", whole: true });
    const { agent, session_key, whole: said } = JSON.parse(asked[0]);
    assert.deepEqual([agent, session_key, said], [ctx?.agentId, ctx?.sessionKey, whole]);
  });
}

for (const [what, answer, sentence] of [
  ["nothing at all", () => "", /no sensible answer/],
  ["no JSON", () => "\u0000\u0001<html>", /no sensible answer/],
  ["half an answer", () => '{"text":"thr', /no sensible answer/],
  ["something else", () => '{"ok":true}', /no sensible answer/],
  ["a text that is none", () => '{"text":{"a":1}}', /no sensible answer/],
  ["null", () => "null", /no sensible answer/],
  ["more than it may", () => `{"text":"${"x".repeat(1 << 20)}"}`, /more than it may/],
]) {
  test(`a sidecar that says ${what} is a sentence`, async (t) => {
    const { home } = await sidecar(t, answer);
    const result = await offered(home).tools[0].execute("id", {});
    assert.match(words(result), sentence);
    assert.match(words(result), /nothing is known about what happened/);
    assert.deepEqual(result.details, { ok: false, error: "unavailable" });
  });
}

test("a sidecar that hangs is given up after the limit", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { home, asked } = await sidecar(t, () => undefined);
  const pending = offered(home).tools[0].execute("id", {});
  while (!asked.length) await new Promise(setImmediate);
  t.mock.timers.tick(2_999);
  assert.equal(await Promise.race([pending, new Promise((resolve) => setImmediate(resolve, "waiting"))]), "waiting");
  t.mock.timers.tick(1);
  assert.match(words(await pending), /did not answer within 3 s/);
});

test("without a sidecar, with a dead socket, and with a file in its place there is a sentence", async (t) => {
  const empty = freshFolder(t), file = freshFolder(t);
  fs.writeFileSync(join(file, "limpet.sock"), "no socket");
  for (const home of [empty, file, join(empty, "x".repeat(200)), "\0"]) {
    assert.match(words(await offered(home).tools[0].execute("id", {})), /is not running: nothing is known/);
  }
});

test("arguments that cannot be said, or are too long, are a sentence", async (t) => {
  const { home } = await sidecar(t, () => '{"text":"x"}');
  const cyclic = {};
  cyclic.self = cyclic;
  for (const args of [cyclic, { n: 5n }, { question: "x".repeat(1 << 20) }]) {
    const result = await offered(home).tools[0].execute("id", args);
    assert.deepEqual(result.details, { ok: false, error: "unavailable" });
  }
});

test("a limit of one's own holds", async (t) => {
  const { home } = await sidecar(t, () => undefined);
  await assert.rejects(ask(home, {}, 20), /did not answer within 0.02 s/);
});

test("a host without tools, and a folder without their file, keep the plugin as it is", (t) => {
  const warned = [];
  const logger = { warn: (line) => warned.push(line) };
  assert.doesNotThrow(() => offerTools({}, "/"));
  assert.doesNotThrow(() => offerTools({ rootDir: freshFolder(t), logger }, "/"));
  assert.doesNotThrow(() => offerTools({ rootDir: ROOT, logger, registerTool() { throw new Error("no"); } }, "/"));
  assert.equal(warned.length, 2);
});

test("a path too long for a socket has the sidecar's short one, if the folder is ours", () => {
  const long = `/${"d".repeat(120)}/limpet.sock`, folder = `/tmp/limpet-${process.getuid()}`;
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  assert.equal(addressOf("/short/limpet.sock"), "/short/limpet.sock");
  assert.equal(addressOf(long), `${folder}/${createHash("sha256").update(long).digest("hex").slice(0, 16)}.sock`);
});
