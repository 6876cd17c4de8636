// Maps a hook's payload to the body of a record, {hook, ctx, event}: pure, bounded, never throws. Not for writing it.
import { types } from "node:util";

const TEXT = 1 << 20; // longest string, in UTF-16 units
const RECORD = 8 << 20; // most of one record, in UTF-16 units; each value costs 8 more
const DEPTH = 128; // deepest nesting: Python's JSON reader gives up at 992
const LEFT_OUT = new Set(["config", "abortSignal", "getCron", "messages", "historyMessages", "systemPrompt"]);
/** What lies below these is the agent's or the tool's own: a number there stays one, whatever it is called. */
const AS_SAID = new Set(["params", "result", "arguments", "details", "content", "job"]);
const ID = /(^id|Id|ID|_id)$/;
const mark = (what) => `⟦limpet: ${what}⟧`;

export function capture(hook, event, ctx) {
  const budget = { left: RECORD, above: [] };
  const bodyOf = (get) => {
    const value = plain(attempt(get), budget, true);
    return typeof value === "object" ? value : { value };
  };
  const history = bodyOf(() => ending(event)); // first, while there is room
  return { hook, ctx: bodyOf(() => ctx ?? {}), event: { ...bodyOf(() => event ?? {}), ...history } };
}

/** What a record says in place of a history: its length, and how its last message ended. */
function ending(event) {
  if (!Array.isArray(event?.messages)) return {};
  const { role, stopReason, errorMessage, usage, responseId } = event.messages.at(-1) ?? {};
  return { messageCount: event.messages.length, lastMessage: { role, stopReason, errorMessage, usage, responseId } };
}

function attempt(get) {
  try { return get(); } catch { return mark("unreadable"); } // a getter or a proxy threw; what it threw may throw too
}

function plain(value, budget, ours, key = "") {
  budget.left -= 8;
  if (typeof value === "string" || typeof value === "bigint") return text(String(value), budget);
  if (typeof value === "number") return Number.isFinite(value) && !(ours && ID.test(key)) ? value : String(value);
  if (typeof value === "boolean" || value === null) return value;
  if (typeof value !== "object") return undefined;
  if (budget.above.includes(value)) return mark("a cycle");
  if (budget.above.length >= DEPTH) return mark(`nested deeper than ${DEPTH} levels`);
  budget.above.push(value);
  try {
    return structure(value, budget, ours && !AS_SAID.has(key));
  } catch {
    return mark("unreadable");
  } finally {
    budget.above.pop();
  }
}

function text(value, budget) {
  const room = Math.max(0, Math.min(TEXT, budget.left));
  budget.left -= Math.min(value.length, room);
  if (value.length <= room) return value;
  return value.slice(0, room) + mark(`${value.length - room} of ${value.length} characters left out`);
}

function structure(value, budget, ours) {
  if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) return fields(value, budget, ours);
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return mark(`${value.byteLength} bytes left out`);
  if (types.isSet(value)) return plain([...value], budget, ours);
  if (types.isMap(value)) return plain(Object.fromEntries(value), budget, ours);
  return fields(value, budget, ours);
}

function fields(value, budget, ours) {
  if (typeof value.toJSON === "function") return plain(value.toJSON(), budget, ours);
  if (Array.isArray(value)) return copy(value, value.keys(), value.length, [], budget, ours);
  const keys = types.isNativeError(value) ? ["name", "message", ...Object.keys(value)] : Object.keys(value);
  const kept = budget.above.length > 1 ? keys : keys.filter((key) => !LEFT_OUT.has(key));
  const into = kept.includes("__proto__") ? Object.create(null) : {}; // without a prototype it is a key like any
  return copy(value, kept, kept.length, into, budget, ours);
}

function copy(from, keys, length, into, budget, ours) {
  let done = 0;
  for (const key of keys) {
    if (budget.left <= 0) return Object.assign(into, { [done]: mark(`${length - done} of ${length} left out`) });
    budget.left -= String(key).length;
    into[key] = field(from, key, budget, ours);
    done += 1;
  }
  return into;
}

function field(from, key, budget, ours) {
  try { return plain(from[key], budget, ours, key); } catch { return mark("unreadable"); }
}
