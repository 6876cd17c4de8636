// What capture.js makes of payloads, ordinary and hostile.
import assert from "node:assert/strict";
import { test } from "node:test";
import { capture } from "../capture.js";

const event = (said, hook = "after_tool_call") => JSON.parse(JSON.stringify(capture(hook, said, {}))).event;

test("an ordinary payload is kept as it was said", () => {
  const said = { toolName: "exec", params: { command: "echo é 漢字" }, result: { content: [{ type: "text", text: "a\n" }] } };
  const ctx = { agentId: "main", requester: { senderIsOwner: true } };
  assert.deepEqual(
    JSON.parse(JSON.stringify(capture("after_tool_call", said, ctx))),
    { hook: "after_tool_call", ctx, event: said },
  );
});

test("live objects and system prompts are left out", () => {
  const ctx = { config: { secret: 1 }, abortSignal: new AbortController().signal, getCron() {}, port: 1 };
  assert.deepEqual({ ...capture("gateway_start", { systemPrompt: "be good", port: 1 }, ctx).ctx }, { port: 1 });
  assert.deepEqual(event({ systemPrompt: "be good", port: 1 }), { port: 1 });
});

test("a name that is left out at the top is kept below it", () => {
  assert.deepEqual(event({ params: { config: 1, messages: [2] } }), { params: { config: 1, messages: [2] } });
});

test("a history becomes its length and how it ended", () => {
  const last = { role: "assistant", content: "long", stopReason: "error", errorMessage: "500", usage: { input: 1 }, responseId: "r" };
  assert.deepEqual(event({ success: true, durationMs: 5, runId: "x", messages: [{ role: "user" }, last] }, "agent_end"), {
    success: true,
    durationMs: 5,
    runId: "x",
    messageCount: 2,
    lastMessage: { role: "assistant", stopReason: "error", errorMessage: "500", usage: { input: 1 }, responseId: "r" },
  });
});

test("a compaction's own count stays", () => {
  assert.deepEqual(event({ messageCount: 10, tokenCount: 63048 }, "before_compaction"), { messageCount: 10, tokenCount: 63048 });
});

test("ids become strings, and numbers that only look like ids in arguments do not", () => {
  const said = { messageId: 12, id: 9007199254740993n, metadata: { chat_id: 5 }, params: { chatId: 7, id: 8 }, count: 3 };
  assert.deepEqual(event(said), {
    messageId: "12",
    id: "9007199254740993",
    metadata: { chat_id: "5" },
    params: { chatId: 7, id: 8 },
    count: 3,
  });
});

test("numbers that JSON does not know are kept as words", () => {
  assert.deepEqual(event({ a: NaN, b: -Infinity, c: 10n ** 40n }), { a: "NaN", b: "-Infinity", c: `1${"0".repeat(40)}` });
});

test("a cycle is marked where it closes, and an object said twice is no cycle", () => {
  const said = { name: "a" };
  said.self = said;
  assert.deepEqual(event({ params: said, again: [said.name, {}] }).params, { name: "a", self: "⟦limpet: a cycle⟧" });
  const twice = { x: 1 };
  assert.deepEqual(event({ a: twice, b: twice }), { a: { x: 1 }, b: { x: 1 } });
});

test("a getter or proxy that throws is marked and the rest is kept", () => {
  const throwing = { toString() { throw throwing; } };
  const said = { get boom() { throw throwing; }, proxy: new Proxy({}, { ownKeys() { throw throwing; } }), after: 1 };
  assert.deepEqual(event(said), { boom: "⟦limpet: unreadable⟧", proxy: "⟦limpet: unreadable⟧", after: 1 });
});

test("a payload that cannot be read at all is still a record", () => {
  const hostile = new Proxy({}, { get() { throw 1; }, ownKeys() { throw 2; } });
  assert.equal(capture("x", hostile, hostile).event.value, "⟦limpet: unreadable⟧");
  assert.deepEqual(event(null), {});
  assert.deepEqual(event("text"), { value: "text" });
});

test("a string of 5 MB is cut at 1 MiB, with a mark saying how much is missing", () => {
  const { text } = event({ text: "x".repeat(5_000_000) });
  assert.equal(text.slice(1 << 20), "⟦limpet: 3951424 of 5000000 characters left out⟧");
});

test("a record of very many values is bounded and says so", () => {
  const line = JSON.stringify(capture("x", { rows: Array.from({ length: 3_000_000 }, () => 7) }, { runId: "r" }));
  assert.match(line, /of 3000000 left out⟧/);
  assert.ok(line.length < 4 << 20);
});

test("nesting is kept to 128 levels", () => {
  let deep = "bottom";
  for (let i = 0; i < 5_000; i += 1) deep = { deep };
  assert.match(JSON.stringify(event({ deep, secret: "beside" })), /nested deeper than 128 levels⟧.*"secret":"beside"/);
});

test("what JSON has no word for is named", () => {
  const said = { f() {}, s: Symbol("x"), none: undefined, map: new Map([["k", 1]]), set: new Set([1]), bytes: Buffer.alloc(9) };
  const error = Object.assign(new TypeError("bad"), { code: "E_BAD" });
  assert.deepEqual(event({ ...said, error, at: new Date(0) }), {
    map: { k: 1 },
    set: [1],
    bytes: "⟦limpet: 9 bytes left out⟧",
    error: { name: "TypeError", message: "bad", code: "E_BAD" },
    at: "1970-01-01T00:00:00.000Z",
  });
});

test("a key named __proto__ is a key like any other", () => {
  const line = JSON.stringify(capture("x", JSON.parse('{"params":{"__proto__":{"admin":true}}}'), {}));
  assert.match(line, /"params":\{"__proto__":\{"admin":true\}\}/);
});
