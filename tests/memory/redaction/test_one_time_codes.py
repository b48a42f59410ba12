"""Numbers that are said to be a code for one login."""

from __future__ import annotations

import pytest

from acemem.memory.redaction.redaction import redact
from tests.secrets_and_lookalikes import joined


@pytest.mark.parametrize(
    "line",
    [
        "code is {}",
        "Your OTP is {}.",
        "OTP: {}",
        '"otp": "{}"',
        "otp={}",
        "--otp {}",
        "2FA code {}",
        "2FA: {}",
        "MFA token {}",
        "my one-time password is {}",
        "verification code: {}",
        "The verification code for the bank is {}",
        "{} is your login code",
        "Enter {} as the verification code",
        "the code {} was sent to my phone",
        "my authenticator shows {}",
        "code de vérification est {}",
        "验证码是 {}",
    ],
)
@pytest.mark.parametrize("code", [joined("123", "456"), joined("90", "42", "17"), joined("481", " 516")])
def test_a_one_time_code_is_known_by_what_is_said(line: str, code: str) -> None:
    """In a sentence, a field or an option, in one piece or two; the same number alone stays."""
    assert redact(line.format(code)) == (line.format("[redacted:one-time-code]"), 1)
    assert redact(f"it took {code} steps") == (f"it took {code} steps", 0)


def test_a_list_of_recovery_codes_goes_as_a_whole() -> None:
    """The second is as good as the first."""
    codes = [joined(f"{number}1b2c", "-", "d3e4f") for number in range(1, 9)]
    assert redact(f"The recovery codes: {', '.join(codes)} are safe")[0] == (
        "The recovery codes: [redacted:one-time-code] are safe"
    )
