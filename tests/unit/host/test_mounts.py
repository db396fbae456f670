"""Which file system a path is on, from what Linux and macOS say about their mounts."""

from __future__ import annotations

import pytest

from lineclear.host import files

MOUNTINFO = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:40 / /home rw,relatime - nfs4 server:/home rw
24 23 0:41 / /home/me/local rw - tmpfs tmpfs rw
25 22 0:42 / /mnt/a\\040b\\134c rw master:2 propagate_from:1 - fuse.sshfs me@host:/ rw
26 22 0:43 / /srv rw - ext4 /dev/vdb rw
27 22 0:44 / /srv rw - cifs //host/share rw
"""

MOUNT = """\
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
//me@host/Team on /Volumes/Team (work) (smbfs, nodev, nosuid, mounted by me)
map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)
host:/export on /Volumes/nfs (nfs)
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/homer/x", "ext4"),
        ("/home", "nfs4"),
        ("/home/me/x", "nfs4"),
        ("/home/me/local/x", "tmpfs"),
        ("/mnt/a b\\c/x", "fuse.sshfs"),
        ("/srv/x", "cifs"),
    ],
)
def test_on_linux_the_deepest_and_topmost_mount_counts(path: str, kind: str) -> None:
    assert files.type_of_mount(files.parse_mountinfo(MOUNTINFO), path) == kind


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/Users/me", "apfs"), ("/Volumes/Team (work)/x", "smbfs"), ("/Volumes/nfs/x", "nfs")],
)
def test_on_macos_the_mount_command_says_it(path: str, kind: str) -> None:
    assert files.type_of_mount(files.parse_mount_output(MOUNT), path) == kind


def test_nothing_is_known_without_mounts() -> None:
    assert files.type_of_mount(files.parse_mountinfo("\n"), "/x") == ""
    assert files.type_of_mount(files.parse_mount_output("\n"), "/x") == ""


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smbfs", "9p", "lustre", "fuse.sshfs", "fuseblk.sshfs"]
)
def test_a_shared_file_system_is_named(kind: str) -> None:
    assert files.is_network_type(kind)


@pytest.mark.parametrize(
    "kind", ["", "ext4", "xfs", "btrfs", "tmpfs", "overlay", "apfs", "fuse", "fuse.bindfs"]
)
def test_a_local_one_is_not(kind: str) -> None:
    assert not files.is_network_type(kind)
