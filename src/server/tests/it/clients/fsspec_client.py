"""fsspec's WebHDFS against the server: python fsspec_client.py HOST PORT TOKEN"""

import sys

import fsspec

host, port, token = sys.argv[1:]
fs = fsspec.filesystem("webhdfs", host=host, port=int(port), token=token)
assert fs.home_directory() == "/alice"
fs.makedirs("/alice/f s")
with fs.open("/alice/f s/large.bin", "wb", block_size=1024 * 1024) as file:
    for number in range(5):
        file.write(bytes([number]) * 1024 * 1024)
assert fs.info("/alice/f s/large.bin")["size"] == 5 * 1024 * 1024
with fs.open("/alice/f s/large.bin", "rb") as file:
    file.seek(2 * 1024 * 1024)
    assert file.read(10) == bytes([2]) * 10
assert fs.cat("/alice/f s/large.bin")[-7:] == bytes([4]) * 7
with fs.open("/alice/f s/text", "w") as file:
    file.write("x")
assert fs.ls("/alice/f s") == ["/alice/f s/large.bin", "/alice/f s/text"]
assert sorted(fs.find("/alice")) == ["/alice/f s/large.bin", "/alice/f s/text"]
assert fs.content_summary("/alice")["fileCount"] == 2
fs.mv("/alice/f s/text", "/alice/moved")
fs.cp_file("/alice/moved", "/alice/copy")
assert fs.cat("/alice/copy") == b"x"
fs.rm("/alice/f s", recursive=True)
assert not fs.exists("/alice/f s")
for error, attempt in (
    (FileNotFoundError, lambda: fs.info("/alice/none")),
    (PermissionError, lambda: fs.ls("/bob")),
    (PermissionError, lambda: fsspec.filesystem("webhdfs", host=host, port=int(port), user="alice").ls("/alice")),
    (ValueError, lambda: fs.info("/.berth")),
):
    try:
        attempt()
        raise AssertionError(f"no {error.__name__}")
    except error:
        pass
print("well")
