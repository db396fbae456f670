"""How `setup --check` starts Codex CLI."""

from __future__ import annotations

from lineclear.clients.probe import KEY, Probe

EVENT = "PreToolUse"


def probe(url: str) -> Probe:
    provider = (
        f'model_providers.probe={{name="probe",base_url="{url}/v1",env_key="PROBE_MODEL_KEY",'
        'wire_api="responses"}'
    )
    argv = ["codex", "exec", "--ephemeral", "-c", 'model_provider="probe"', "-c", provider]
    argv += ["-c", 'model="gpt-5.5-codex"', "go"]
    hint = (
        "Codex runs a hook only in a trusted project, and only one whose hash it trusts: see /hooks in Codex"
    )
    return Probe(argv, {"PROBE_MODEL_KEY": KEY}, hint=hint)
