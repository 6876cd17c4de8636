"""From records to facts and from facts to events. Its parts are imported by name: a question needs few of them."""
