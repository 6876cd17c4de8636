// Hands an agent its brief at the start of a window, and the same bytes on every turn of it. Not for what stands in it.
import fs from "node:fs";
import { createHash } from "node:crypto";

const LONGEST = 1 << 18, STALE_MS = 60_000; // bytes of a file; the sidecar confirms its files twice as often
const READ = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK | fs.constants.O_NOFOLLOW; // so that no FIFO holds a turn
const SILENT = /^(subagent|acp|cron|hook|boot|internal-session-effects|explicit:model-run-|limpet-|sidecar-summary)|:subagent:/; // a task is all they need
const OWNERS = /^([^:]*$|(dashboard|explicit|heartbeat|tui|main):)/;
const NONE = "Limpet, the memory of this agent, has no brief here: its sidecar may not be running (limpet doctor says why).";
const OLD = "Limpet's sidecar does not seem to run: this is old. Tell your human to run: limpet doctor";
const sha256 = (text) => createHash("sha256").update(text).digest("hex");
/** Whose a session is; the sidecar has the same rule (belonging.py). */
export const audienceOf = (rest, place = rest.replace(/:(thread|topic):.*$/s, "")) => (OWNERS.test(place) ? "owner" : place);
const attempt = (get) => { try { return get(); } catch { return undefined; } };

/** Registers the one hook that may add to a prompt. A fault in here leaves the agent without a brief, and nothing else. */
export const offerBrief = (api, home, { spool }) =>
  api.on("before_prompt_build", (event, ctx) => attempt(() => handOver(`${home}/brief`, spool, event, ctx)));

function handOver(folder, spool, { messages = [] }, { agentId, sessionKey, sessionId, runId }) {
  const rest = sessionKey.replace(/^agent:[^:]*:/, ""), file = `${folder}/windows/${sha256(sessionKey)}.json`;
  if (SILENT.test(rest)) return undefined;
  const begins = !messages.some((message) => message?.role === "assistant");
  const summary = messages.findLast((message) => message?.role === "compactionSummary")?.timestamp ?? null;
  let kept = read(file)?.value;
  if (typeof kept?.own !== "string" || kept.summary !== summary || (begins && !(runId && kept.run === runId))) {
    kept = { run: runId, summary, ...briefOf(folder, agentId, audienceOf(rest)) };
    const { own, quoted, ...about } = kept, bytes = Buffer.byteLength(own + quoted);
    save(file, kept);
    spool.append({ hook: "limpet_brief", ctx: { agentId, sessionKey, sessionId, runId }, event: { own, bytes, sha256: sha256(own + quoted), ...about } });
  } else if (kept.run !== runId && kept.quoted) save(file, (kept = { ...kept, quoted: "" })); // that was for the first turn
  return { appendSystemContext: kept.own, ...(kept.quoted && { prependContext: kept.quoted }) };
}

function briefOf(folder, agent, audience) {
  const name = /^[a-z0-9][a-z0-9_-]{0,63}$/.test(agent) ? agent : `~${sha256(agent).slice(0, 32)}`;
  const { value, mtimeMs } = read(`${folder}/${name}.json`) ?? {};
  const mine = value?.v === 1 && value.agent === agent && value.of && (Object.hasOwn(value.of, audience) ? value.of[audience] : value.other);
  if (typeof mine?.own !== "string") return { own: NONE, quoted: "" };
  const old = Math.abs(Date.now() - mtimeMs) > STALE_MS ? `${OLD}\n` : "";
  return { own: old + mine.own, quoted: `${mine.quoted}`, told: mine.told, at: value.at };
}

/** Reads one small regular file of JSON; nothing for anything else. */
function read(path) {
  const fd = attempt(() => fs.openSync(path, READ)), about = attempt(() => fs.fstatSync(fd));
  const value = about?.isFile() && about.size <= LONGEST && attempt(() => JSON.parse(fs.readFileSync(fd, "utf8")));
  if (fd !== undefined) fs.closeSync(fd);
  return value && { value, mtimeMs: about.mtimeMs };
}

/** Keeps what was handed over, also for a gateway that starts anew; where that fails, the next turn gets a new brief. */
const save = (file, kept) => attempt(() => {
  fs.writeFileSync(`${file}.new`, JSON.stringify(kept), { mode: 0o600 });
  fs.renameSync(`${file}.new`, file);
});
