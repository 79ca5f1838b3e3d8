"""A client that openapi-python-client made from the server's own document, in the folder that this is run in:
python generated.py ADDRESS USER PASSWORD JOB"""

import json
import pathlib
import sys
import time

from berth_client import AuthenticatedClient, Client
from berth_client.api.v1_jobs import get_v1_jobs_name, get_v1_jobs_name_logs, post_v1_jobs
from berth_client.api.v1_token import post_v1_token
from berth_client.api.v2_jobs import get_v2_jobs_key
from berth_client.models import PostV1TokenBody

# Long enough for anything that happens at all.
PATIENCE = 120

address, user, password, job = sys.argv[1:]
job = json.loads(pathlib.Path(job).read_text())
document = json.loads(pathlib.Path("openapi.json").read_text())
operations = {one["operationId"] for path in document["paths"].values() for one in path.values()}
made = list(pathlib.Path("berth_client/api").glob("*/[!_]*.py"))
assert len(made) == len(operations), f"of {len(operations)} operations {len(made)} were understood"


def well(response, status):
    """What an answer says that is as it should be."""
    assert response.status_code == status, (response.status_code, response.content)
    return response.parsed


nobody = Client(base_url=address)
wrong = PostV1TokenBody(username=user, password="not this one")
refused = post_v1_token.sync_detailed(client=nobody, body=wrong)
assert "IncorrectPasswordError" in well(refused, 400).to_dict()["code"], refused
signed_in = well(
    post_v1_token.sync_detailed(client=nobody, body=PostV1TokenBody(username=user, password=password)), 200
)
client = AuthenticatedClient(base_url=address, token=signed_in.token)

submitted = post_v1_jobs.sync_detailed(client=client, body=job)
assert job["jobName"] in well(submitted, 202).message
assert well(post_v1_jobs.sync_detailed(client=client, body=job), 409).message

end = time.monotonic() + PATIENCE
state = None
while state != "SUCCEEDED":
    assert time.monotonic() < end and state not in ("FAILED", "STOPPED"), state
    time.sleep(0.05)
    seen = well(get_v1_jobs_name.sync_detailed(job["jobName"], client=client), 200)
    state = seen.to_dict()["jobStatus"]["state"]
assert seen.job_status.app_exit_code == 0, seen

key = f"{user}~{job['jobName']}"
seen = well(get_v2_jobs_key.sync_detailed(key, client=client), 200)
assert (seen.name, seen.job_status.app_exit_code) == (job["jobName"], 0), seen
[task] = seen.to_dict()["taskRoles"]["main"]["taskStatuses"]
assert (task["containerExitCode"], task["containerNodeName"]) == (0, "n1"), task
log = get_v1_jobs_name_logs.sync_detailed(job["jobName"], client=client)
assert job["taskRoles"][0]["command"] in log.content.decode(), log
print("well")
