"""What stands for the script of a component in another process, in what agents publish.

Arguments of commands are not published themselves: any process that a worker starts has some, and they may be
secret.
"""

from __future__ import annotations

from hashlib import sha256

_DIGITS = 16


def script_key(script: str) -> str:
    """Return what stands for a script, 16 hexadecimal digits."""
    return sha256(script.encode(errors="replace")).hexdigest()[:_DIGITS]
