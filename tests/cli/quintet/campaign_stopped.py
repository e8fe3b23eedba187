#!/usr/bin/env python3
"""An item that needs long, ends with 75 when asked to, and is done when it goes on: campaign_stopped.py [more]"""
import signal
import sys
import time

with open("words", "a", encoding="utf-8") as stream:
    stream.write(" ".join(sys.argv[1:] or ["begin"]) + "\n")
if sys.argv[1:] == ["more"]:
    sys.exit(0)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(75))
with open("words", "a", encoding="utf-8") as stream:
    stream.write("ready\n")
time.sleep(60)
sys.exit(1)
