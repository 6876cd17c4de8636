// Offers the memory tools of tools.json: each asks the sidecar through its socket and hands its words on. Knows nothing itself.
import fs from "node:fs";
import net from "node:net";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";

const LIMIT_MS = 3_000;
const LONGEST = 1 << 18; // of an answer, in bytes
const LONGEST_PATH = 100; // as door.py has it: a longer one cannot be a socket's
const CRON = /^agent:[^:]+:cron:/;
const NO_SIDECAR = "Limpet's sidecar is not running";
const ADVICE = "nothing is known about what happened, and nothing is lost. Try again later, or tell your human: limpet status";

/** Registers the tools. A fault in here leaves the agent without them, and recording as it is. */
export function offerTools(api, home) {
  try {
    const tools = JSON.parse(fs.readFileSync(join(api.rootDir, "tools.json"), "utf8"));
    const made = (ctx) => tools.map((tool) => ({ ...tool, catalogMode: "direct-only", execute: executing(tool.name, home, ctx) }));
    api.registerTool(made, { names: tools.map(({ name }) => name) });
  } catch (error) { api.logger?.warn?.(`limpet: no memory tools (${error?.message})`); }
}

/** Who asks is what the gateway says, never what the model says: its owner sees all of this agent's, others this conversation. */
const executing = (name, home, ctx) => async (_id, args) => {
  const { agentId: agent, sessionKey: session_key, senderIsOwner, requesterSenderId } = ctx ?? {};
  const whole = senderIsOwner === true || (requesterSenderId === undefined && CRON.test(session_key)); // a job is its owner's
  const request = { op: "tool", name, arguments: args, agent, session_key, whole };
  const { text, code } = await ask(home, request).catch((error) => unanswered(error));
  return { content: [{ type: "text", text }], details: code ? { ok: false, error: code } : { ok: true } };
};

const unanswered = (error) => ({ text: `${error.message}: ${ADVICE}`, code: "unavailable" });

/** Asks the sidecar one thing; rejects with a sentence when it does not answer within the limit, or answers nonsense. */
export function ask(home, request, limitMs = LIMIT_MS) {
  return new Promise((resolve, reject) => {
    const line = `${JSON.stringify(request)}\n`;
    const fail = (sentence) => { clearTimeout(timer); caller?.destroy(); reject(new Error(sentence)); };
    const timer = setTimeout(fail, limitMs, `Limpet's sidecar did not answer within ${limitMs / 1000} s`);
    let caller, said = "";
    if (line.length > LONGEST) return fail("The question is too long");
    try { caller = net.connect(addressOf(join(home, "limpet.sock"))); } catch { return fail(NO_SIDECAR); }
    caller.setEncoding("utf8").on("error", () => fail(NO_SIDECAR)).on("connect", () => caller.write(line));
    caller.on("data", (piece) => (said += piece).length > LONGEST && fail("Limpet's sidecar said more than it may"));
    caller.on("close", () => { clearTimeout(timer); heard(said, resolve, () => fail("Limpet's sidecar gave no sensible answer")); });
  });
}

function heard(said, resolve, fail) {
  try {
    const { text, code } = JSON.parse(said);
    return typeof text === "string" && text ? resolve({ text, code }) : fail();
  } catch { return fail(); }
}

/** Where the socket really lies: a path too long for one has a short one, in a folder that must be ours alone. */
export function addressOf(path) {
  if (Buffer.byteLength(path) <= LONGEST_PATH) return path;
  const uid = process.getuid(), short = createHash("sha256").update(path).digest("hex").slice(0, 16);
  const address = `/tmp/limpet-${uid}/${short}.sock`;
  if (fs.lstatSync(dirname(address)).uid !== uid) throw new Error("not ours");
  return address;
}
