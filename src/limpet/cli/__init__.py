"""The command line: parse, ask one service, hand to output. The only place that prints."""
