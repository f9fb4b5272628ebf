"""The files of deploy/ agree with the program: settings, commands, paths, times, names; Kubernetes' schemas hold."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.agent import Agent
from agent.cli.app import app as command_line
from agent.server.app import create_app
from agent.server.start import LAST_WORDS
from agent.settings import Settings, load_settings
from prompts.errors import InputError
from support.machine_parts import parts

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
MARGIN = 10  # seconds for closing files and connections after the last words
UVICORNS = {"FORWARDED_ALLOW_IPS"}
TREE = {"PATH", "PYTHONUNBUFFERED", "OMP_NUM_THREADS"}


def manifests() -> dict[str, dict[str, Any]]:
    return {(m := yaml.safe_load(file.read_text()))["kind"]: m for file in sorted(DEPLOY.glob("kubernetes/*.yaml"))}


def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Iterator[set[str]]:
    """Paths that the server answers."""
    with Agent(home=tmp_path_factory.mktemp("home"), parts=parts()) as agent:
        yield set(create_app(agent).openapi()["paths"])


def interpolated(value: str) -> str:
    """What Compose makes of a value where only the server's name is set."""
    value = re.sub(r"\$\{(\w+):-([^}]*)\}", r"\2", value)
    return re.sub(r"\$\{SERVER_NAME(:\?[^}]*)?\}", "ward.example", value)


@pytest.mark.parametrize("file", sorted(DEPLOY.glob("kubernetes/*.yaml")), ids=lambda file: file.name)
def test_each_manifest_is_what_kubernetes_takes(file: Path) -> None:
    import kubernetes_validate  # it makes grammars when it is imported: a second and more

    kubernetes_validate.validate(yaml.safe_load(file.read_text()), kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("where", ["compose", "kubernetes"])
def test_every_setting_exists_and_its_value_is_taken(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where == "compose":
        given = {n: interpolated(v) for n, v in compose()["services"]["worker-1"]["environment"].items()}
    else:
        given = manifests()["ConfigMap"]["data"]
    ours = {name for name in given if name.startswith("ANAMNESIS_")} - {"ANAMNESIS_SECRETS"}
    assert set(given) - ours - {"ANAMNESIS_SECRETS"} <= UVICORNS
    for name in ours:
        model: Any = Settings
        for part in name.removeprefix("ANAMNESIS_").lower().split("__"):
            assert part in model.model_fields, name
            model = model.model_fields[part].annotation
    (tmp_path / "anamnesis_database").write_text("postgresql://anamnesis:secret@postgres:5432/anamnesis\n")
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ANAMNESIS_SECRETS", str(tmp_path))
    settings = load_settings()
    assert settings.literature.shared_database == "postgresql://anamnesis:secret@postgres:5432/anamnesis"
    assert settings.server.hosts in (["ward.example"], ["anamnesis.example"])


def test_secrets_of_a_folder_are_settings_below_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_SECRETS", str(tmp_path))
    monkeypatch.setenv("ANAMNESIS_TELEMETRY__ENDPOINT", "http://collector:4318")
    monkeypatch.setenv("NCBI_API_KEY", "of-the-environment")
    (tmp_path / "anamnesis_telemetry__headers__authorization").write_text("Bearer of-the-file\n")
    (tmp_path / "ncbi_api_key").write_text("of-the-file")
    settings = load_settings()
    assert settings.telemetry.headers["authorization"].get_secret_value() == "Bearer of-the-file"
    assert settings.telemetry.endpoint == "http://collector:4318"
    assert settings.literature.key == "of-the-environment"
    (tmp_path / "anamnesis_database").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="cannot be read"):
        load_settings()
    monkeypatch.setenv("ANAMNESIS_SECRETS", str(tmp_path / "none"))
    with pytest.raises(InputError, match="no folder"):
        load_settings()


def test_every_command_is_one_of_the_program() -> None:
    import typer

    root: Any = typer.main.get_command(command_line)
    said = json.loads(re.findall(r"^CMD (.*)$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)[-1])
    container = manifests()["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    services = compose()["services"]
    workers = [services[name]["command"] for name in ("setup", "worker-1", "worker-2")]
    for arguments in (said, container["args"], *workers):
        context = root.make_context("anamnesis", list(arguments[:1]), resilient_parsing=True)
        name, command, rest = root.resolve_command(context, list(arguments))
        assert command.make_context(name, list(rest), parent=context).params is not None
    assert "--no-auth" not in json.dumps([said, container["args"], *workers])


def test_probes_ask_what_the_server_answers(paths: set[str]) -> None:
    container = manifests()["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    probes = [container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")]
    assert [p["path"] for p in probes] == ["/health", "/ready", "/health"]
    checked = re.findall(r"127\.0\.0\.1:8000(/\w+)", json.dumps(compose()["services"]["worker-1"]["healthcheck"]))
    assert {p["path"] for p in probes} | set(checked) <= paths
    ports = {p["name"]: p["containerPort"] for p in container["ports"]}
    assert {p["port"] for p in probes} | {manifests()["Service"]["spec"]["ports"][0]["targetPort"]} == set(ports)
    assert str(ports["http"]) == container["args"][container["args"].index("--port") + 1]


def test_a_worker_that_stops_gets_the_time_that_its_turns_get() -> None:
    config, pod = manifests()["ConfigMap"]["data"], manifests()["Deployment"]["spec"]["template"]["spec"]
    grace = int(config["ANAMNESIS_SERVER__GRACE_SECONDS"])
    before = pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod["terminationGracePeriodSeconds"] >= before + grace + LAST_WORDS + MARGIN
    readiness = pod["containers"][0]["readinessProbe"]
    assert before >= readiness["periodSeconds"] * readiness["failureThreshold"]
    for name in ("worker-1", "worker-2"):
        worker = compose()["services"][name]
        grace = int(worker["environment"]["ANAMNESIS_SERVER__GRACE_SECONDS"])
        assert int(worker["stop_grace_period"].removesuffix("s")) >= grace + LAST_WORDS + MARGIN
    waits = int(re.findall(r"proxy_read_timeout (\d+)s", (DEPLOY / "nginx.conf").read_text())[0])
    assert waits > Settings().server.turn_seconds


def test_workers_share_the_rate_among_as_many_as_there_may_be() -> None:
    found = manifests()
    most = found["HorizontalPodAutoscaler"]["spec"]["maxReplicas"]
    most += found["Deployment"]["spec"]["strategy"]["rollingUpdate"]["maxSurge"]
    assert int(found["ConfigMap"]["data"]["ANAMNESIS_LITERATURE__WORKERS"]) >= most
    services = compose()["services"]
    workers = [name for name in services if name.startswith("worker-")]
    assert int(services["worker-1"]["environment"]["ANAMNESIS_LITERATURE__WORKERS"]) >= len(workers)
    upstream = re.findall(r"server (worker-\d):8000 resolve ", (DEPLOY / "nginx.conf").read_text())
    assert sorted(upstream) == sorted(workers), "a worker that is replaced comes back under another address"


def test_names_fit_together() -> None:
    found = manifests()
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    for kind in ("Deployment", "PodDisruptionBudget"):
        assert found[kind]["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert found["Service"]["spec"]["selector"].items() <= labels.items()
    assert found["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"] == found["Deployment"]["metadata"]["name"]
    pod = found["Deployment"]["spec"]["template"]["spec"]
    mounted = {m["name"] for c in (*pod["initContainers"], *pod["containers"]) for m in c["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}
    config = found["ConfigMap"]["data"]
    places = [m["mountPath"] for m in pod["containers"][0]["volumeMounts"]]
    assert config["ANAMNESIS_SECRETS"] in places
    assert str(Path(config["ANAMNESIS_HOME"]).parent) in places
    assert pod["initContainers"][0]["command"][-1] == config["ANAMNESIS_HOME"]
    written = compose()
    for service in written["services"].values():
        assert set(service.get("secrets", [])) <= set(written["secrets"])
        assert set(service.get("networks", [])) <= set(written["networks"])
        assert set(service.get("depends_on", {})) <= set(written["services"])
        volumes = [str(volume).split(":")[0] for volume in service.get("volumes", [])]
        assert all((DEPLOY / v).exists() if v.startswith(".") else v in written["volumes"] for v in volumes)


def test_no_secret_has_a_default_and_no_container_more_rights_than_it_needs() -> None:
    written = compose()
    assert all(secret["file"].startswith("./secrets/") for secret in written["secrets"].values())
    assert "deploy/secrets/" in (ROOT / ".gitignore").read_text().splitlines()
    for service in written["services"].values():
        assert not [n for n in service.get("environment", {}) if "PASSWORD" in n and not n.endswith("_FILE")]
    assert written["networks"]["inside"]["internal"] is True
    assert written["services"]["postgres"]["networks"] == ["inside"]
    assert [n for n, service in written["services"].items() if "ports" in service] == ["balancer"]
    pod = manifests()["Deployment"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    for container in (*pod["initContainers"], *pod["containers"]):
        closed = container["securityContext"]
        assert closed["readOnlyRootFilesystem"] is True
        assert closed["allowPrivilegeEscalation"] is False
        assert closed["capabilities"] == {"drop": ["ALL"]}
    uid = str(pod["securityContext"]["runAsUser"])
    assert f"USER {uid}:{uid}" in (DEPLOY / "Dockerfile").read_text()


def test_the_image_is_made_of_what_is_there() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    locks = re.findall(r"-r ([^\s;]+)", text)
    assert locks
    assert [lock for lock in locks if not (ROOT / lock).is_file()] == []
    copied = [name for line in re.findall(r"^COPY (?!--)(.*) \S+$", text, re.MULTILINE) for name in line.split()]
    kept = {line.removeprefix("!") for line in (DEPLOY / "Dockerfile.dockerignore").read_text().split("\n")}
    assert all((ROOT / name).exists() and name in kept for name in copied)
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert set(needed["only-include"]) <= set(copied)
    settings = re.findall(r"(\w+)=", re.findall(r"^ENV (.*)$", text, re.MULTILINE)[0])
    assert {name for name in settings if not name.startswith("ANAMNESIS_")} <= TREE
