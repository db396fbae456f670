"""Two ranges exclude each other only if no version fits both; in doubt they do not."""

from __future__ import annotations

import pytest

from lineclear.core.radar.ranges import exclude_each_other

EXCLUDE = [
    ("npm", "^1.0.0", "^2.0.0"),
    ("npm", "^1", "^2"),
    ("npm", "^0.2.0", "^0.3.0"),
    ("npm", "^0.0.3", "^0.0.4"),
    ("npm", "~1.2.3", "~1.3.0"),
    ("npm", "1.x", "2.x"),
    ("npm", "1.2", "1.3.0"),
    ("npm", "1.2.3", "1.2.4"),
    ("npm", "1.0.0 - 1.9", ">=2"),
    ("npm", ">1.2", "1.2.9"),
    ("npm", "^1.0.0 || ^2.0.0", "^3.0.0"),
    ("npm", "^1.8.0", "^2.0.0-beta.1"),
    ("npm", "2.0.0-beta.1", "2.0.0-beta.2"),
    ("npm", "<2.0.0", ">=2.0.0-rc.1"),
    ("npm", "v1.2.3", "^2"),
    ("pypi", "~=2.1", "<2.1"),
    ("pypi", "==1.*", ">=2"),
    ("pypi", "==1.4", "==1.5"),
    ("pypi", ">=2,<3", ">=3.0"),
    ("pypi", "!=2.0", "==2.0.0"),
    ("pypi", "==2.*", "!=2.*"),
    ("pypi", "<2.0", ">=2.0rc1"),
    ("pypi", "==2.0rc1", "==2.0"),
    ("pypi", "==2.0.post1", "==2.0"),
    ("pypi", "[fast]>=2", "<2"),
    ("pypi", "(>=2)", "<2"),
    ("pypi", '>=2; python_version < "3.9"', "<2"),
    ("pypi", '>=2; python_version < "3.9"', "<2 ; python_version<'3.9'"),
    ("pypi", "^2.28", "^3.0"),
    ("cargo", "1", "2"),
    ("cargo", "0.4", "0.5.1"),
    ("cargo", "=1.2.3", "1.3"),
    ("cargo", ">=1.2, <1.5", "1.6"),
    ("cargo", "1.*", "2.*"),
    ("composer", "^1.0", "^2.0"),
    ("composer", "~1.2.3", "^1.3"),
    ("composer", "1.0.0", "1.0.1"),
    ("composer", ">=1.0 <1.5", "^1.6 || ^2.0"),
    ("gem", "~> 6.1.0", "~> 7.0"),
    ("gem", "~> 7.0, >= 7.0.4", "< 7.0.4"),
    ("gem", "1.2", "1.3"),
    ("nuget", "[1.0,2.0)", "2.0.0"),
    ("nuget", "[1.0]", "[1.1]"),
    ("maven", "2.15.0", "2.17.1"),
    ("maven", "[1.0,2.0)", "2.0"),
    ("maven", "[1.0,2.0),[3.0,4.0)", "[2.0,3.0)"),
    ("maven", "5.6.0.Final", "6.0.0.Final"),
]
SHARE = [
    ("npm", "^1.2.0", "^1.5.0"),
    ("npm", "^1.0.0", "~1.9.0"),
    ("npm", "1.2", "1.2.7"),
    ("npm", ">=1.2", "<=1.2"),
    ("npm", "*", "^9"),
    ("npm", "", "^9"),
    ("npm", "^1 || ^2", "^2.3"),
    ("npm", "^2.0.0-beta.1", "^2.0.0"),
    ("npm", "workspace:*", "^2"),
    ("npm", "latest", "^2"),
    ("npm", "npm:other@^1.0.0", "^2"),
    ("npm", "git+ssh://git@host/a.git#v1", "^2"),
    ("npm", "file:../a", "1.0.0"),
    ("npm", ">2 <1", "^9"),
    ("pypi", "~=2.1", ">=2.5"),
    ("pypi", "~=2.1", "<2.2"),
    ("pypi", ">=1", ""),
    ("pypi", "==1.4", "==1.4.0"),
    ("pypi", "==1.4", "==1.4+cu118"),
    ("pypi", '<2; python_version < "3.9"', '>=2; python_version >= "3.9"'),
    ("pypi", '<2; sys_platform == "win32"', '>=2; sys_platform == "linux"'),
    ("pypi", "@ https://host/a.whl", "==1.0"),
    ("pypi", "~=2.2rc1", "~=2.2"),
    ("cargo", "1.2", "1.9"),
    ("cargo", "1", ">=1.5, <3"),
    ("composer", "~1.2", "^1.9"),
    ("composer", "dev-main", "^2"),
    ("composer", "^1.0 | ^2.0", "^2.0@beta"),
    ("composer", "1.0 - 2.0", "2.0.*"),
    ("gem", "~> 7.0", "~> 7.1.2"),
    ("gem", "< 2.0", ">= 2.0.rc1"),
    ("nuget", "1.0.0", "9.0.0"),
    ("nuget", "[1.0,2.0)", "1.5"),
    ("nuget", "[1.0,2.0)", "2.0.0-beta"),
    ("maven", "2.15", "2.15.0"),
    ("maven", "${jackson.version}", "2.17.1"),
    ("maven", "latest.release", "1.0"),
    ("go", "v1.2.0", "v1.9.0"),
    ("go", "v1.2.0", "v2.0.0+incompatible"),
    ("swift", "1.0", "2.0"),
]


@pytest.mark.parametrize(("ecosystem", "left", "right"), EXCLUDE)
def test_ranges_without_a_common_version_exclude_each_other(ecosystem: str, left: str, right: str) -> None:
    assert exclude_each_other(ecosystem, left, right)
    assert exclude_each_other(ecosystem, right, left)


@pytest.mark.parametrize(("ecosystem", "left", "right"), SHARE)
def test_ranges_that_may_share_a_version_do_not(ecosystem: str, left: str, right: str) -> None:
    assert not exclude_each_other(ecosystem, left, right)
    assert not exclude_each_other(ecosystem, right, left)


@pytest.mark.parametrize(
    "text", ["1.", "^", ">=", "1.2.3.", "\0", "(", "[", "[1", ",,", "9" * 5000, "~=" * 900]
)
@pytest.mark.parametrize("ecosystem", ["npm", "pypi", "cargo", "composer", "gem", "nuget", "maven", "go"])
def test_a_half_typed_range_excludes_nothing(ecosystem: str, text: str) -> None:
    assert not exclude_each_other(ecosystem, text, "77.77")
