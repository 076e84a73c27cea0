"""A service of hosts as docs/host-providers.md describes it: `python reference_service.py FOLDER PORT`.

Its leases are in FOLDER/leases.json, so that it survives a kill. FOLDER/behaviour.json says how it behaves;
each call is a line of FOLDER/calls.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

FOLDER = Path(sys.argv[1])
LOCK = threading.Lock()
OFFER = {
    "name": "small",
    "cpu": 400.0,
    "memory_mb": 8192.0,
    "slots": 4,
    "billing_unit_s": 600.0,
    "unit_cost": 2.0,
    "boot_s": 60.0,
}


def read(name, default):
    path = FOLDER / name
    return json.loads(path.read_text()) if path.exists() else default


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.handle_call()

    do_PUT = do_DELETE = do_GET  # noqa: N815 - names that http.server looks for

    def handle_call(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
        behaviour = read("behaviour.json", {})
        with (FOLDER / "calls").open("a") as calls:
            keys = ("Authorization", "Idempotency-Key")
            calls.write(json.dumps([self.command, self.path, body, *map(self.headers.get, keys)]) + "\n")
        if behaviour.get("hang"):
            time.sleep(3600)
        failures = behaviour.get("failures", 0)
        if failures:
            (FOLDER / "behaviour.json").write_text(json.dumps({**behaviour, "failures": failures - 1}))
            self.answer(behaviour.get("failure", 500), {"error": "the service is\nin trouble"})
        elif "token" in behaviour and self.headers.get("Authorization") != f"Bearer {behaviour['token']}":
            self.answer(401, {"error": "no such token"})
        elif "junk" in behaviour:
            self.answer(200, behaviour["junk"].encode())
        elif "drip" in behaviour:
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            while True:
                self.wfile.write(b" ")
                time.sleep(0.02)
        else:
            with LOCK:  # calls come at once, and each changes one file
                self.serve(body, behaviour)

    def serve(self, body, behaviour):
        leases = read("leases.json", {})
        parts = self.path.strip("/").split("/")
        request = unquote(parts[-1])
        if self.path == "/offers":
            self.answer(200, {"offers": [OFFER]})
        elif self.path == "/leases":
            found = [{**lease, **behaviour.get("lie", {})} for lease in leases.values()]
            self.answer(200, {"leases": [self.shown(lease, behaviour) for lease in found]})
        elif parts[0] != "leases" or len(parts) != 2:
            self.answer(404, {"error": "no such path"})
        elif self.command == "PUT":
            self.put(request, body, leases, behaviour)
        elif request not in leases:
            self.answer(404, {"error": "no such lease"})
        else:
            leases[request]["status"] = "gone"
            self.keep(leases)
            self.answer(200, leases[request])

    def put(self, request, body, leases, behaviour):
        if request not in leases and behaviour.get("full"):
            self.answer(409, {"error": "no host is left"})
            return
        number = len(leases) + 1
        new = {"request_id": request, "lease_id": f"l-{number}", "offer": body["offer"], "status": "booting"}
        leases.setdefault(request, {**new, "host": f"served-{number}"})
        self.keep(leases)
        if behaviour.get("die"):
            os._exit(1)
        self.answer(200, leases[request])

    def shown(self, lease, behaviour):
        booting = lease["status"] == "booting"
        return {**lease, "status": behaviour.get("status", "booting")} if booting else lease

    def keep(self, leases):
        (FOLDER / "leases.new").write_text(json.dumps(leases))
        (FOLDER / "leases.new").replace(FOLDER / "leases.json")

    def answer(self, status, content):
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        if 300 <= status < 400:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(content)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
