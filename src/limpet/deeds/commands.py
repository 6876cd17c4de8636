"""Which program a command line runs: what a person would call it. Pure; not a shell, and nothing is ever run."""

from __future__ import annotations

import re
import shlex

SEPARATORS = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
PREPARING = frozenset(
    {"cd", "export", "set", "source", ".", "pushd", "popd", "umask", "unset", "true", ":", "echo", "sleep"}
)
"""What only prepares the command that is meant."""

WRAPPING = frozenset(
    {"sudo", "doas", "env", "time", "nohup", "nice", "ionice", "exec", "command", "setsid", "stdbuf", "xvfb-run"}
)
LIMITING = frozenset({"timeout", "gtimeout"})
SHELLS = frozenset({"bash", "sh", "zsh", "dash", "fish", "ksh"})
INTERPRETERS = frozenset(
    {
        "python",
        "python2",
        "python3",
        "node",
        "ruby",
        "perl",
        "php",
        "deno",
        "bun",
        "tsx",
        "ts-node",
        "Rscript",
        "npx",
        "bunx",
        "pnpx",
        "uvx",
        "pipx",
    }
)
RUNNING = frozenset(
    {("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("deno", "run"), ("bundle", "exec"), ("npm", "exec")}
)
"""What starts another program, which is then the one that is meant."""

BRANCHING = frozenset(
    {
        "git", "gh", "glab", "make", "just", "task", "rake", "npm", "pnpm", "yarn", "docker", "podman",
        "docker-compose", "kubectl", "helm", "cargo", "go", "pip", "pip3", "uv", "poetry", "apt", "apt-get", "brew",
        "dnf", "systemctl", "service", "terraform", "ansible-playbook", "openclaw", "limpet", "aws", "gcloud", "az",
        "flyctl", "heroku", "restic", "borg", "crontab", "launchctl", "gradle", "./gradlew", "mvn", "dotnet", "mix",
        "bundle", "ssh", "blog", "tmux", "journalctl", "supabase", "vercel", "wrangler", "alembic", "manage.py",
        "rails",
    }
)  # fmt: skip
"""Programs of many uses: the next word says which one it was."""

FURTHER = frozenset(
    {
        ("npm", "run"),
        ("pnpm", "run"),
        ("yarn", "run"),
        ("docker", "compose"),
        ("gh", "pr"),
        ("gh", "run"),
        ("gh", "issue"),
        ("kubectl", "get"),
        ("systemctl", "--user"),
        ("openclaw", "cron"),
        ("aws", "s3"),
    }
)
VALUED = frozenset(
    {"-C", "-f", "--file", "--prefix", "-n", "--namespace", "--context", "-p", "--project", "-u", "--user"}
)
"""Options that are followed by their value, which is no use of the program."""

FETCHING = frozenset({"curl", "wget", "http", "https", "xh"})
ADDRESS = re.compile(r"https?://[^\s'\"?#]+", re.IGNORECASE)
DEEPEST = 4


def program_of(command: str, depth: int = 0) -> str:
    """Return the program, with its script, its use or its address: `make deploy`, `backup.sh`, `curl https://...`.

    Never empty for a command that has any word; where the command cannot be taken apart, its first word.
    """
    parts = [part for part in SEPARATORS.split(command.strip()) if part.strip()]
    named = [found for part in parts if (found := _of_part(part, depth))]
    telling = [name for name in named if name.split(" ", 1)[0] not in PREPARING]
    return (telling or named or [""])[0]


def _of_part(part: str, depth: int) -> str:
    words = _words(part)
    while words:
        head = _base(words[0])
        if ASSIGNMENT.fullmatch(words[0]) or (head in WRAPPING and len(words) > 1):
            words = words[1:]
            words = _without_options(words) if head in WRAPPING else words
        elif head in LIMITING and len(words) > 2:
            words = _without_options(words[1:])[1:]
        elif tuple(words[:2]) in RUNNING and len(words) > 2:
            words = _without_options(words[2:])
        else:
            return _named(head, words, part, depth)
    return ""


def _named(head: str, words: list[str], part: str, depth: int) -> str:
    if head in SHELLS or _plain_version(head) in INTERPRETERS:
        return _started(head, words, depth)
    if head in FETCHING and (address := ADDRESS.search(part)):
        return f"{head} {address[0]}"
    rest = _without_options(words[1:])
    if head not in BRANCHING or not rest:
        return head
    further = rest[1:2] if (head, rest[0]) in FURTHER else []
    return " ".join((head, rest[0], *further))


def _started(head: str, words: list[str], depth: int) -> str:
    """Return what a shell or an interpreter is given to run."""
    for number, word in enumerate(words[1:], 1):
        following = words[number + 1] if number + 1 < len(words) else ""
        if head in SHELLS and re.fullmatch(r"-[a-z]*c", word):
            return (program_of(following, depth + 1) if depth < DEEPEST else "") or head
        if word == "-m" and following:
            return following
        if word in ("-c", "-e", "--eval", "-"):
            return f"{head} {word}"
        if not word.startswith("-"):
            return _base(word)
    return head


def _words(part: str) -> list[str]:
    part = part.split(" | ", 1)[0].strip("(){} \t")
    try:
        return shlex.split(part)
    except ValueError:  # a quotation mark is missing: the command was cut, or means it
        return part.replace('"', " ").replace("'", " ").split()


def _without_options(words: list[str]) -> list[str]:
    before = ""
    for number, word in enumerate(words):
        if not word.startswith("-") and not ASSIGNMENT.fullmatch(word) and before not in VALUED:
            return words[number:]
        before = word
    return []


def _base(word: str) -> str:
    return word.rstrip("/").rpartition("/")[2] or word


def _plain_version(head: str) -> str:
    return re.sub(r"(?<=python3)\.\d+$", "", head)
