"""The alert rules and the board, by Prometheus's own tool."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from payments.embedded.folders import PROJECT
from tests.guides.texts import text_of

FOLDER = PROJECT / "config" / "deploy" / "prometheus"
RULES, BOARD = FOLDER / "alerts.yml", FOLDER / "board.json"
CASES = Path(__file__).parent / "alerts_test.yml"


def promtool(*arguments: str | Path) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("no promtool is installed (Debian: prometheus)")
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def alerts() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def queries_of_board() -> list[str]:
    """Return the queries of all panels."""
    panels = json.loads(BOARD.read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", [])]


@pytest.mark.tools
def test_prometheus_finds_no_fault_in_the_rules_and_the_sample_of_its_configuration() -> None:
    promtool("check", "rules", RULES)
    promtool("check", "config", FOLDER / "prometheus.yml")


@pytest.mark.long
def test_each_alert_fires_by_its_case_and_none_while_all_is_well() -> None:
    promtool("test", "rules", CASES)


def test_each_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    checks = [check for case in yaml.safe_load(CASES.read_text())["tests"] for check in case["alert_rule_test"]]
    for expected in (True, False):
        names = {check["alertname"] for check in checks if bool(check["exp_alerts"]) is expected}
        assert names == {alert["alert"] for alert in alerts()}


def test_each_alert_names_a_section_of_the_guides_and_one_sentence() -> None:
    for alert in alerts():
        summary, section = alert["annotations"]["summary"], alert["annotations"]["runbook"]
        assert re.fullmatch(r"[A-Z][^.]+\.", summary), summary
        guide, anchor = re.findall(r" /docs/guides/([a-z-]+)#([a-z-]+)$", section)[0]
        headings = re.findall(r"^#+ (.+)$", text_of(guide), re.M)
        assert anchor in {heading.lower().replace(" ", "-") for heading in headings}, section


def test_the_guide_to_observability_has_each_alert_and_no_other() -> None:
    assert set(re.findall(r"`(Kaha[A-Za-z]+)`", text_of("observability"))) == {alert["alert"] for alert in alerts()}


def test_compose_publishes_no_port_of_the_metrics_and_prometheus_has_each() -> None:
    services = yaml.safe_load((PROJECT / "config" / "deploy" / "compose.yaml").read_text())["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert services["proxy"]["ports"] == ["443:443", "80:80"]
    addresses = {name: service.get("environment", {}).get("METRICS_ADDRESS") for name, service in services.items()}
    there = [f"{name}:{address.rpartition(':')[2]}" for name, address in addresses.items() if address]
    scraped = yaml.safe_load((FOLDER / "prometheus.yml").read_text())["scrape_configs"][0]
    assert scraped["static_configs"][0]["targets"] == there == ["web:9100", "worker:9101"]


@pytest.mark.tools
def test_each_query_of_the_board_is_a_query_of_prometheus(tmp_path: Path) -> None:
    queries = queries_of_board()
    assert len(queries) > 25
    records = [{"record": f"board:{number}", "expr": query} for number, query in enumerate(queries)]
    (tmp_path / "board.yml").write_text(yaml.safe_dump({"groups": [{"name": "board", "rules": records}]}))
    promtool("check", "rules", tmp_path / "board.yml")


def test_the_panels_of_the_board_have_titles_and_do_not_overlap() -> None:
    panels = json.loads(BOARD.read_text())["panels"]
    places = [panel["gridPos"] for panel in panels]
    cells = [(place["x"] + x, place["y"] + y) for place in places for x in range(place["w"]) for y in range(place["h"])]
    assert len(cells) == len(set(cells))
    assert all(panel["title"] for panel in panels)
