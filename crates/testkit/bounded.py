#!/usr/bin/env python3
"""Runs a command on a damaged file, and checks its time and its memory.

    bounded.py SECONDS FILE COMMAND [ARGS...]

Passes the output and the status of the command on. Ends with status 137, which compare.py counts as
a crash, if the command ran for more than SECONDS, or used more than 256 MiB plus four times the size
of FILE.
"""

import os
import subprocess
import sys
import threading

seconds, file, command = float(sys.argv[1]), sys.argv[2], sys.argv[3:]
max_bytes = (256 << 20) + 4 * os.path.getsize(file)

child = subprocess.Popen(command)
timed_out = []
timer = threading.Timer(seconds, lambda: (timed_out.append(True), os.kill(child.pid, 9)))
timer.start()
_, status, usage = os.wait4(child.pid, 0)
timer.cancel()
used_bytes = usage.ru_maxrss * 1024
if timed_out:
    sys.exit(print(f"the command ran for more than {seconds} s", file=sys.stderr) or 137)
if used_bytes > max_bytes:
    sys.exit(print(f"the command used {used_bytes >> 20} MiB, more than {max_bytes >> 20} MiB", file=sys.stderr) or 137)
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code if -code in (6, 9, 11) else 137)
