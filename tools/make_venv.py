"""Makes a virtual environment with pip, also where Debian's python3-venv (ensurepip) is not installed.

Usage: python3 tools/make_venv.py DIRECTORY

Without ensurepip, pip's own wheel is fetched from PyPI, checked against the published SHA-256 and told to install
itself; nothing outside DIRECTORY is touched and no root is needed. Standard library only.
"""

import hashlib
import importlib.util
import json
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
import venv
from pathlib import Path

INDEX = "https://pypi.org/pypi/pip/json"


def main(directory: Path) -> int:
    if importlib.util.find_spec("ensurepip") is not None:
        try:
            venv.create(directory, with_pip=True)
            return 0
        except subprocess.CalledProcessError:
            pass  # Debian leaves an ensurepip that only says what to install
    venv.create(directory, with_pip=False, clear=True)
    return fetch_pip(directory / "bin" / "python")


def fetch_pip(python: Path) -> int:
    try:
        with urllib.request.urlopen(INDEX, timeout=60) as answer:
            files = json.load(answer)["urls"]
        wheel = next(f for f in files if f["packagetype"] == "bdist_wheel")
        with urllib.request.urlopen(urllib.parse.urljoin(INDEX, wheel["url"]), timeout=180) as answer:
            content = answer.read()
    except OSError as error:
        sys.exit(f"cannot fetch pip from PyPI ({error}); install python3-venv (Debian) and try again")
    if hashlib.sha256(content).hexdigest() != wheel["digests"]["sha256"]:
        sys.exit(f"{wheel['url']}: the content does not match the published SHA-256; nothing was installed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / wheel["filename"]
        path.write_bytes(content)
        # A wheel is a zip file Python can run from.
        return subprocess.call([python, f"{path}/pip", "install", "--quiet", "--no-index", path])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
