"""Drives a busy day through a gateway: what the tests of the plugin and of the memory both judge. No judgement here."""
