"""The generated Python client makes a task and runs it."""

import sys

from meerkat_client import AuthenticatedClient
from meerkat_client.api.execute import execute_notification
from meerkat_client.api.notifications import create_notification, delete_notification
from meerkat_client.models import ExecuteNotificationBody, NotificationInput

base_url, api_key, page = sys.argv[1:]
client = AuthenticatedClient(base_url=base_url, token=api_key, raise_on_unexpected_status=True)

task = NotificationInput.from_dict(
    {
        "name": "Made by the Python client",
        "url": page,
        "evaluationFunction": "return document.querySelector('h1').textContent === 'Kettles'",
        "schedule": {"type": "manual"},
        "actions": [{"type": "webhook", "config": {"url": page}, "on": ["error"]}],
    }
)
made = create_notification.sync(client=client, body=task)
assert made.success, made
run = execute_notification.sync(
    made.data.id, client=client, body=ExecuteNotificationBody(dry_run=True), wait=30
)
assert run.data.status == "succeeded" and run.data.outcome is True, run
assert run.data.decision.reason == "dry_run", run
gone = delete_notification.sync(made.data.id, client=client)
assert gone.data.deleted, gone
