// The OpenClaw plugin: what a hook says goes through capture.js into spool.js; nothing else lies on an agent's way.
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { guard } from "./alarm.js";
import { offerBrief } from "./brief.js";
import { capture } from "./capture.js";
import { offerTools } from "./recall.js";
import { openSpool } from "./spool.js";

const BEAT_MS = 60_000, SESSIONS = 1_000;
const HOOKS = `gateway_start gateway_stop session_start session_end before_reset before_compaction after_compaction
  message_received message_sent before_message_write model_call_started model_call_ended before_tool_call
  after_tool_call agent_end subagent_spawned subagent_ended cron_changed`.split(/\s+/);
/** A call is seen before another plugin may block it, a message after the others have changed it. */
const PRIORITY = { before_tool_call: 1_000, before_message_write: -1_000 };

function limpetHome(config, env = process.env) {
  const home = config?.home || env.LIMPET_HOME?.trim() || join(env.OPENCLAW_STATE_DIR?.trim() || "~/.openclaw", "limpet");
  return resolve(home.replace(/^~(?=\/|$)/, homedir()));
}

/** The gateway evaluates this module twice and gives each of the two a part of the hooks: they share one spool. */
function sharedState({ version, pluginConfig }) {
  return (globalThis[Symbol.for(`limpet/${version}`)] ??= { spool: openSpool(limpetHome(pluginConfig)), seen: new Map() });
}

function record(shared, hook) {
  return (event, ctx) => {
    try {
      const body = capture(hook, event, ctx);
      see(shared, body);
      shared.spool.append(body);
    } catch (error) { shared.spool.drop(error); }
  };
}

/** Message writes come without session and run: add what that session's other hooks told last. */
function see(shared, { hook, ctx, event }, seen = shared.seen) {
  if (hook === "gateway_start") [ctx.reload, shared.started] = [shared.started === true, true]; // a reload fires it again
  const key = ctx.sessionKey ?? event.sessionKey, last = seen.get(key) ?? {};
  const { sessionId = event.sessionId, runId = event.runId } = ctx;
  if (hook === "before_message_write") {
    if (!sessionId) ctx.sessionIdSeen = last.sessionId;
    if (!runId && event.message?.role !== "user") ctx.runIdSeen = last.runId; // a user's message begins another run
  } else if (key && (sessionId || runId)) {
    seen.delete(key); // so that the session seen longest ago comes first
    seen.set(key, { ...last, ...(sessionId && { sessionId }), runId: hook === "agent_end" ? undefined : runId ?? last.runId });
    if (seen.size > SESSIONS) seen.delete(seen.keys().next().value);
  }
}

/** Limpet's own records: its start, its stop and a beat between, so that silence can be told from absence. */
function service({ version, runtime, pluginConfig }, { spool }) {
  let timer, stopGuard;
  const versions = { plugin: version, openclaw: runtime?.version, node: process.version };
  const say = (hook) => spool.append({ hook, ctx: {}, event: { pid: process.pid, ...versions, ...spool.counts() } });
  return {
    id: "limpet",
    start() {
      say("limpet_start");
      timer = setInterval(say, BEAT_MS, "limpet_beat").unref();
      stopGuard = guard(limpetHome(pluginConfig), pluginConfig?.command);
    },
    stop() {
      clearInterval(timer), stopGuard?.();
      say("limpet_stop");
      spool.close();
    },
  };
}

export default {
  id: "limpet",
  register(api) {
    const shared = sharedState(api);
    for (const hook of HOOKS) api.on(hook, record(shared, hook), { priority: PRIORITY[hook] });
    api.registerService(service(api, shared));
    for (const offer of [offerTools, offerBrief]) offer(api, limpetHome(api.pluginConfig), shared);
  },
};
