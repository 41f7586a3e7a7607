"""The files of deploy/ match the service: processes, stop times, metrics, settings and runbook chapters."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any, get_type_hints

import yaml

import settings
from domain import jobs
from tests.support import trees
from workers.procfile.supervisor import parse

_DEPLOY = trees.ROOT / "deploy"
_PROCFILE = parse((trees.ROOT / "Procfile").read_text())
_SMALL_PROCFILE = parse((trees.ROOT / "Procfile.small").read_text())
_ALERTS = [rule for group in yaml.safe_load((_DEPLOY / "monitoring/alerts.yaml").read_text())["groups"]
           for rule in group["rules"]]  # fmt: skip
_COMPOSE = yaml.safe_load((_DEPLOY / "compose/compose.yaml").read_text())["services"]
_OTHER_SERVICES = {"postgres", "valkey", "migrate", "follow"}
#: Variables of PostgreSQL's image and client, of pip, of deploy/manage, and of Python and its tools.
_FOREIGN_VARIABLES = {
    "COMPOSE_PROFILES",
    "FINDERFEE_BACKUP_IMAGE",
    "FINDERFEE_IMAGE",
    "FLASK_APP",
    "ON_ERROR_STOP",
    "PATH",
    "PIP_INDEX_URL",
    "POSTGRES_DB",
    "POSTGRES_PASSWORD",
    "POSTGRES_USER",
    "PROMETHEUS_MULTIPROC_DIR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "SERVICE_PASSWORD",
    "SETTINGS_FILE",
}


def _read_documents(path: str) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all((_DEPLOY / path).read_text()) if document]


def _list_files() -> list[Path]:
    return [path for path in _DEPLOY.rglob("*") if path.is_file() and not path.name.endswith(".env")]


def _max_stop_s() -> float:
    """Return the seconds that the slowest process may take to stop, by its own options."""
    fleets = [int(ms) / 1000 for ms in re.findall(r"--worker-shutdown-timeout (\d+)", " ".join(_PROCFILE.values()))]
    web = re.search(r"^graceful_timeout = (\d+)", (trees.ROOT / "gunicorn.conf.py").read_text(), re.MULTILINE)
    assert len(fleets) == len(jobs.QUEUES)
    return max(*fleets, float(web[1]))


def test_every_yaml_and_json_file_parses():
    documents = [
        list(yaml.safe_load_all(path.read_text())) for path in _list_files() if path.suffix in (".yaml", ".json")
    ]

    assert len(documents) > 8
    assert all(documents)


def test_each_procfile_line_runs_its_command(tmp_path):
    for program in ("gunicorn", "flask", "python"):
        (tmp_path / program).write_text(f'#!/bin/sh\necho {program} "$@"\n')
        (tmp_path / program).chmod(0o755)
    lines = _SMALL_PROCFILE | _PROCFILE
    calls = "\n".join(f'"$0" {name}; "$0" {name}.2' for name in lines)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}

    valid = subprocess.run(["sh", "-c", calls, _DEPLOY / "start"], env=environment, capture_output=True, text=True)
    invalid = subprocess.run([_DEPLOY / "start", "nothing"], env=environment, capture_output=True, text=True)

    commands = [command.replace("'", "") for command in lines.values() for _ in ("one", "another")]
    assert valid.stdout.splitlines() == commands
    assert (invalid.returncode, invalid.stdout) == (64, "")


def test_compose_has_a_service_for_each_procfile_line():
    processes = {name: service for name, service in _COMPOSE.items() if name not in _OTHER_SERVICES}

    for profile, lines in (("full", _PROCFILE), ("small", _SMALL_PROCFILE)):
        started = {
            name: service["command"]
            for name, service in processes.items()
            if profile in service.get("profiles", [profile])
        }
        assert started == {name: [name] for name in lines}, profile
    assert {name for name, service in processes.items() if "healthcheck" not in service} == {"web"}  # the image's own
    assert _COMPOSE["migrate"]["entrypoint"] == ["flask", "db", "migrate"]
    for service in processes.values():
        assert service["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
        assert int(service["stop_grace_period"].removesuffix("s")) > _max_stop_s()


def test_small_set_is_three_processes_that_serve_every_queue():
    fleet = re.fullmatch(r"python -m workers -Q ([a-z ]+) -p 1 .+", _SMALL_PROCFILE["worker"])

    assert len(_SMALL_PROCFILE) == 3
    assert _SMALL_PROCFILE["web"] == _PROCFILE["web"]
    assert _SMALL_PROCFILE["loops"] == "flask loops"
    assert sorted(fleet[1].split()) == sorted(jobs.QUEUES)


def test_systemd_target_wants_each_procfile_line():
    target = (_DEPLOY / "systemd/finderfee.target").read_text()
    unit = (_DEPLOY / "systemd/finderfee@.service").read_text()
    seconds = re.search(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)

    small = (_DEPLOY / "systemd/finderfee-small.target").read_text()

    assert re.findall(r"^Wants=finderfee@(\w+)\.service$", target, re.MULTILINE) == list(_PROCFILE)
    assert re.findall(r"^Wants=finderfee@(\w+)\.service$", small, re.MULTILINE) == list(_SMALL_PROCFILE)
    assert "Conflicts=finderfee.target\n" in small
    assert "ExecStart=/opt/finderfee/deploy/start %i\n" in unit
    assert int(seconds[1]) > _max_stop_s()


def test_kubernetes_has_a_deployment_for_each_procfile_line():
    fleets = _read_documents("kubernetes/base/fleets.yaml")
    (base_process,) = _read_documents("kubernetes/base/process.yaml")
    (probes,) = _read_documents("kubernetes/base/probes.yaml")
    pod = base_process["spec"]["template"]["spec"]
    (web,) = probes["spec"]["template"]["spec"]["containers"]
    pause_s = int(web["lifecycle"]["preStop"]["exec"]["command"][1])

    deployments = {
        fleet["metadata"]["name"]: (
            fleet["spec"]["template"]["spec"]["containers"],
            fleet["spec"]["selector"]["matchLabels"],
            fleet["spec"]["template"]["metadata"]["labels"],
        )
        for fleet in fleets
    }
    assert deployments == {
        name: ([{"name": "finderfee", "args": [name]}], {"process": name}, {"process": name}) for name in _PROCFILE
    }
    assert pod["terminationGracePeriodSeconds"] > _max_stop_s() + pause_s
    # Prometheus finds pods by their addresses, and the service answers /metrics at METRICS_HOSTS only.
    pod_address = {"fieldRef": {"fieldPath": "status.podIP"}}
    assert pod["containers"][0]["env"] == [{"name": "METRICS_HOSTS", "valueFrom": pod_address}]
    assert [container["name"] for container in pod["containers"]] == ["finderfee"]


def test_manifest_references_exist():
    budgets = _read_documents("kubernetes/base/disruption.yaml")
    scalers = [
        *_read_documents("kubernetes/autoscaled/fleets.yaml"),
        *_read_documents("kubernetes/autoscaled/web.yaml"),
    ]
    (service,) = _read_documents("kubernetes/base/web.yaml")
    targets = [
        *(budget["spec"]["selector"]["matchLabels"]["process"] for budget in budgets),
        *(scaler["spec"]["scaleTargetRef"]["name"] for scaler in scalers),
        service["spec"]["selector"]["process"],
    ]

    assert len(targets) > 10
    assert set(targets) - set(_PROCFILE) == set()
    for scaler in scalers:  # by its own queue
        for trigger in scaler["spec"].get("triggers", []):
            assert set(re.findall(r'queue="(\w+)"', trigger["metadata"]["query"])) <= {scaler["metadata"]["name"]}


def test_log_receiver_is_single_and_keeps_its_data():
    compose = _COMPOSE["follow"]
    (pod,) = _read_documents("kubernetes/backup/follow.yaml")
    follower, copier = pod["spec"]["template"]["spec"]["containers"]
    unit = (_DEPLOY / "systemd/finderfee-follow.service").read_text()
    nightly = (_DEPLOY / "systemd/finderfee-copy.service").read_text()
    image = (_DEPLOY / "Dockerfile").read_text().partition(" AS backup\n")[2]

    assert 'ENTRYPOINT ["flask", "backup"]' in image
    assert set(re.findall(r"flask backup (\w+)", f"{unit} {nightly} {copier['args'][0]}")) == {
        "follow",
        "make",
        "prune",
    }
    assert compose["command"] == follower["args"] == ["follow", "/backups"]
    assert "ExecStart=/opt/finderfee/.venv/bin/flask backup follow /var/lib/finderfee/backups\n" in unit
    assert compose["profiles"] == ["backup"]  # opt-in: other ways of backup must not fill a disk with it
    assert "backup" not in (_DEPLOY / "systemd/finderfee.target").read_text()
    assert pod["spec"]["replicas"] == 1
    assert compose["env_file"] == ["finderfee.env", "owner.env"]
    secrets = [{"secretRef": {"name": name}} for name in ("finderfee", "finderfee-owner")]
    assert follower["envFrom"] == copier["envFrom"] == secrets
    assert "EnvironmentFile=/etc/finderfee/owner.env\n" in unit
    assert compose["volumes"] == ["backups:/backups"]
    assert pod["spec"]["volumeClaimTemplates"][0]["metadata"]["name"] == "backups"
    assert compose["restart"] == "unless-stopped"
    assert "Restart=always\n" in unit


def _list_declared_metrics() -> set[str]:
    """Return the name of every metric that the code publishes."""
    sources = "\n".join(path.read_text() for path in trees.list_files("adapters", "api", "workers"))
    declarations = re.findall(r'(Counter|Gauge|Histogram|GaugeMetricFamily)\(\s*"(finderfee_\w+)"', sources)
    parts = {"Histogram": ("_bucket", "_count", "_sum")}
    return {f"{name}{part}" for kind, name in declarations for part in parts.get(kind, ("",))}


def _list_queries() -> dict[str, str]:
    """Return every Prometheus query of alerts, panels and autoscalers, by its place."""
    board = json.loads((_DEPLOY / "monitoring/grafana.json").read_text())
    panels = {
        f"panel {panel['title']} {target['refId']}": target["expr"]
        for panel in board["panels"]
        for target in panel["targets"]
    }
    scalers = {
        f"fleet {scaler['metadata']['name']}": scaler["spec"]["triggers"][0]["metadata"]["query"]
        for scaler in _read_documents("kubernetes/autoscaled/fleets.yaml")
    }
    return {f"alert {rule['alert']}": rule["expr"] for rule in _ALERTS} | panels | scalers


def test_every_queried_metric_is_published():
    queries = _list_queries()
    without_labels = {place: re.sub('"[^"]*"', "", query) for place, query in queries.items()}
    metrics = {
        (place, name) for place, query in without_labels.items() for name in re.findall(r"\bfinderfee_\w+", query)
    }

    assert len(queries) > 50
    assert [(place, name) for place, name in metrics if name not in _list_declared_metrics()] == []


def test_every_queried_queue_exists():
    queried = {
        queue
        for query in _list_queries().values()
        for queues in re.findall(r'queue[=!]~?"([\w|]+)"', query)
        for queue in queues.split("|")
    }

    assert queried
    assert queried - set(jobs.QUEUES) == set()


def test_every_queried_backlog_is_counted(app):
    page = app.test_client().get("/metrics").get_data(as_text=True)
    counted = set(re.findall(r'finderfee_waiting\{what="(\w+)"\}', page))
    queried = {
        backlog
        for query in _list_queries().values()
        for backlog in re.findall(r'finderfee_waiting\{what="(\w+)"', query)
    }

    assert queried
    assert queried - counted == set()


def test_every_alert_has_a_unique_name_severity_and_runbook_chapter():
    titles = re.findall(r"^## (.+)$", (trees.ROOT / "docs" / "runbook.md").read_text(), re.MULTILINE)
    chapters = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    wrong = [
        rule["alert"]
        for rule in _ALERTS
        if rule["labels"]["severity"] not in ("critical", "warning")
        or rule["annotations"]["runbook"].partition("#")[2] not in chapters
        or not rule["annotations"]["runbook"].startswith("docs/runbook.md#")
    ]

    assert len({rule["alert"] for rule in _ALERTS}) == len(_ALERTS)
    assert wrong == []


def test_every_variable_is_a_setting():
    setting_names = {
        line.name for concern in get_type_hints(settings.Settings).values() for line in concern.variables()
    }
    variables = {
        (path.name, name)
        for path in _list_files()
        for name in re.findall(
            r"(?:^|[\s=\"{$])([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?==|:|\}|\")", path.read_text(), re.MULTILINE
        )
    }

    assert len(variables) > 15
    assert [(file, name) for file, name in variables if name not in setting_names | _FOREIGN_VARIABLES] == []


def test_no_download_location_is_named():
    images = [
        *re.findall(
            r"(?:image: |^FROM |^ARG BASE=)(\S+)", "\n".join(path.read_text() for path in _list_files()), re.MULTILINE
        )
    ]

    assert len(images) > 4
    assert [image for image in images if "." in image.split("/")[0].split(":")[0]] == []  # a host's name has a dot
