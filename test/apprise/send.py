"""Has Apprise send one message to each target on standard input, whatever its host, to the receiver in the first argument."""

import json
import sys
from urllib.parse import urlsplit

import apprise
import requests.adapters

receiver, title, body = sys.argv[1:]
send = requests.adapters.HTTPAdapter.send
case = ""


def send_to_receiver(self, request, **options):
    """The request as it would go out, with its destination and what it is for in headers of its own."""
    parts = urlsplit(request.url)
    request.headers["x-origin"] = f"{parts.scheme}://{parts.netloc}"
    request.headers["x-case"] = case
    request.url = receiver + request.path_url
    return send(self, request, **options)


requests.adapters.HTTPAdapter.send = send_to_receiver
for case, url in json.load(sys.stdin).items():
    target = apprise.Apprise()
    if not target.add(url):
        print(f"Apprise does not take the target of {case}", file=sys.stderr)
    target.notify(title=title, body=body)
