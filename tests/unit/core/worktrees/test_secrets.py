"""Which contents look like a secret, and which only mention one."""

from __future__ import annotations

import pytest

from lineclear.core.worktrees.secrets import looks_secret

KEY = "-----BEGIN {}PRIVATE KEY-----"
SECRETS = {
    "openssh": KEY.format("OPENSSH ") + "\nb3BlbnNzaC1rZXk\n",
    "rsa with Windows line ends": "Bag\r\n" + KEY.format("RSA ") + "\r\nMIIE\r\n",
    "pgp": "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ\n",
    "aws": "aws_access_key_id = AKIA" + "Q" * 16,
    "github": "token: ghp_" + "a1B2" * 9,
    "github, fine-grained": "github_pat_" + "a1_B" * 16,
    "gitlab": 'x = "glpat-' + "aB3-" * 5 + '"',
    "slack": "xoxb-" + "1234-" * 6,
    "anthropic": "ANTHROPIC_API_KEY=sk-ant-" + "api03-" + "x" * 40,
    "stripe": "sk_live_" + "a1" * 12,
    "google": "AIza" + "a" * 35,
    "npm": "//host/:_authToken=npm_" + "z" * 36,
    "ours": "lc_0123456789_" + "k" * 43,
}
HARMLESS = {
    "a program that looks for keys": 'if "' + KEY.format("") + '" in text:',
    "a public key": "-----BEGIN PUBLIC KEY-----\nMIIB\n",
    "the key of AWS's documentation": "AKIAIOSFODNN7EXAMPLE",
    "a short prefix": "ghp_short, sk-ant-, xoxb-1, sk-learn, npm_config_registry, AKIA",
    "a test key": "sk_test_" + "a1" * 12,
    "an ordinary text": "nothing to hide here\n",
}


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS.keys())
def test_a_key_or_token_is_found(text: str) -> None:
    assert looks_secret(text.encode())


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_only_looks_similar_is_not(text: str) -> None:
    assert not looks_secret(text.encode())
