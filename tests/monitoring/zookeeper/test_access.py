"""Rules of credentials for ZooKeeper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from monitoring.zookeeper.access import VARIABLE, ZookeeperAuth, read_auth

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_holds_one_line_and_the_password_may_hold_colons(tmp_path: Path) -> None:
    file = tmp_path / "login"
    file.write_text("user:pass:word\n")
    assert read_auth(file, {}) == ZookeeperAuth("user", "pass:word")


def test_the_environment_counts_where_no_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "login"
    file.write_text("user:of-file")
    environment = {VARIABLE: "user:of-environment"}
    assert read_auth(None, environment) == ZookeeperAuth("user", "of-environment")
    assert read_auth(file, environment) == ZookeeperAuth("user", "of-file")
    assert read_auth(None, {}) is None


@pytest.mark.parametrize("text", ["", "user", "user:", ":password", "a:b\nc:d"])
def test_what_is_no_login_is_refused_by_its_place_and_not_shown(tmp_path: Path, text: str) -> None:
    file = tmp_path / "login"
    file.write_text(text)
    with pytest.raises(
        ValueError, match=r"--zookeeper-auth-file .* does not hold one line user:password"
    ) as caught:
        read_auth(file, {})
    assert "c:d" not in str(caught.value)
    with pytest.raises(ValueError, match=f"{VARIABLE} does not hold"):
        read_auth(None, {VARIABLE: text})


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        read_auth(tmp_path / "none", {})
    (tmp_path / "binary").write_bytes(b"\xff\xfe:x")
    with pytest.raises(ValueError, match="not UTF-8"):
        read_auth(tmp_path / "binary", {})


def test_the_password_is_not_shown() -> None:
    assert "secret" not in repr(ZookeeperAuth("user", "secret"))
