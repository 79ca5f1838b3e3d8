"""HdfsCLI against the server: python hdfscli.py ADDRESS TOKEN FOLDER"""

import os
import sys

from hdfs import HdfsError, InsecureClient, TokenClient

address, token, folder = sys.argv[1:]
client = TokenClient(address, token)

with client.write("notes/a 作业.txt", encoding="utf-8") as writer:
    writer.write("one\n")
client.write("notes/a 作业.txt", data="two\n", encoding="utf-8", append=True)
with client.read("notes/a 作业.txt", encoding="utf-8") as reader:
    assert reader.read() == "one\ntwo\n"
with client.read("notes/a 作业.txt", offset=4, length=3) as reader:
    assert reader.read() == b"two"
client.write("notes/a 作业.txt", data=b"three", overwrite=True)
try:
    client.write("notes/a 作业.txt", data=b"four")
    raise AssertionError("a file was replaced")
except HdfsError as error:
    assert error.exception == "FileAlreadyExistsException", error.exception

local = os.path.join(folder, "tree")
for number in range(20):
    os.makedirs(os.path.join(local, f"d{number % 3}"), exist_ok=True)
    with open(os.path.join(local, f"d{number % 3}", f"{number}.bin"), "wb") as file:
        file.write(bytes([number]) * 10_000)
client.upload("copy", local, n_threads=4)
client.upload("copy", local, n_threads=4)
assert sorted(client.list("copy")) == ["d0", "d1", "d2", "tree"]
client.download("copy/d1", os.path.join(folder, "back"), n_threads=2)
with open(os.path.join(folder, "back", "4.bin"), "rb") as file:
    assert file.read() == bytes([4]) * 10_000
assert client.content("copy")["fileCount"] == 40
assert len(list(client.walk("copy"))) == 8

client.makedirs("empty/deep", permission=755)
assert client.status("empty/deep")["type"] == "DIRECTORY"
assert client.status("nothing", strict=False) is None
client.rename("copy/tree", "empty")
assert client.list("empty") == ["deep", "tree"]
client.set_permission("empty", "700")
client.set_times("empty", modification_time=1)
try:
    client.delete("empty")
    raise AssertionError("a full folder was removed")
except HdfsError as error:
    assert "not empty" in error.message, error.message
assert client.delete("empty", recursive=True)
assert not client.delete("empty")
assert client.acl_status("/", strict=False) is None

for attempt in (lambda: client.list("/bob"), lambda: client.write("/bob/x", data=b"x")):
    try:
        attempt()
        raise AssertionError("another user's folder was reached")
    except HdfsError as error:
        assert error.exception == "AccessControlException", error
try:
    InsecureClient(address, user="alice").list("/alice")
    raise AssertionError("a name was enough")
except HdfsError as error:
    assert "Authentication" in error.message, error.message

# Programs that name themselves by nothing else are known by what the library finds in ~/.netrc, also where
# OpenPAI's `opai` looks for WebHDFS.
netrc = os.path.join(folder, "netrc")
with open(netrc, "w") as file:
    file.write(f"machine 127.0.0.1 login alice password {token}\n")
os.environ["NETRC"] = netrc
by_netrc = InsecureClient(f"{address}/webhdfs", user="alice")
by_netrc.write("/alice/by-netrc", data=b"six")
with by_netrc.read("/alice/by-netrc") as reader:
    assert reader.read() == b"six"
assert "by-netrc" in client.list("/alice")
print("well")
