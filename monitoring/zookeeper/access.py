"""Who may write readings: a user and a password, and the access list that goes with them.

With credentials every znode is made with a list that lets this user do everything, and other users nothing,
not even read: readings show where hosts are and how they are reached. Without credentials ZooKeeper's own
open list applies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kazoo.security import Permissions, make_digest_acl

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

VARIABLE = "STORMPLACE_ZOOKEEPER_AUTH"
"""Environment variable that holds `user:password` where no file is named."""

_CHANGING = Permissions.WRITE | Permissions.CREATE | Permissions.DELETE | Permissions.ADMIN


@dataclass(frozen=True, slots=True)
class ZookeeperAuth:
    """Credentials of ZooKeeper's scheme `digest`.

    Attributes:
        user: Name of the user, without a colon.
        password: The password; never shown.
    """

    user: str
    password: str = field(repr=False)

    def client_arguments(self) -> dict[str, Any]:
        """Give the arguments with which a client logs in and makes znodes of its own."""
        return {
            "auth_data": [("digest", f"{self.user}:{self.password}")],
            "default_acl": [make_digest_acl(self.user, self.password, all=True)],
        }


def read_auth(file: Path | None, environment: Mapping[str, str]) -> ZookeeperAuth | None:
    """Read credentials from a file, else from the environment; they are never on a command line.

    Args:
        file: Holds one line `user:password`; comes before the environment.
        environment: Variables of the process.

    Returns:
        The credentials, None where neither place has any.

    Raises:
        ValueError: One sentence that names the place, if there is something else.
    """
    if file is not None:
        try:
            return _parse(file.read_text(encoding="utf-8"), f"--zookeeper-auth-file {str(file)!r}")
        except OSError as error:
            raise ValueError(
                f"--zookeeper-auth-file {str(file)!r} cannot be read: {error.strerror or error}"
            ) from error
        except UnicodeDecodeError as error:
            raise ValueError(f"--zookeeper-auth-file {str(file)!r} is not UTF-8 text") from error
    text = environment.get(VARIABLE)
    return None if text is None else _parse(text, VARIABLE)


def _parse(text: str, place: str) -> ZookeeperAuth:
    user, colon, password = text.strip().partition(":")
    if not (user and colon and password) or "\n" in password:
        raise ValueError(f"{place} does not hold one line user:password")
    return ZookeeperAuth(user, password)


def open_to_all(client: Any, path: str, timeout_s: float) -> bool:
    """Say whether every user may change a znode or what is in it, whatever the lists of its children say."""
    acls, _ = client.get_acls_async(path).get(timeout=timeout_s)
    return any(acl.id.scheme == "world" and acl.perms & _CHANGING for acl in acls)
