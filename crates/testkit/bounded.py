#!/usr/bin/env python3
"""Runs a command on a damaged file and watches what it may not do.

    bounded.py SECONDS FILE COMMAND [ARGS...]

Passes output and status on. Ends with status 137, which compare.py counts as a crash, when the command took more than
SECONDS, or held more memory than 256 MiB plus four times the size of FILE.
"""

import os
import subprocess
import sys
import threading

seconds, file, command = float(sys.argv[1]), sys.argv[2], sys.argv[3:]
most = (256 << 20) + 4 * os.path.getsize(file)

child = subprocess.Popen(command)
late = []
timer = threading.Timer(seconds, lambda: (late.append(True), os.kill(child.pid, 9)))
timer.start()
_, status, usage = os.wait4(child.pid, 0)
timer.cancel()
held = usage.ru_maxrss * 1024
if late:
    sys.exit(print(f"took more than {seconds} s", file=sys.stderr) or 137)
if held > most:
    sys.exit(print(f"held {held >> 20} MiB, may hold {most >> 20}", file=sys.stderr) or 137)
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code if -code in (6, 9, 11) else 137)
