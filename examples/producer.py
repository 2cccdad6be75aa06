"""A producer of events. Usage: python3 examples/producer.py TITLE BOUNTY"""

import hashlib
import hmac
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid
from datetime import datetime, timezone

URL = os.environ.get("RELAY_URL", "http://127.0.0.1:8100")
SECRET = os.environ.get("EM_WEBHOOK_SECRET", "")


def post(body: bytes) -> tuple[int, dict]:
    """Posts an event once. The signature is made over the bytes that are sent."""
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-EM-Timestamp": datetime.now(timezone.utc).isoformat(),
        "X-EM-Signature": f"sha256={signature}",
    }
    request = urllib.request.Request(f"{URL}/hooks/em/events", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def deliver(event: dict) -> dict:
    """Posts an event until there is an answer that will not change. The service accepts an event_id once."""
    body = json.dumps(event).encode()
    pause = 0.5
    while True:
        try:
            status, answer = post(body)
            if status < 300:
                return answer
            if status < 500 and status != 429:
                sys.exit(f"{status}: {answer}")
            print(f"{status}: again in {pause} s", file=sys.stderr)
        except OSError as error:
            print(f"no answer ({error}): again in {pause} s", file=sys.stderr)
        time.sleep(pause)
        pause = min(2 * pause, 60)


if __name__ == "__main__":
    title, bounty = (sys.argv[1:] + ["A task", "5"])[:2]
    answer = deliver(
        {
            "event_id": f"example-{uuid.uuid4()}",  # stays the same when the event is posted again
            "event_type": "task.published",
            "source": "example-producer",
            "payload": {
                "id": uuid.uuid4().hex[:8],
                "title": title,
                "bounty_usdc": float(bounty),
                "network": "base",
                "category": "photography",
            },
        }
    )
    print(answer["status"], answer["target_channels"], answer["formatted_message"])
