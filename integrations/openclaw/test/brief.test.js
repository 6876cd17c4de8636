// What an agent is handed at the start of a window, what it is handed later, and what it is not handed at all.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { audienceOf, offerBrief } from "../brief.js";
import { freshFolder } from "./folders.js";

const KEY = "agent:main:main";
const OWN = "Limpet's memory of this agent.\nOpen ends: none.", QUOTED = "quotations";
const ANSWERED = [{ role: "user" }, { role: "assistant" }];
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** A plugin with one brief for the owner and one for whoever is not known; `turn` is one turn of the agent. */
function plugin(t, { home = freshFolder(t), own = OWN } = {}) {
  let handler;
  const told = [];
  offerBrief({ on: (hook, given) => { assert.equal(hook, "before_prompt_build"); handler = given; } }, home, { spool: { append: (body) => told.push(body) } });
  fs.mkdirSync(join(home, "brief", "windows"), { recursive: true });
  const file = join(home, "brief", "main.json");
  const write = (text, agent = "main") => fs.writeFileSync(file, JSON.stringify({
    v: 1, agent, at: 7, of: { owner: { own: text, quoted: QUOTED, told: ["4096"] } }, other: { own: "nothing known", quoted: "", told: [] },
  }));
  write(own);
  const turn = (runId, messages = [], more = {}) => handler({ messages }, { agentId: "main", sessionKey: KEY, sessionId: "s", runId, ...more });
  return { home, file, write, told, turn };
}

test("the first turn gets both parts, every later one the same bytes of the first part alone", (t) => {
  const { turn, write } = plugin(t);
  assert.deepEqual(turn("r1"), { appendSystemContext: OWN, prependContext: QUOTED });
  write("news");
  assert.deepEqual(turn("r2", ANSWERED), { appendSystemContext: OWN });
  assert.deepEqual(turn("r3", ANSWERED), { appendSystemContext: OWN });
});

test("a turn that is tried again is still the first one", (t) => {
  const { turn, write } = plugin(t);
  turn("r1");
  write("news");
  assert.deepEqual(turn("r1", [{ role: "user" }]), { appendSystemContext: OWN, prependContext: QUOTED });
  assert.deepEqual(turn("r1", ANSWERED), { appendSystemContext: OWN, prependContext: QUOTED });
});

test("a new window gets a new brief: without a history, or after a compaction", (t) => {
  const { turn, write } = plugin(t);
  turn("r1");
  write("after new");
  assert.deepEqual(turn("r2"), { appendSystemContext: "after new", prependContext: QUOTED });
  write("after compaction");
  const compacted = [{ role: "compactionSummary", timestamp: 5 }, ...ANSWERED];
  assert.deepEqual(turn("r3", compacted), { appendSystemContext: "after compaction", prependContext: QUOTED });
  write("later");
  assert.deepEqual(turn("r4", compacted), { appendSystemContext: "after compaction" });
});

test("a gateway that starts anew in the middle of a window hands over the same bytes", (t) => {
  const { turn, home } = plugin(t);
  turn("r1");
  assert.deepEqual(plugin(t, { home, own: "news" }).turn("r2", ANSWERED), { appendSystemContext: OWN });
});

test("each session has its own window", (t) => {
  const { turn, write } = plugin(t);
  turn("r1");
  write("for the second");
  assert.equal(turn("r2", [], { sessionKey: "agent:main:second" }).appendSystemContext, "for the second");
  assert.equal(turn("r3", ANSWERED).appendSystemContext, OWN);
});

test("what was handed over is recorded once a window, with its own words, its hash and the events it quotes", (t) => {
  const { turn, told } = plugin(t);
  turn("r1");
  turn("r2", ANSWERED);
  assert.deepEqual(told, [{
    hook: "limpet_brief",
    ctx: { agentId: "main", sessionKey: KEY, sessionId: "s", runId: "r1" },
    event: { own: OWN, bytes: (OWN + QUOTED).length, sha256: sha256(OWN + QUOTED), run: "r1", summary: null, told: ["4096"], at: 7 },
  }]);
});

test("somebody of whom nothing is known gets nothing of anybody else", (t) => {
  const { turn } = plugin(t);
  for (const rest of ["telegram:direct:2", "constructor:x", "__proto__:x", "toString:"]) {
    assert.deepEqual(turn("r1", [], { sessionKey: `agent:main:${rest}` }), { appendSystemContext: "nothing known" });
  }
});

test("a file of another agent is not believed", (t) => {
  const { turn, write } = plugin(t);
  write("of another one", "other");
  assert.match(turn("r1").appendSystemContext, /^Limpet, the memory of this agent, has no brief here/);
});

test("whose a session is follows from its key, by the same rule as in the sidecar", () => {
  const table = JSON.parse(fs.readFileSync(new URL("../../../tests/data/audiences.json", import.meta.url)));
  const found = Object.keys(table).map((key) => [key, audienceOf(key.replace(/^agent:[^:]*:/, ""))]);
  assert.deepEqual(Object.fromEntries(found), table);
});

test("sessions that a program begins get none", (t) => {
  const { turn, told } = plugin(t);
  for (const rest of ["subagent:1", "main:subagent:1", "cron:job:run:1", "hook:mail", "acp:1", "boot:1", "explicit:model-run-1"]) {
    assert.equal(turn("r1", [], { sessionKey: `agent:main:${rest}` }), undefined);
  }
  assert.deepEqual(told, []);
});

test("an agent whose id is no name of a file has a file all the same, and never another one's", (t) => {
  const { turn, home } = plugin(t);
  const agentId = "../main", name = `~${sha256(agentId).slice(0, 32)}.json`;
  const brief = { v: 1, agent: agentId, at: 1, of: { owner: { own: "its own", quoted: "", told: [] } }, other: {} };
  fs.writeFileSync(join(home, "brief", name), JSON.stringify(brief));
  assert.deepEqual(turn("r1", [], { agentId }), { appendSystemContext: "its own" });
});

test("a brief that nobody has confirmed for a minute says so first, and what to do", (t) => {
  const { turn, file } = plugin(t);
  fs.utimesSync(file, new Date(), new Date(Date.now() - 65_000));
  assert.match(turn("r1").appendSystemContext, /^Limpet's sidecar does not seem to run: .* limpet doctor\nLimpet's memory of this agent\./);
});

const IN_ITS_PLACE = {
  "nothing": () => {},
  "a folder": (path) => fs.mkdirSync(path),
  "a FIFO that nobody writes to": (path) => execFileSync("mkfifo", [path]),
  "a link": (path) => { fs.writeFileSync(`${path}.far`, "{}"); fs.symlinkSync(`${path}.far`, path); },
  "an empty file": (path) => fs.writeFileSync(path, ""),
  "a file that is no JSON": (path) => fs.writeFileSync(path, "\u0000{{{"),
  "a file of another version": (path) => fs.writeFileSync(path, JSON.stringify({ v: 2, agent: "main" })),
  "JSON that is no brief": (path) => fs.writeFileSync(path, "[1]"),
  "a brief without words": (path) => fs.writeFileSync(path, JSON.stringify({ v: 1, agent: "main", of: { owner: {} }, other: null })),
  "a file that is larger than a brief may be": (path) => fs.writeFileSync(path, JSON.stringify({ v: 1, agent: "main", of: {}, other: { own: "x".repeat(1 << 18) } })),
};
for (const [what, put] of Object.entries(IN_ITS_PLACE)) {
  test(`with ${what} in its place the turn goes on, and is told that there is no brief`, (t) => {
    const { turn, file } = plugin(t);
    fs.rmSync(file);
    put(file);
    assert.match(turn("r1").appendSystemContext, /^Limpet, the memory of this agent, has no brief here: .*limpet doctor/);
  });
}

test("where nothing can be kept every turn gets a brief all the same", (t) => {
  const { turn, home } = plugin(t);
  fs.rmSync(join(home, "brief", "windows"), { recursive: true });
  fs.writeFileSync(join(home, "brief", "windows"), "in the way");
  assert.equal(turn("r1").appendSystemContext, OWN);
  assert.equal(turn("r2", ANSWERED).appendSystemContext, OWN);
});

test("hostile events and contexts do not reach the host", (t) => {
  const { turn } = plugin(t);
  const hostile = new Proxy({}, { get() { throw 1; } });
  assert.equal(turn("r1", hostile), undefined);
  assert.equal(turn("r1", [null, 5, hostile]), undefined);
  assert.equal(turn("r1", [], { sessionKey: undefined }), undefined);
  assert.equal(turn("r1", [], { sessionKey: 5 }), undefined);
});
