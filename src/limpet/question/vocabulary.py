"""The words that questions are made of and what each means in filter form: tables only, no rules.

A phrase is one to five lower-case words; of two phrases that fit, the longer one holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def bars(table: str) -> tuple[str, ...]:
    """Return the phrases of a table written in one text, with bars between."""
    return tuple(table.split("|"))


FILTERS = ("type", "is", "status", "tool", "agent", "session", "run", "call", "actor", "trust", "source", "label")
"""The filters that hold values, in the order in which they are printed."""

WINDOWS = ("on", "since", "until")
CHOICES: Mapping[str, tuple[str, ...]] = {
    "by": ("day", "hour", "week", "month", "tool", "agent", "session", "status", "type", "run", "trust", "source",
           "label", "actor"),
    "count": ("session", "agent", "tool", "run"),
    "sort": ("newest", "oldest", "slowest", "fastest"),
    "noise": ("yes", "no"),
}  # fmt: skip
"""The settings that hold one word."""

NUMBERS: Mapping[str, tuple[int, int]] = {"take": (1, 100_000), "limit": (0, 100_000), "offset": (0, 1_000_000_000)}
"""The settings that hold a number, with the smallest and the largest."""

FILTER_NAMES = (*FILTERS, *WINDOWS, *CHOICES, *NUMBERS)

MEANINGS: Mapping[str, str] = {
    "type:tool_call": "call|calls|tool call|tool calls|tool-call|tool-calls|tool_call|tool_calls|toolcall|toolcalls|"
    "tool use|tool uses|tool execution|tool executions|tool invocation|tool invocations|invocation|invocations",
    "type:message": "message|messages|chat message|chat messages",
    "type:message actor:user": "prompt|prompts|user message|user messages|my message|my messages|i said|did i say|"
    "i asked|did i ask|i asked you|did i ask you|i told you|did i tell you|i sent you|did i send you|"
    "i wrote|did i write|i sent|did i send|the user said|did the user say|the user asked|"
    "did the user ask|the user wrote|did the user write|the user sent|did the user send|user's message|user's messages",
    "type:message actor:agent": "reply|replies|answer|answers|response|responses|agent message|agent messages|"
    "assistant message|assistant messages|the agent said|did the agent say|the agent answered|did the agent answer|"
    "the agent wrote|did the agent write|did the agent reply|you said|did you say|did you answer|did you tell me|"
    "did the agent tell me|the agent sent|did the agent send|you sent|did you send|i got|did i get|i received|"
    "did i receive",
    "type:model_call": "model call|model calls|llm call|llm calls|model request|model requests",
    "type:run": "run|runs|agent run|agent runs",
    "type:session": "session event|session events",
    "type:reset": "reset|resets|session reset|session resets",
    "type:compaction": "compaction|compactions",
    "type:subagent": "subagent|subagents|sub-agent|sub-agents|subagent run|subagent runs",
    "type:cron": "cron|cron job|cron jobs|cron run|cron runs|cronjob|cronjobs|scheduled job|scheduled jobs",
    "type:gateway": "gateway|gateway event|gateway events",
    "type:gateway status:started": "gateway start|gateway starts|restart|restarts|restarted|gateway restart|"
    "gateway restarts",
    "type:delivery": "delivery|deliveries",
    "type:note": "note|notes",
    "type:gap": "gap|gaps",
    "is:error": "error|errors|problem|problems|error event|error events|error message|error messages|went wrong|"
    "go wrong|goes wrong|going wrong|gone wrong|broke|break|broken|anything wrong|something wrong",
    "type:tool_call is:error": "tool error|tool errors|tool call error|tool call errors",
    "status:failed,timed_out": "fail|fails|failed|failing|failure|failures|unsuccessful",
    "type:tool_call status:failed,timed_out": "tool failure|tool failures|tool call failure|tool call failures",
    "status:succeeded": "successful|successfully|succeeded|succeed|success|successes",
    "status:blocked": "blocked",
    "status:cancelled": "cancelled|canceled",
    "status:timed_out": "timed out|timed-out|timed_out|timeout|timeouts|time out|time outs",
    "status:interrupted": "interrupted",
    "status:started": "unfinished|open|running|pending|ongoing|in progress|still running|still open|running now|"
    "running right now|open now|never finished|"
    "not finished|did not finish|didn't finish|haven't finished|without result|without a result|with no result",
    "status:started actor:agent": "is the agent doing|are you doing",
    "actor:user": "the user|the owner|the human|to the agent|to you|to the assistant",
    "actor:agent": "the agent|the assistant|you|to me|to the user",
    "type:tool_call actor:agent": "did the agent run|did you run|the agent ran|you ran",
    "trust:web": "from the web",
    "label:heartbeat": "heartbeat|heartbeats",
    "noise:yes": "including noise|with noise",
    "noise:no": "without noise|excluding noise",
    "sort:oldest": "oldest first|earliest first|in order|in chronological order|chronologically",
    "sort:newest": "newest first|latest first|most recent first|recent|recently|most recently",
    "sort:slowest": "slowest first|longest first",
    "sort:fastest": "fastest first|shortest first",
    "by:day": "daily|every day",
    "by:hour": "hourly|every hour",
    "by:week": "weekly|every week",
    "by:month": "monthly|every month",
}
"""What a phrase stands for, in filter form."""

EVERYTHING = (
    "everything|anything|something|thing|things|event|events|activity|activities|happened|happen|happening|happens|"
    "occurred|occur|took place|went on|going on"
)
"""Phrases that ask for whatever happened, of any type."""

FILLER = (
    "a|an|the|all|all of|all of the|any|any of|any of the|every|some|what|which|that|there|"
    "was|were|is|are|be|been|being|"
    "did|do|does|has|have|had|recorded|logged|so far|ever|in total|overall|altogether|of all time|all time|to date"
)
"""Phrases that change nothing about what is asked, wherever they stand. What may change it is in the tables below."""

OPENING = (
    "show|show me|list|list of|a list of|the list of|give|give me|tell|tell me|tell me about|display|print|get|get me|"
    "find|find me|see|view|let me see|let us see|i want to see|i would like to see|i'd like to see|do i have|can you|"
    "could you|would you|details|details of|the details of|hi|hello|hey|when|only|just|please|thanks|thank you|for me"
)
"""Phrases that mean nothing before all that is asked for; "did the agent find ..." is another matter."""

CLOSING = "please|thanks|thank you|for me|only"
"""Phrases that mean nothing at the very end."""

DONE = ("tool_call", "run", "cron", "subagent")
IMPLYING: Mapping[str, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys(("sent", "send"), (("message", "delivery"), "type:delivery,message")),
    **dict.fromkeys(("used", "use", "uses", "called"), (("tool_call",), "type:tool_call")),
    **dict.fromkeys(("ran", "executed", "were run", "was run", "been run"), (DONE, f"type:{','.join(sorted(DONE))}")),
    "started": ((*DONE, "model_call"), ""),
    **dict.fromkeys(("made", "make"), ((), "")),
    "active": ((), ""),
}
"""Words that go with events of some types (`()`: of any), and what they ask for where no type is named ("": nothing).

"Messages sent" are messages; "what was sent" asks for messages and deliveries; "what was made" is not understood.
"""

DEEDS = frozenset({"do", "done", "doing"})
"""Words after which "the agent" asks for its deeds: all that happened but what the user said, and starts and stops."""

COUNTING = "how many|how many times|how often|number of|the number of|count|count of|total|total number of|amount of"
"""Phrases after which `sessions`, `tools`, `agents` mean how many different ones."""

SINGULAR = frozenset(
    bars(
        "call|tool call|toolcall|tool_call|tool-call|message|user message|agent message|prompt|reply|answer|response|"
        "model call|llm call|run|agent run|reset|compaction|subagent|cron job|cron run|delivery|note|gap|error|problem|"
        "failure|timeout|tool error|tool failure|event|thing"
    )
)
"""Nouns before which "the last" or "the slowest" means one."""

EACH: Mapping[str, str] = {"sessions": "session", "conversations": "session", "agents": "agent", "tools": "tool"}
"""Nouns that ask which ones there were, or how many."""

WHICH: Mapping[str, str] = {
    **EACH,
    "session": "session",
    "agent": "agent",
    "tool": "tool",
    "day": "day",
    "days": "day",
    "hour": "hour",
    "hours": "hour",
}
"""What may follow "which" and "what" to ask for groups."""

SUPERLATIVES: Mapping[str, str] = {
    "last": "newest", "latest": "newest", "newest": "newest", "most recent": "newest",
    "first": "oldest", "earliest": "oldest", "oldest": "oldest",
    "slowest": "slowest", "longest": "slowest", "longest running": "slowest",
    "fastest": "fastest", "shortest": "fastest", "quickest": "fastest",
}  # fmt: skip

GROUPS: Mapping[str, str] = {
    **{name: name for name in CHOICES["by"]},
    **{f"{name}s": name for name in CHOICES["by"]},
    "date": "day", "tool name": "tool", "statuses": "status", "outcome": "status", "kind": "type", "event type": "type",
}  # fmt: skip
GROUPING = "per|by|each|for each|for every|in each|on each|grouped by|group by|broken down by|split by|for each of the"

KINDS: Mapping[str, str] = {
    "sessions": "session", "agents": "agent", "tools": "tool",
    "session": "session", "session id": "session", "agent": "agent", "tool": "tool", "run": "run", "run id": "run",
    "source": "source", "label": "label", "status": "status", "type": "type", "trust": "trust",
}  # fmt: skip
"""Words after which a name follows."""

CLOSED = frozenset({"status", "type", "trust"})
"""Kinds whose names are words of ours."""

CALLS = ("calls", "call", "tool calls", "tool call", "executions", "invocations", "tool")
"""What may follow the name of a tool: "exec calls", "the exec tool"."""

TEXT_VERBS = (
    "containing|contains|contain|that contain|mentioning|mentions|mention|mentioned|matching|saying|about|"
    "with the text|with text|with the word|with the words|search for|search|searching for|look for|looking for|"
    "search|grep"
)
"""Phrases after which text follows that is looked for as it stands."""

ASKING = frozenset({"did", "has", "have", "was", "were", "is", "are", "does", "do"})
"""Words that begin "did the backup run"."""

NOT_TALK = "-type:delivery,message"
VERBS: Mapping[str, str] = {
    **dict.fromkeys(bars("run|ran|happen|happened|work|worked|finish|finished|complete|completed|start|started|done|"
                         "executed|go through"), NOT_TALK),
    "sent": "", "made": "", "fail": "status:failed,timed_out", "failed": "status:failed,timed_out",
    "succeed": "status:succeeded", "succeeded": "status:succeeded", "successful": "status:succeeded",
    "called": "type:tool_call", "used": "type:tool_call", "invoked": "type:tool_call",
}  # fmt: skip
"""What may end "did the backup run", and what it adds: that somebody spoke of it is no run of it.

After those of the last line stands the name of a tool.
"""

ENDING = frozenset(bars("work|worked|finish|finished|complete|completed|done|go through"))
"""Of these verbs those that also ask how it ended, which each match tells."""

DETERMINERS = frozenset({"the", "a", "an", "any", "my", "our", "this"})
NEGATORS = (
    "not|didn't|wasn't|weren't|isn't|aren't|hasn't|haven't|doesn't|don't|except|except for|"
    "excluding|other than|but not|apart from|ignoring"
)
JOINERS: Mapping[str, str] = {"and": "and", "or": "or", "and/or": "or", "&": "and", ",": ","}
NAME_PREPOSITIONS = frozenset({"in", "on", "of", "by", "from", "with", "using", "for", "at", "to", "during"})

WEAK = frozenset({"and", "or", "not", "no", "near", "a", "an", "i", "don't"})
"""Words that make no English question by themselves: "AND gate" is a text."""

COMMANDS = frozenset(
    bars("delete|remove|erase|forget|drop|clear|purge|wipe|truncate|update|edit|insert|rename|modify|overwrite")
)
"""Words that ask for a change; questions never change anything."""

UNANSWERED = frozenset(
    bars(
        "between|up|now|why|because|without|nothing|none|nobody|who|whom|whose|where|how|should|would|could|can|will|shall|might|must|if|than|more|less|most|least|"
        "about|me|my|mine|you|your|we|us|our|they|them|their|he|she|his|her|it|its|this|these|those|then|but|so|as|into|"
        "like|not|no|nor|neither|too|very|also|again|always|never|ever|often|sometimes|usually|longer|shorter|after|before|"
        "didn't|wasn't|weren't|isn't|aren't|hasn't|haven't|doesn't|can't|couldn't|won't|please|last|first|next|past|ago"
    )
)
"""Words of English that show a question to be one, whether the grammar has an answer to them or not."""

LANGUAGES: Mapping[str, str] = {
    "German": "gestern|vorgestern|heute|letzte|letzten|letzter|viele|wieviele|warum|wieso|weshalb|zeig|zeige|welche",
    "French": "hier|aujourd'hui|combien|pourquoi|montre|montrez|quels|quelles|affiche",
    "Spanish": "ayer|hoy|cuántos|cuántas|cuantos|cuantas|qué|muestra|muéstrame",
    "Italian": "ieri|oggi|quanti|quante|perché|mostra|mostrami",
    "Portuguese": "ontem|hoje|quantos|quantas|mostre",
    "Dutch": "gisteren|vandaag|hoeveel|waarom|toon|vorige",
    "Polish": "wczoraj|dzisiaj|dziś|ile|dlaczego|pokaż",
    "Russian": "вчера|сегодня|сколько|почему|покажи",
    "Ukrainian": "вчора|сьогодні|скільки|чому|покажи",
    "Turkish": "dün|bugün|kaç|neden|göster",
    "Swedish": "igår|idag|hur|varför|visa|förra",
    "Arabic": "أمس|اليوم|كم|لماذا|أظهر",
    "Hindi": "आज|कितने|क्यों|दिखाओ",
}
"""Words of time and of asking by which a question in another language is known, where more words stand with them."""

SCRIPTS: Mapping[str, str] = {
    "Chinese": "昨天|今天|上周|本周|前天|多少|什么|哪些|显示",
    "Japanese": "昨日|今日|先週|今週|いくつ|なぜ|何が|見せて|ください",
    "Korean": "어제|오늘|지난주|얼마나|보여",
}
"""The same for what is written without spaces between words, or with endings: within a longer text."""


PEOPLE: Mapping[str, str] = {
    "actor:user": "me|us|user|users|the user|my user|the owner|the human",
    "actor:agent": "you|the agent|the assistant|the bot",
}
"""Who is meant after "from", "by" and "of"."""

EFFECTS: Mapping[str, str] = {
    **dict.fromkeys((*bars(FILLER), *bars(OPENING), *bars(CLOSING)), ""),
    **dict.fromkeys(bars(EVERYTHING), "*"),
    **{phrase: meaning for meaning, table in MEANINGS.items() for phrase in bars(table)},
    **{f"{by} {who}": actor for actor, table in PEOPLE.items() for who in bars(table) for by in ("from", "by", "of")},
}
"""Every phrase that stands for itself, with what it means: "" for nothing, "*" for anything."""
