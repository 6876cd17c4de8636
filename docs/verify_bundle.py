#!/usr/bin/env python3
"""Verify a bundle that `limpet export --bundle FOLDER` wrote: with the standard library alone, without Limpet.

    python3 verify_bundle.py FOLDER [NUMBER:HASH ...]

Each NUMBER:HASH is a seal that you have from elsewhere (a daily note's begin mark, `limpet verify`, a backup): the chain
must run through it. Prints every fault and the head; exit status 0 for none, 5 for any, 2 for what is no bundle.

What is checked: each record's leaf is SHA-256 over its nonce, columns and bytes, each preceded by its length; each hash is
SHA-256 over the hash before and the leaf; a record without bytes must be vouched for by a later record of the chain that
says it was forgotten, one with other bytes by one that says it was cleaned; each large text has the hash it is kept under.
"""

import hashlib
import json
import sys
from pathlib import Path

GENESIS = "00" * 32
TEXT_MARK = "\0body:"
COLUMNS = ("no", "id", "source", "stream", "seq", "kind", "arrived_ms")
FIELDS = {*COLUMNS, "content", "nonce", "leaf", "hash"}
BROKEN = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError)


def lines(path):
    """Yield each line of a file as JSON."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def framed(fields):
    """Return byte strings, each preceded by its length."""
    return b"".join(b"%d:%b" % (len(field), field) for field in fields)


def columns(record):
    """Return what a record says of itself, as bytes, in the order in which it is hashed."""
    return [str(record[name]).encode() for name in COLUMNS]


def leaf_of(record):
    """Return the leaf that a record's nonce, columns and bytes give, as hex."""
    fields = [bytes.fromhex(record["nonce"] or ""), *columns(record), record["content"].encode()]
    return hashlib.sha256(framed(fields)).hexdigest()


def digest_of(records):
    """Return the digest of what is left of forgotten records, as the record that forgot them gives it."""
    whole = hashlib.sha256()
    for record in records:
        whole.update(framed([*columns(record), bytes.fromhex(record["leaf"] or ""), bytes.fromhex(record["hash"])]))
    return whole.hexdigest()


def texts_in(value):
    """Yield the hashes of the large texts that a value refers to."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, str) and value.startswith(TEXT_MARK):
        yield value[len(TEXT_MARK) :]


class Bundle:
    """One bundle, read once from its beginning to its end."""

    def __init__(self, folder, seals):
        """Read its manifest; `seals` are (number, hash) to find in the chain."""
        self.folder = folder
        self.manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        if self.manifest.get("format") != "limpet-bundle" or self.manifest.get("version") != 1:
            raise ValueError("this is no bundle that this script knows")
        self.no, self.hash = self.manifest["begins"]["no"], self.manifest["begins"]["hash"]
        self.begins = self.no
        self.seals = dict(seals)
        self.faults = []
        self.count = 0
        self.cut = None
        self.empty, self.cleaned, self.leaves, self.wanted = {}, {}, {}, set()

    def check(self):
        """Follow the chain, then hold everything else against it; return the faults."""
        for record in lines(self.folder / "records.jsonl"):
            self.link(record)
            self.count += 1
        self.vouch()
        self.finish()
        self.texts()
        return self.faults

    def link(self, record):
        """Check one record against the one before it."""
        no = record["no"]
        if no != self.no + 1:
            self.faults.append(f"records {self.no + 1} to {no - 1} are missing, or out of their order")
        if set(record) != FIELDS:
            self.faults.append(f"record {no} has fields that no record has, or lacks some")
        leaf = record["leaf"]
        if record["content"] is None:
            self.empty[no] = record
        elif leaf is None:
            leaf = leaf_of(record)
        else:
            self.cleaned[no] = leaf_of(record)
        if leaf is None:
            self.faults.append(f"record {no} has lost its content")
        elif hashlib.sha256(bytes.fromhex(self.hash + leaf)).hexdigest() != record["hash"]:
            self.faults.append(f"record {no} was changed, or stands in the wrong place")
        self.no, self.hash = no, record["hash"]
        if self.seals.get(no, self.hash) != self.hash:
            self.faults.append(f"record {no} is not the one that the seal was made for")
        self.seals.pop(no, None)
        if record["content"] is not None:
            self.told(record, json.loads(record["content"]))

    def told(self, record, body):
        """Take in what a record says about other records, and which texts it refers to."""
        self.wanted.update(texts_in(body))
        event = body.get("event") if isinstance(body, dict) else None
        if record["kind"] == "limpet_forget":
            self.forgotten(record["no"], event)
        elif record["kind"] == "limpet_redact":
            self.leaves.update({int(no): leaf for no, leaf in event["leaves"].items()})
        elif record["kind"] == "limpet_prune":
            self.cut = (event["no"], event["hash"])

    def forgotten(self, no, event):
        """Check what is left of the records that one record says were forgotten."""
        numbers = [n for first, last in event["records"] for n in range(first, last + 1)]
        if any(n <= self.begins for n in numbers):
            numbers = [n for n in numbers if n > self.begins]
        elif digest_of([self.empty[n] for n in numbers if n in self.empty]) != event["digest"]:
            self.faults.append(f"what is left of the records that record {no} says were forgotten was changed")
        for number in numbers:
            self.empty.pop(number, None)

    def vouch(self):
        """Check that somebody vouches for each record that is empty or has other bytes than it was chained with."""
        for no in sorted(self.empty):
            self.faults.append(f"record {no} is empty, and no record says that it was forgotten")
        for no, leaf in sorted(self.cleaned.items()):
            if self.leaves.get(no) != leaf:
                self.faults.append(f"record {no} has other bytes, and no record says that it was cleaned to these")

    def finish(self):
        """Check both ends, the count, and that no seal lies beyond."""
        begins, head = self.manifest["begins"], self.manifest["head"]
        if (begins["no"], begins["hash"]) != (self.cut or (0, GENESIS)):
            self.faults.append("no record says that the ledger was cut off where it begins")
        if (head["no"], head["hash"]) != (self.no, self.hash):
            self.faults.append(f"the ledger ends at record {self.no}, but the manifest at record {head['no']}")
        if self.count != self.manifest["records"]:
            self.faults.append(f"there are {self.count} records, and the manifest counts {self.manifest['records']}")
        for no in sorted(self.seals):
            if no > self.no:
                self.faults.append(f"the ledger ends at record {self.no}, before record {no} that there is a seal of")

    def texts(self):
        """Check each large text, and that none is missing or of no record."""
        for line in lines(self.folder / "texts.jsonl"):
            if hashlib.sha256(line["text"].encode()).hexdigest() != line["sha256"]:
                self.faults.append(f"text {line['sha256'][:16]} was changed")
            if line["sha256"] not in self.wanted or len(line) != 2:
                self.faults.append(f"text {line['sha256'][:16]} is referred to by no record")
            self.wanted.discard(line["sha256"])
        self.faults += [f"text {name[:16]} is missing" for name in sorted(self.wanted)]


def main(arguments):
    """Verify the bundle that the arguments name; return the exit status."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if arguments else 2
    try:
        seals = [(int(no), digest.lower()) for no, _, digest in (one.partition(":") for one in arguments[1:])]
        bundle = Bundle(Path(arguments[0]), seals)
    except BROKEN as error:
        print(f"not a bundle that can be read: {error!r}", file=sys.stderr)
        return 2
    try:
        faults = bundle.check()
    except BROKEN as error:
        faults = [*bundle.faults, f"after record {bundle.no} it cannot be read any more: {error!r}"]
    for fault in faults:
        print(fault)
    said = ", ".join(
        f"{n} {noun}{'' if n == 1 else 's'}" for n, noun in ((bundle.count, "record"), (len(faults), "fault"))
    )
    print(f"{said}; head {bundle.no}:{bundle.hash}")
    return 5 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
