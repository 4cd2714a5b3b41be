"""Reads exported files with the libraries of others and prints what they hold.

Usage: read.py FILE..., by its ending: .vtt and .srt captions, .edl CMX 3600 edit
lists of 25 frames a second. One JSON list a file: [start_ms, end_ms, text] each.
"""

import json
import sys

import pycmx
import webvtt


def milliseconds(clock):
    """00:01:02.345 or 01:02.345 in milliseconds."""
    total = 0.0
    for part in clock.replace(",", ".").split(":"):
        total = total * 60 + float(part)
    return round(total * 1000)


def captions(cues):
    return [[milliseconds(c.start), milliseconds(c.end), c.text] for c in cues]


def frames(timecode):
    hours, minutes, seconds, frame = (int(p) for p in timecode.replace(";", ":").split(":"))
    return (((hours * 60 + minutes) * 60 + seconds) * 25 + frame) * 40


def edits(path):
    with open(path, encoding="utf-8") as file:
        events = pycmx.parse_cmx3600(file).events
    return [[frames(e.source_in), frames(e.source_out), e.clip_name or ""] for event in events for e in event.edits if e.channels.video]


READERS = {"vtt": lambda p: captions(webvtt.read(p)), "srt": lambda p: captions(webvtt.from_srt(p)), "edl": edits}

for name in sys.argv[1:]:
    print(json.dumps(READERS[name.rsplit(".", 1)[-1]](name)))
